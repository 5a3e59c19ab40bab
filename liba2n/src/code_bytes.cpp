// SPDX-License-Identifier: MIT
// Bytes of code out of a mapped file.
#include "code_bytes.h"

#include <algorithm>

#include "elf_file.h"
#include "safe_file.h"

namespace a2n {
namespace {

constexpr uint64_t longest = uint64_t{1} << 24;  // bytes of a function

}  // namespace

std::string read_code(const ModuleSymbols& module, uint64_t vaddr, uint64_t length) {
  // A debug file has no code.
  if (!module.exact_offsets || module.files.empty()) return {};
  const std::string& path = module.files.front();
  const auto file = ElfFile::open(path);
  if (!file || file->layout().build_id != module.build_id) return {};
  for (const Segment& segment : module.segments) {
    if (!segment.executable || vaddr < segment.vaddr) continue;
    const uint64_t at = vaddr - segment.vaddr;
    if (at >= segment.file_size || at > UINT64_MAX - segment.offset) continue;
    const uint64_t size = std::min({length, segment.file_size - at, longest});
    const auto bytes = read_text(path, segment.offset + at, size);
    return bytes ? *bytes : std::string();
  }
  return {};
}

}  // namespace a2n
