// SPDX-License-Identifier: MIT
// MiniDebugInfo: symbols that some distributions keep in stripped files, as an xz-compressed ELF
// file in the section .gnu_debugdata.
#include "minidebuginfo.h"

#include <gelf.h>
#include <lzma.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/budgets.h"
#include "elf_memory.h"

namespace a2n {
namespace {

constexpr size_t max_compressed = size_t{64} << 20;
constexpr uint64_t max_decoder_memory = uint64_t{256} << 20;

class Decoder {
 public:
  Decoder() : ready_(is_good(lzma_stream_decoder(&stream_, max_decoder_memory, 0))) {}
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;
  ~Decoder() { lzma_end(&stream_); }

  std::optional<std::vector<char>> unpack(const uint8_t* bytes, size_t size) {
    if (!ready_) return std::nullopt;
    stream_.next_in = bytes;
    stream_.avail_in = size;
    const size_t limit = budgets::minidebuginfo.of(size);  // stops a decompression bomb
    std::vector<char> out;
    for (lzma_ret status = LZMA_OK; status == LZMA_OK;) {
      const size_t used = out.size();
      if (used >= limit) return std::nullopt;
      out.resize(std::min(limit, std::max<size_t>(used * 2, 1 << 16)));
      stream_.next_out = reinterpret_cast<uint8_t*>(out.data() + used);
      stream_.avail_out = out.size() - used;
      status = lzma_code(&stream_, LZMA_FINISH);
      if (!is_good(status)) return std::nullopt;
      out.resize(out.size() - stream_.avail_out);
      if (status == LZMA_OK && stream_.avail_in == 0 && out.size() == used) return std::nullopt;
    }
    return out;
  }

 private:
  static bool is_good(lzma_ret status) {
    if (status == LZMA_MEM_ERROR) throw std::bad_alloc();
    return status == LZMA_OK || status == LZMA_STREAM_END;
  }

  lzma_stream stream_ = LZMA_STREAM_INIT;
  bool ready_;
};

Elf_Data* compressed_data(Elf* elf) {
  const auto names = section_name_table(elf);
  if (!names) return nullptr;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    if (!gelf_getshdr(section, &header) || header.sh_type != SHT_PROGBITS) continue;
    const char* name = with_memory([&] { return elf_strptr(elf, *names, header.sh_name); });
    if (!name || std::strcmp(name, ".gnu_debugdata") != 0) continue;
    if (header.sh_size > max_compressed) return nullptr;
    Elf_Data* data = with_memory([&] { return elf_rawdata(section, nullptr); });
    return data && data->d_buf ? data : nullptr;
  }
  return nullptr;
}

}  // namespace

std::optional<ElfFile> open_minidebuginfo(const ElfFile& file) {
  const Elf_Data* data = compressed_data(file.elf());
  if (!data) return std::nullopt;
  auto bytes = Decoder().unpack(static_cast<const uint8_t*>(data->d_buf), data->d_size);
  if (!bytes) return std::nullopt;
  auto debug = ElfFile::from_bytes(std::move(*bytes), ".gnu_debugdata");
  if (!debug) return std::nullopt;
  return std::move(*debug);
}

}  // namespace a2n
