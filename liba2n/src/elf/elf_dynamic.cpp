// SPDX-License-Identifier: MIT
// Finds the dynamic symbols of a file without section headers, as the dynamic linker does.
#include "elf_dynamic.h"

#include <gelf.h>

#include <algorithm>
#include <cstring>

namespace a2n {

std::optional<FileRange> file_range(const ElfLayout& layout, uint64_t vaddr) {
  for (const Segment& segment : layout.segments) {
    if (vaddr < segment.vaddr || vaddr - segment.vaddr >= segment.file_size) continue;
    const uint64_t skip = vaddr - segment.vaddr;
    if (segment.offset > UINT64_MAX - skip) continue;
    return FileRange{segment.offset + skip, segment.file_size - skip};
  }
  return std::nullopt;
}

namespace {

constexpr uint64_t max_symbols = uint64_t{1} << 24;
constexpr uint64_t max_names = uint64_t{1} << 30;
constexpr uint64_t max_dynamic = 1 << 20;

// Entries of PT_DYNAMIC: virtual addresses and a size in bytes; 0 for a missing entry.
struct Dynamic {
  uint64_t symbols = 0;
  uint64_t names = 0;
  uint64_t names_size = 0;
  uint64_t hash = 0;
  uint64_t gnu_hash = 0;
};

Elf_Data* chunk(Elf* elf, uint64_t offset, uint64_t size, Elf_Type type) {
  if (offset > INT64_MAX || size == 0) return nullptr;
  return elf_getdata_rawchunk(elf, static_cast<int64_t>(offset), size, type);
}

Dynamic read_dynamic(Elf* elf) {
  Dynamic found;
  size_t count = 0;
  if (elf_getphdrnum(elf, &count) != 0) return found;
  for (size_t i = 0; i < std::min<size_t>(count, 4096); ++i) {
    GElf_Phdr header;
    if (!gelf_getphdr(elf, static_cast<int>(i), &header)) break;
    if (header.p_type != PT_DYNAMIC || header.p_filesz > max_dynamic) continue;
    Elf_Data* data = chunk(elf, header.p_offset, header.p_filesz, ELF_T_DYN);
    GElf_Dyn entry;
    for (int k = 0; data && gelf_getdyn(data, k, &entry) && entry.d_tag != DT_NULL; ++k) {
      if (entry.d_tag == DT_SYMTAB) found.symbols = entry.d_un.d_ptr;
      if (entry.d_tag == DT_STRTAB) found.names = entry.d_un.d_ptr;
      if (entry.d_tag == DT_STRSZ) found.names_size = entry.d_un.d_val;
      if (entry.d_tag == DT_HASH) found.hash = entry.d_un.d_ptr;
      if (entry.d_tag == DT_GNU_HASH) found.gnu_hash = entry.d_un.d_ptr;
    }
    break;
  }
  return found;
}

// The 32-bit words of a hash table, in host byte order (libelf converts them).
class Words {
 public:
  Words(const ElfFile& file, uint64_t vaddr) {
    const auto range = vaddr ? file_range(file.layout(), vaddr) : std::nullopt;
    if (!range) return;
    // A damaged segment size may exceed the file: limit it to the file's end.
    if (range->offset >= file.size()) return;
    const uint64_t bytes = std::min({range->bytes, file.size() - range->offset, max_names});
    data_ = chunk(file.elf(), range->offset, bytes & ~uint64_t{3}, ELF_T_WORD);
  }
  std::optional<uint32_t> get(uint64_t index) const {
    if (!data_ || !data_->d_buf || index >= data_->d_size / 4) return std::nullopt;
    uint32_t word = 0;
    std::memcpy(&word, static_cast<const char*>(data_->d_buf) + 4 * index, 4);
    return word;
  }

 private:
  Elf_Data* data_ = nullptr;
};

// DT_GNU_HASH does not contain the number of symbols: it is one more than the index of the last
// entry in the last bucket's chain.
std::optional<uint64_t> count_by_gnu_hash(const ElfFile& file, uint64_t vaddr) {
  const Words words(file, vaddr);
  const auto buckets = words.get(0);
  const auto first = words.get(1);
  const auto bloom = words.get(2);
  if (!buckets || !first || !bloom) return std::nullopt;
  const uint64_t bucket_at = 4 + uint64_t{*bloom} * (file.layout().is_64 ? 2 : 1);
  uint64_t last = 0;
  for (uint64_t i = 0; i < *buckets; ++i) {
    const auto bucket = words.get(bucket_at + i);
    if (!bucket) return std::nullopt;
    last = std::max<uint64_t>(last, *bucket);
  }
  if (last < *first) return *first;
  const uint64_t chain_at = bucket_at + *buckets;
  for (;; ++last) {
    const auto hash = words.get(chain_at + (last - *first));
    if (!hash) return std::nullopt;
    if (*hash & 1) return last + 1;
  }
}

std::optional<uint64_t> symbol_count(const ElfFile& file, const Dynamic& dynamic) {
  if (const auto chains = Words(file, dynamic.hash).get(1)) return *chains;
  return count_by_gnu_hash(file, dynamic.gnu_hash);
}

}  // namespace

std::optional<DynamicSymbols> find_dynamic_symbols(const ElfFile& file) {
  const Dynamic dynamic = read_dynamic(file.elf());
  const auto symbols = file_range(file.layout(), dynamic.symbols);
  const auto names = file_range(file.layout(), dynamic.names);
  if (!dynamic.symbols || !dynamic.names || !symbols || !names) return std::nullopt;
  const auto count = symbol_count(file, dynamic);
  const uint64_t size = file.layout().is_64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
  if (!count || *count > max_symbols || dynamic.names_size > max_names) return std::nullopt;
  Elf_Data* symbol_data = chunk(file.elf(), symbols->offset, *count * size, ELF_T_SYM);
  Elf_Data* name_data = chunk(file.elf(), names->offset, dynamic.names_size, ELF_T_BYTE);
  if (!symbol_data || !name_data || !symbol_data->d_buf || !name_data->d_buf) return std::nullopt;
  return DynamicSymbols{symbol_data,
                        {static_cast<const char*>(name_data->d_buf), name_data->d_size}};
}

}  // namespace a2n
