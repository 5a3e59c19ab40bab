// SPDX-License-Identifier: MIT
// Reads any bytes as an ELF file, its debug file and its minidebuginfo, and demangles every symbol.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "amplification.h"
#include "base/budgets.h"
#include "demangle/demangle.h"
#include "dwarf/dwarf_index.h"
#include "elf/elf_file.h"
#include "elf/module_symbols.h"

namespace {

pi::UniqueFd file_of(const uint8_t* data, size_t size) {
  pi::UniqueFd fd(::memfd_create("fuzz", MFD_CLOEXEC));
  if (!fd || ::write(fd.get(), data, size) != static_cast<ssize_t>(size)) std::abort();
  return fd;
}

void look_everywhere(const a2n::ModuleSymbols& module) {
  for (const uint64_t offset : {uint64_t{0}, uint64_t{0x1000}, uint64_t{0x1040}}) {
    const auto bias = module.bias(0x7f0000000000, 0x2000, offset);
    if (!bias) continue;
    for (uint64_t at = 0; at < 0x2000; at += 0x101) {
      const uint64_t vaddr = 0x7f0000000000 + at - *bias;
      module.section(vaddr);
      const a2n::Symbol* symbol = module.symbols.find(vaddr);
      const a2n::FunctionRange* function = module.function(vaddr);
      if (function && !function->contains(vaddr)) std::abort();
      if (symbol && !(symbol->start <= vaddr && vaddr - symbol->start < symbol->size)) std::abort();
    }
  }
  for (size_t i = 0; i < module.symbols.size(); ++i) {
    a2n::demangle(module.symbols.name(module.symbols[i]));
  }
}

// libelf keeps about 300 bytes for each 64-byte header, and the file is read five times. Compressed
// data may unpack up to the budgets.
constexpr fuzz::Allowed allowed{2 * a2n::budgets::minidebuginfo.floor, 256, 1'000'000, 500};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const fuzz::Amplification amplification(size, allowed);
  // Read from a file, then from memory like unpacked data.
  const auto file = a2n::ElfFile::from_fd(file_of(data, size), "fuzz");
  if (file) {
    look_everywhere(a2n::read_module(&*file, nullptr));
    look_everywhere(a2n::read_module(nullptr, &*file));
    look_everywhere(a2n::read_module(&*file, &*file));
  }
  const auto memory = a2n::ElfFile::from_bytes(std::vector<char>(data, data + size), "fuzz");
  if (memory) look_everywhere(a2n::read_module(&*memory, nullptr));
  if (file) static_cast<void>(a2n::read_dwarf(*file));
  return 0;
}
