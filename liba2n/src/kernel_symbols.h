// SPDX-License-Identifier: MIT
// The kernel's and its modules' symbols as the trace's kallsyms and modules tell them.
#ifndef A2N_KERNEL_SYMBOLS_H
#define A2N_KERNEL_SYMBOLS_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "symbol_table.h"

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

  struct Found {
    const KernelModule* module;  // null: the address belongs to nothing known
    const Symbol* symbol;        // may be null
  };
  Found find(uint64_t address) const;
  const char* name(const Symbol& symbol) const { return table_.name(symbol); }
  const SymbolTable& table() const { return table_; }
  const KernelModule& core() const { return modules_.front(); }

  // kallsyms had symbols, all at address 0: the reader of the traced machine was not allowed them.
  bool withheld() const { return withheld_; }
  bool empty() const { return table_.empty(); }
  // Address of the kernel's own symbol _stext.
  std::optional<uint64_t> stext() const { return stext_; }

 private:
  friend class KernelSymbolsBuilder;
  const KernelModule* module_at(uint64_t address) const;

  std::vector<KernelModule> modules_{KernelModule{"vmlinux", {0, 0}}};  // the kernel itself first
  std::vector<uint32_t> by_begin_;  // indices of modules_ that have a range, by its begin
  SymbolTable table_;
  std::vector<uint32_t> symbol_module_;  // for each symbol of the table
  std::optional<uint64_t> stext_;
  bool withheld_ = false;
};

}  // namespace a2n

#endif  // A2N_KERNEL_SYMBOLS_H
