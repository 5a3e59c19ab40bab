// SPDX-License-Identifier: MIT
// The kernel's and its modules' symbols as the trace's kallsyms and modules tell them.
#ifndef A2N_KERNEL_SYMBOLS_H
#define A2N_KERNEL_SYMBOLS_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "symbols/symbol_table.h"

namespace a2n {

struct KernelModule {
  std::string name;  // "vmlinux", or as in kallsyms without the brackets
  Range range{0, 0};
};

class KernelSymbols {
 public:
  KernelSymbols() = default;
  // Either text may be empty.
  KernelSymbols(std::string_view kallsyms, std::string_view modules);

  // All there is to it, so that it can be saved and put together again.
  struct Parts {
    std::vector<KernelModule> modules{KernelModule{"vmlinux", {0, 0}}};  // the kernel itself first
    std::vector<uint32_t> by_begin;  // indices of modules that own their range, by its begin
    SymbolTable table;
    std::vector<uint32_t> symbol_module;  // for each symbol of the table
    std::optional<uint64_t> stext;
    bool withheld = false;
  };
  const Parts& parts() const { return parts_; }
  // Nothing when the parts do not fit together.
  static std::optional<KernelSymbols> restore(Parts parts);

  struct Found {
    const KernelModule* module;  // null: the address belongs to nothing known
    const Symbol* symbol;        // may be null
  };
  Found find(uint64_t address) const;
  const char* name(const Symbol& symbol) const { return parts_.table.name(symbol); }
  const SymbolTable& table() const { return parts_.table; }
  const KernelModule& core() const { return parts_.modules.front(); }

  // kallsyms had symbols, all at address 0: the reader of the traced machine was not allowed them.
  bool withheld() const { return parts_.withheld; }
  bool empty() const { return parts_.table.empty(); }
  // Address of the kernel's own symbol _stext.
  std::optional<uint64_t> stext() const { return parts_.stext; }

 private:
  friend class KernelSymbolsBuilder;
  const KernelModule* module_at(uint64_t address) const;

  Parts parts_;
};

}  // namespace a2n

#endif  // A2N_KERNEL_SYMBOLS_H
