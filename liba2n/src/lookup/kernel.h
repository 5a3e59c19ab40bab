// SPDX-License-Identifier: MIT
// Looks up kernel addresses; selects and loads the sources of kernel symbols.
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

  // Call these before the first find().
  void set_kallsyms(TextLocation location);
  void set_modules(TextLocation location);
  void set_image(std::string path);  // preferred to the map
  void set_map(std::string path);    // used if there is no usable image
  void set_image_build_id(std::optional<std::string> build_id) { build_id_ = std::move(build_id); }
  // False: an image or a map is used even if it does not match the traced kernel.
  void set_validate(bool on) { validate_ = on; }
  // Replaces image and map, which are then not read.
  void set_saved_image(KernelSource image);
  // Replaces all other sources.
  void set_saved(SavedKernel kernel);

  struct Found {
    const KernelModule* module = nullptr;  // null: no known module contains the address
    const SymbolTable* table = nullptr;
    const Symbol* symbol = nullptr;
    uint64_t shift = 0;    // the symbol's address is its start plus shift
    bool symbols = false;  // any kernel symbols are available
  };
  Found find(uint64_t address);

  // Copies code of the image at an address of the traced kernel; returns the number of bytes, 0 if
  // there is no image or it has no code at the address.
  size_t read_code(uint64_t address, char* out, size_t room);

  // The symbols that find() uses, to be saved for the same trace.
  SavedKernel saved();
  // The image or the map that was set, to be saved for other traces; nullopt if none was set.
  pi::Result<std::optional<KernelSource>> read_image() const;

  // table: as returned by find(). The module number of each of its symbols; null if all belong to
  // the kernel itself.
  const std::vector<uint32_t>* modules_of(const SymbolTable* table) const;

 private:
  void load();
  void load_image();
  // what: "symbols" or "modules".
  std::string read(const TextLocation& location, const char* what);

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
  std::string code_path_;                            // the image's path if it is used, else ""
  std::shared_ptr<const ModuleSymbols> image_code_;  // its segments; set by the first read_code()
  CodePieces pieces_;
  Notes own_notes_;  // notes about the kernel; saved with its symbols
};

}  // namespace a2n

#endif  // A2N_KERNEL_H
