// SPDX-License-Identifier: MIT
// The calls of the compiler's hooks in libraries that are loaded while the program runs.
//
// A library calls functions of other libraries by addresses in slots, which the loader sets. Those
// of the hooks are found by the library's relocations and written through /proc/thread-self/mem,
// because the loader may have made them read-only.
#include "slots.h"

#include <elf.h>
#include <link.h>

#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "hooks.h"
#include "patch/code.h"

namespace pi::hookit {
namespace {

struct Slot {
  uintptr_t address;
  uintptr_t function;
};

struct Tables {
  const Elf64_Sym* symbols = nullptr;
  const char* names = nullptr;
  std::span<const Elf64_Rela> calls, data;
};

// The loader has made the addresses of the dynamic section absolute.
Tables tables_of(const dl_phdr_info& object) {
  Tables tables;
  const Elf64_Dyn* entry = nullptr;
  for (size_t i = 0; i < object.dlpi_phnum; ++i)
    if (object.dlpi_phdr[i].p_type == PT_DYNAMIC)
      entry = reinterpret_cast<const Elf64_Dyn*>(object.dlpi_addr + object.dlpi_phdr[i].p_vaddr);
  const Elf64_Rela *calls = nullptr, *data = nullptr;
  size_t call_bytes = 0, data_bytes = 0;
  for (; entry && entry->d_tag != DT_NULL; ++entry) {
    const Elf64_Addr value = entry->d_un.d_ptr;
    switch (entry->d_tag) {
      case DT_SYMTAB:
        tables.symbols = reinterpret_cast<const Elf64_Sym*>(value);
        break;
      case DT_STRTAB:
        tables.names = reinterpret_cast<const char*>(value);
        break;
      case DT_JMPREL:
        calls = reinterpret_cast<const Elf64_Rela*>(value);
        break;
      case DT_PLTRELSZ:
        call_bytes = value;
        break;
      case DT_RELA:
        data = reinterpret_cast<const Elf64_Rela*>(value);
        break;
      case DT_RELASZ:
        data_bytes = value;
        break;
      default:
        break;
    }
  }
  if (calls) tables.calls = {calls, call_bytes / sizeof *calls};
  if (data) tables.data = {data, data_bytes / sizeof *data};
  return tables;
}

uintptr_t hook_of(std::string_view name) {
  if (name == "__cyg_profile_func_enter") return reinterpret_cast<uintptr_t>(hookit_on_enter);
  if (name == "__cyg_profile_func_exit") return reinterpret_cast<uintptr_t>(hookit_on_exit);
  return 0;
}

int add_slots(dl_phdr_info* object, size_t, void* list) {
  if (std::string_view(object->dlpi_name).starts_with("linux-vdso")) return 0;
  const Tables tables = tables_of(*object);
  if (!tables.symbols || !tables.names) return 0;
  for (const auto relocations : {tables.calls, tables.data})
    for (const auto& relocation : relocations) {
      const auto kind = ELF64_R_TYPE(relocation.r_info);
      if (kind != R_X86_64_JUMP_SLOT && kind != R_X86_64_GLOB_DAT) continue;
      const auto& symbol = tables.symbols[ELF64_R_SYM(relocation.r_info)];
      if (const uintptr_t hook = hook_of(tables.names + symbol.st_name))
        static_cast<std::vector<Slot>*>(list)->push_back(
            {object->dlpi_addr + relocation.r_offset, hook});
    }
  return 0;
}

}  // namespace

void connect_hooks() {
  std::vector<Slot> slots;
  ::dl_iterate_phdr(add_slots, &slots);
  if (slots.empty()) return;
  const auto writer = CodeWriter::open();
  if (!writer) return;
  for (const auto& slot : slots) {
    uintptr_t now = 0;
    std::memcpy(&now, reinterpret_cast<const void*>(slot.address), sizeof now);
    if (now == slot.function) continue;
    writer->write(slot.address, {reinterpret_cast<const uint8_t*>(&slot.function), sizeof now});
  }
}

}  // namespace pi::hookit
