// SPDX-License-Identifier: MIT
// Finds functions that the compiler has listed in sections __patchable_function_entries.
//
// Sections are known from an object's file only, their contents are in memory, where the addresses
// are relocated. The file may have been replaced meanwhile, so nothing in it is trusted: an entry
// is used if it is the address of NOPs in executable memory of its object, at the beginning of a
// function of the object's unwinding information.
#include "sites.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <unistd.h>
#include <unwind.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>

#include <pi/unique_fd.h>

#include "nops.h"

namespace pi::hookit {
namespace {

constexpr const char* section_name = "__patchable_function_entries";
constexpr size_t max_nops = 256;  // that are searched for a function's first instruction

template <class Value>
bool read_at(int file, uint64_t offset, Value* values, size_t count) {
  const size_t bytes = count * sizeof(Value);
  return offset <= INT64_MAX &&
         ::pread(file, values, bytes, static_cast<off_t>(offset)) == static_cast<ssize_t>(bytes);
}

// The section's place relative to the object's base.
struct Section {
  uint64_t address = 0;
  uint64_t bytes = 0;
};

std::vector<Section> sections_of(const char* path) {
  std::vector<Section> found;
  const UniqueFd file(::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  Elf64_Ehdr head;
  if (file.get() < 0 || !read_at(file.get(), 0, &head, 1) ||
      std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
      head.e_shentsize != sizeof(Elf64_Shdr) || head.e_shstrndx >= head.e_shnum)
    return found;
  std::vector<Elf64_Shdr> sections(head.e_shnum);
  if (!read_at(file.get(), head.e_shoff, sections.data(), sections.size())) return found;
  const uint64_t names = sections[head.e_shstrndx].sh_offset;
  for (const auto& section : sections) {
    if (!(section.sh_flags & SHF_ALLOC) || section.sh_size == 0) continue;
    char name[sizeof "__patchable_function_entries"];
    if (read_at(file.get(), names + section.sh_name, name, sizeof name) &&
        std::memcmp(name, section_name, sizeof name) == 0)
      found.push_back({section.sh_addr, section.sh_size});
  }
  return found;
}

// The loaded memory of an object that contains an address, from there on; empty: none with these
// rights.
std::span<const uint8_t> memory_at(const dl_phdr_info& object, uintptr_t address, uint32_t rights) {
  for (size_t i = 0; i < object.dlpi_phnum; ++i) {
    const auto& segment = object.dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & rights) != rights) continue;
    const uintptr_t from = object.dlpi_addr + segment.p_vaddr;
    if (address >= from && address - from < segment.p_memsz)
      return {reinterpret_cast<const uint8_t*>(address), segment.p_memsz - (address - from)};
  }
  return {};
}

bool is_patched(std::span<const uint8_t> code) {
  const size_t jump = code.size() > 4 && code[0] == 0xf3 ? 4 : 0;
  return code.size() > jump && code[jump] == jump_code;
}

// entry: an address of the compiler's list, that of the first NOP. With
// -fpatchable-function-entry=N,M M of them are before the function.
void add_site(const dl_phdr_info& object, uintptr_t entry, Sites& found) {
  auto code = memory_at(object, entry, PF_R | PF_X);
  code = code.first(std::min(code.size(), max_nops));
  // A function begins at the entry, or after NOPs, and then has an instruction.
  for (size_t at = 0; at < code.size();) {
    const uintptr_t function = entry + at;
    const auto* begin = _Unwind_FindEnclosingFunction(const_cast<uint8_t*>(code.data() + at + 1));
    if (begin == code.data() + at) {
      PatchPlace place;
      if (find_patch_place(code.subspan(at), place))
        found.sites.push_back(
            {function + place.patch, function, place.end - place.patch, place.one_nop});
      else if (!is_patched(code.subspan(at)))
        ++found.unusable;
      return;
    }
    // The compiler's list begins after ENDBR64.
    if (at == 0 && begin && reinterpret_cast<uintptr_t>(begin) + 4 == entry) {
      const auto whole = memory_at(object, entry - 4, PF_R | PF_X);
      PatchPlace place;
      if (find_patch_place(whole.first(std::min(whole.size(), max_nops)), place) &&
          place.patch == 4)
        found.sites.push_back({entry, entry - 4, place.end - place.patch, place.one_nop});
      else if (!is_patched(whole))
        ++found.unusable;
      return;
    }
    const size_t length = nop_length(code.subspan(at));
    if (length == 0) break;
    at += length;
  }
  if (!is_patched(code)) ++found.unusable;
}

int add_object(dl_phdr_info* object, size_t /*size*/, void* sites) {
  const std::string_view name = object->dlpi_name ? object->dlpi_name : "";
  if (name.starts_with("linux-vdso")) return 0;
  for (const auto& section :
       sections_of(name.empty() ? "/proc/thread-self/exe" : object->dlpi_name)) {
    const auto list = memory_at(*object, object->dlpi_addr + section.address, PF_R);
    const size_t bytes = std::min<uint64_t>(section.bytes, list.size());
    for (size_t at = 0; at + sizeof(uintptr_t) <= bytes; at += sizeof(uintptr_t)) {
      uintptr_t entry;
      std::memcpy(&entry, list.data() + at, sizeof entry);
      add_site(*object, entry, *static_cast<Sites*>(sites));
    }
  }
  return 0;
}

}  // namespace

Sites find_sites() {
  Sites found;
  ::dl_iterate_phdr(add_object, &found);
  // An inline function of several files may be listed several times.
  std::sort(found.sites.begin(), found.sites.end(),
            [](const Site& a, const Site& b) { return a.patch < b.patch; });
  found.sites.erase(std::unique(found.sites.begin(), found.sites.end(),
                                [](const Site& a, const Site& b) { return a.patch == b.patch; }),
                    found.sites.end());
  return found;
}

}  // namespace pi::hookit
