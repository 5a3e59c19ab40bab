// SPDX-License-Identifier: MIT
// Symbols of the kernel and its modules from the trace's kallsyms and modules texts.
#ifndef A2N_KERNEL_SYMBOLS_H
#define A2N_KERNEL_SYMBOLS_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "symbols/symbol_table.h"

namespace a2n {

struct KernelModule {
  std::string name;  // "vmlinux", or the module's name in kallsyms without brackets
  Range range{0, 0};
};

class KernelSymbols {
 public:
  KernelSymbols() = default;
  // Either text may be empty.
  KernelSymbols(std::string_view kallsyms, std::string_view modules);

  // Lines of the texts that could not be read.
  struct Damage {
    size_t lines = 0;
    size_t bytes = 0;
  };
  const Damage& damage() const { return damage_; }

  // The state but for damage(), for saving and restoring.
  struct Parts {
    std::vector<KernelModule> modules{KernelModule{"vmlinux", {0, 0}}};  // the kernel itself first
    std::vector<uint32_t> by_begin;  // modules listed in /proc/modules, sorted by range.begin
    SymbolTable table;
    std::vector<uint32_t> symbol_module;  // module index of each symbol of the table
    std::optional<uint64_t> stext;
    bool withheld = false;
  };
  const Parts& parts() const { return parts_; }
  // Nullopt if the parts are not consistent.
  static std::optional<KernelSymbols> restore(Parts parts);

  struct Found {
    const KernelModule* module;  // null: no known module contains the address
    const Symbol* symbol;        // may be null
  };
  Found find(uint64_t address) const;
  const char* name(const Symbol& symbol) const { return parts_.table.name(symbol); }
  const SymbolTable& table() const { return parts_.table; }
  const KernelModule& core() const { return parts_.modules.front(); }

  // All kallsyms addresses are 0: the recorder had no permission to read them (kptr_restrict).
  bool withheld() const { return parts_.withheld; }
  bool empty() const { return parts_.table.empty(); }
  // The address of the kernel's symbol _stext.
  std::optional<uint64_t> stext() const { return parts_.stext; }

 private:
  friend class KernelSymbolsBuilder;
  const KernelModule* module_at(uint64_t address) const;

  Parts parts_;
  Damage damage_;
};

}  // namespace a2n

#endif  // A2N_KERNEL_SYMBOLS_H
