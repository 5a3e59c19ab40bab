// SPDX-License-Identifier: MIT
// The kernel's half of the addresses: where its symbols are read from, and when.
#ifndef A2N_KERNEL_H
#define A2N_KERNEL_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/notes.h"
#include "elf/code_bytes.h"
#include "kernel/kernel_image.h"
#include "kernel/kernel_symbols.h"
#include "saved/saved_symbols.h"

namespace a2n {

struct TextLocation {
  std::string file;  // empty: none
  uint64_t offset = 0;
  uint64_t size = 0;  // 0: to the end
};

class Kernel {
 public:
  explicit Kernel(Notes& notes) : notes_(notes) {}

  // To be called before the first find().
  void set_kallsyms(TextLocation location);
  void set_modules(TextLocation location);
  void set_image(std::string path);  // tried first
  void set_map(std::string path);    // tried after the image
  void set_image_build_id(std::optional<std::string> build_id) { build_id_ = std::move(build_id); }
  // False: an image or a map is used although it does not fit the traced kernel.
  void set_validate(bool on) { validate_ = on; }
  // Instead of an image or a map, which are not read any more.
  void set_saved_image(KernelSource image);
  // Instead of all the others.
  void set_saved(SavedKernel kernel);

  struct Found {
    const KernelModule* module = nullptr;  // null: the address belongs to nothing known
    const SymbolTable* table = nullptr;
    const Symbol* symbol = nullptr;
    uint64_t shift = 0;    // to be added to the symbol's start
    bool symbols = false;  // there are kernel symbols at all
  };
  Found find(uint64_t address);

  // Copies bytes of the image's code at an address of the traced kernel; how many, 0: there is no
  // image, or no code of it there.
  size_t read_code(uint64_t address, char* out, size_t room);

  // What find() works with, to be saved for the same trace.
  SavedKernel saved();
  // The image or the map that was set, to be saved for other traces; nothing when none was.
  pi::Result<std::optional<KernelSource>> read_image() const;

  // For a symbol of the table that find() gave: the modules its symbols belong to, one number each;
  // null when they are all of one.
  const std::vector<uint32_t>* modules_of(const SymbolTable* table) const;

 private:
  void load();
  void load_image();
  std::string read(const TextLocation& location);

  Notes& notes_;
  TextLocation kallsyms_location_;
  TextLocation modules_location_;
  std::string image_path_;
  std::string map_path_;
  std::optional<KernelSource> saved_image_;
  std::optional<SavedKernel> saved_;
  std::optional<std::string> build_id_;
  bool validate_ = true;
  bool loaded_ = false;
  KernelSymbols symbols_;
  std::optional<KernelImage> image_;
  std::string code_path_;                            // of the image, if it is used
  std::shared_ptr<const ModuleSymbols> image_code_;  // where to read it, once it is wanted
  CodePieces pieces_;
  Notes own_notes_;  // those of the kernel, among the library's
};

}  // namespace a2n

#endif  // A2N_KERNEL_H
