// SPDX-License-Identifier: MIT
// The vDSO: code that the kernel maps into every process. Read from this process.
#include "vdso.h"

#include <elf.h>
#include <sys/auxv.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace a2n {
namespace {

constexpr uint64_t page = 4096;
constexpr uint64_t max_length = 1 << 20;

// The running kernel made the image, so its header is trusted. The image ends with its last segment
// or its section headers.
uint64_t image_length(const char* start) {
  Elf64_Ehdr header;
  std::memcpy(&header, start, sizeof(header));
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return 0;
  if (header.e_ident[EI_CLASS] != ELFCLASS64) return 0;
  uint64_t end = header.e_shoff + uint64_t{header.e_shnum} * header.e_shentsize;
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    std::memcpy(&segment, start + header.e_phoff + i * sizeof(segment), sizeof(segment));
    if (segment.p_type == PT_LOAD) end = std::max(end, segment.p_offset + segment.p_filesz);
  }
  return end;
}

}  // namespace

Vdso read_own_vdso() {
  Vdso vdso;
  const uint64_t address = ::getauxval(AT_SYSINFO_EHDR);
  if (address == 0) return vdso;
  const char* start = reinterpret_cast<const char*>(address);
  const uint64_t length = image_length(start);
  if (length == 0 || length > max_length) return vdso;
  auto file = ElfFile::from_bytes(std::vector<char>(start, start + length), "[vdso]");
  if (!file) return vdso;
  vdso.module = read_module(&*file, nullptr);
  vdso.module.exports_only = false;  // all its functions are exported
  vdso.module.files.clear();         // the name is not a file on disk
  vdso.module.image = std::make_shared<const std::string>(start, length);
  vdso.build_id = file->layout().build_id;
  vdso.length = (length + page - 1) & ~(page - 1);
  return vdso;
}

}  // namespace a2n
