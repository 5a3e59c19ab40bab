// SPDX-License-Identifier: MIT
// Reads bytes of code from a mapped file.
#include "code_bytes.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>

#include "base/budgets.h"
#include "elf_file.h"
#include "pi/files.h"

namespace a2n {
namespace {

constexpr uint64_t max_function_size = uint64_t{1} << 24;  // bytes
constexpr uint64_t piece_bytes = 8 << 10;  // calls are scattered: larger ones take more memory

std::string read_image(const ModuleSymbols& module, uint64_t offset, uint64_t size) {
  const std::string& image = *module.image;
  return offset < image.size() ? image.substr(offset, size) : std::string();
}

std::string read_file(int fd, uint64_t offset, uint64_t size) {
  std::string bytes(size, '\0');
  bytes.resize(pi::read_at(fd, offset, std::as_writable_bytes(std::span(bytes))).bytes);
  return bytes;
}

}  // namespace

std::string read_code(const ModuleSymbols& module, uint64_t vaddr, uint64_t length) {
  // A debug file has no code.
  if (!module.exact_offsets || (module.files.empty() && !module.image)) return {};
  std::optional<ElfFile> file;
  if (!module.image) {
    // Another file may have the path now.
    auto opened = ElfFile::open(module.files.front());
    if (!opened || !(opened->identity() == module.identities.front())) return {};
    file = std::move(*opened);
  }
  for (const Segment& segment : module.segments) {
    if (!segment.executable || vaddr < segment.vaddr) continue;
    const uint64_t at = vaddr - segment.vaddr;
    if (at >= segment.file_size || at > UINT64_MAX - segment.offset) continue;
    const uint64_t size = std::min({length, segment.file_size - at, max_function_size});
    if (module.image) return read_image(module, segment.offset + at, size);
    return read_file(file->fd(), segment.offset + at, size);
  }
  return {};
}

// Overlapping segments have separate pieces, so the cached size is limited.
const std::string& CodePieces::piece(const ModuleSymbols& module, Module& kept, uint64_t start) {
  if (const auto known = kept.pieces.find(start); known != kept.pieces.end()) return known->second;
  std::string bytes = read_code(module, start, (start / piece_bytes + 1) * piece_bytes - start);
  const uint64_t limit =
      budgets::code_pieces.of(module.image ? module.image->size() : module.code_bytes);
  const uint64_t size = bytes.size() + sizeof(Pieces::value_type);
  if (kept.bytes + size > limit) kept = {};
  kept.bytes += size;
  return kept.pieces.emplace(start, std::move(bytes)).first->second;
}

size_t CodePieces::read(const ModuleSymbols& module, uint64_t vaddr, char* out, size_t room) {
  size_t copied = 0;
  while (copied < room) {
    const uint64_t at = vaddr + copied;
    // Pieces begin with a segment's first byte or at multiples of their size.
    uint64_t start = at / piece_bytes * piece_bytes;
    for (const Segment& segment : module.segments)
      if (segment.vaddr <= at && segment.vaddr > start) start = segment.vaddr;
    const std::string& bytes = piece(module, modules_[&module], start);
    if (at - start >= bytes.size()) break;
    const size_t count = std::min<size_t>(room - copied, bytes.size() - (at - start));
    bytes.copy(out + copied, count, at - start);
    copied += count;
  }
  return copied;
}

}  // namespace a2n
