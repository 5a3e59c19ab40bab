// SPDX-License-Identifier: MIT
// The kernel's half of the addresses: where its symbols are read from, and when.
#ifndef A2N_KERNEL_H
#define A2N_KERNEL_H

#include <cstdint>
#include <optional>
#include <string>

#include "kernel_image.h"
#include "kernel_symbols.h"
#include "notes.h"

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
  void set_image(std::string path);
  void set_image_build_id(std::optional<std::string> build_id) { build_id_ = std::move(build_id); }

  struct Found {
    const KernelModule* module = nullptr;  // null: the address belongs to nothing known
    const SymbolTable* table = nullptr;
    const Symbol* symbol = nullptr;
    uint64_t shift = 0;    // to be added to the symbol's start
    bool symbols = false;  // there are kernel symbols at all
  };
  Found find(uint64_t address);

 private:
  void load();
  std::string read(const TextLocation& location);

  Notes& notes_;
  TextLocation kallsyms_location_;
  TextLocation modules_location_;
  std::string image_path_;
  std::optional<std::string> build_id_;
  bool loaded_ = false;
  KernelSymbols symbols_;
  std::optional<KernelImage> image_;
};

}  // namespace a2n

#endif  // A2N_KERNEL_H
