// SPDX-License-Identifier: MIT
// MSI files: header and blocks, compression and checksums.
#include "msi_file.h"

#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>

#include "base/crc32.h"
#include "msi_codec.h"
#include "pi/files.h"

namespace a2n {
namespace {

constexpr char magic[] = "A2N-MSI\n";
constexpr size_t magic_size = 8;
constexpr size_t header_size = 32;  // of the file and of a block
constexpr uint16_t version_major = 1;
constexpr uint16_t version_minor = 1;  // 1: with functions without symbols
constexpr unsigned char word_size = 64;
constexpr unsigned char little_endian = 1;
constexpr unsigned char on_linux = 2;
constexpr uint64_t max_block = uint64_t{1} << 30;  // bytes, uncompressed; also the limit in ELF
constexpr int compression_level = 6;

enum Kind : uint32_t {
  kind_end = 0,
  kind_module = 1,
  kind_kernel = 2,
  kind_kernel_image = 3,
  kind_functions = 4
};

uint32_t checksum(std::string_view bytes) {
  return crc32(0, {reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()});
}

void put(std::string& out, size_t at, uint64_t value, size_t size) {
  for (size_t i = 0; i < size; ++i) out[at + i] = static_cast<char>(value >> (8 * i));
}

uint64_t get(std::string_view bytes, size_t at, size_t size) {
  uint64_t value = 0;
  for (size_t i = size; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

void seal(std::string& header) {
  put(header, 28, checksum(std::string_view(header).substr(0, 28)), 4);
}
bool sealed(std::string_view header) {
  return get(header, 28, 4) == checksum(header.substr(0, 28));
}

pi::Error error(int code, std::string text) {
  return {code, std::move(text)};
}

class Reader {
 public:
  Reader(int fd, const std::string& name) : fd_(fd), name_(name) {}

  pi::Result<MsiContent> read() {
    struct stat status {};
    if (::fstat(fd_, &status) != 0) return error(errno, name_ + ": " + std::strerror(errno));
    size_ = static_cast<uint64_t>(status.st_size);
    if (const pi::Status good = check_header(); !good) return good.error();
    while (read_block()) {
    }
    return std::move(content_);
  }

 private:
  // Reads exactly size bytes; false at the end of the file or on an error.
  bool fetch(uint64_t at, uint64_t size, std::string& out) {
    if (at > size_ || size > size_ - at) return false;
    out.resize(size);
    return pi::read_at(fd_, at, std::as_writable_bytes(std::span(out))).bytes == size;
  }

  pi::Status check_header() {
    std::string header;
    if (!fetch(0, header_size, header) || std::memcmp(header.data(), magic, magic_size) != 0)
      return error(EINVAL, name_ + ": not a file of saved symbols (genmsi writes them)");
    if (const uint64_t version = get(header, 8, 2); version != version_major)
      return error(EINVAL, name_ + ": saved symbols of version " + std::to_string(version) +
                               ", this program knows version " + std::to_string(version_major) +
                               "; write the file anew with this version's genmsi");
    if (header[12] != word_size || header[13] != little_endian || header[14] != on_linux)
      return error(EINVAL, name_ + ": symbols of another kind of system");
    if (!sealed(header)) return error(EINVAL, name_ + ": the file's header is damaged");
    at_ = header_size;
    return {};
  }

  // False after the last block.
  bool read_block() {
    std::string header;
    if (!fetch(at_, header_size, header) || !sealed(header)) {
      damaged("the rest of the file is missing or damaged");
      return false;
    }
    const auto kind = static_cast<uint32_t>(get(header, 0, 4));
    const uint64_t stored = get(header, 8, 8);
    const uint64_t unpacked = get(header, 16, 8);
    if (kind == kind_end) {
      if (unpacked != blocks_ || stored != 0) damaged("the file lacks some of its symbols");
      if (at_ + header_size != size_) damaged("there are bytes after the file's end");
      return false;
    }
    ++blocks_;
    const uint64_t data = at_ + header_size;
    std::string bytes;
    if (!fetch(data, stored, bytes)) {
      damaged("the file is cut off here");
      return false;
    }
    if (checksum(bytes) != get(header, 24, 4))
      damaged("symbols are damaged (wrong checksum)");
    else if (kind > kind_functions)
      content_.damage.push_back(name_ + ": has symbols of a kind this version does not know");
    else
      take(kind, bytes, unpacked);
    if (kind != kind_functions) functions_.clear();
    at_ = data + stored;
    return true;
  }

  void take(uint32_t kind, const std::string& stored, uint64_t unpacked) {
    if (unpacked > max_block || unpacked > max_unpacked - unpacked_) {
      damaged("symbols unpack to too many bytes");
      return;
    }
    if (ZSTD_getFrameContentSize(stored.data(), stored.size()) != unpacked) {
      damaged("symbols do not have the size they should");
      return;
    }
    unpacked_ += unpacked;
    std::string bytes(unpacked, '\0');
    const size_t got = ZSTD_decompress(bytes.data(), bytes.size(), stored.data(), stored.size());
    if (ZSTD_isError(got) || got != unpacked || !decode(kind, bytes))
      damaged("symbols make no sense");
  }

  bool decode(uint32_t kind, const std::string& bytes) {
    SavedSymbols& symbols = content_.symbols;
    if (kind == kind_functions) {
      auto functions = decode_functions(bytes);
      if (functions) functions_ = std::move(*functions);
      return functions.has_value();
    }
    if (kind == kind_kernel) return (symbols.kernel = decode_kernel(bytes)).has_value();
    if (kind == kind_kernel_image)
      return (symbols.kernel_image = decode_kernel_image(bytes)).has_value();
    auto module = decode_module(bytes, std::move(functions_));
    if (!module) return false;
    symbols.modules.push_back(std::move(*module));
    return true;
  }

  void damaged(const std::string& what) {
    content_.damage.push_back(name_ + ": " + what + " (file offset " + std::to_string(at_) + ")");
  }

  const int fd_;
  const std::string& name_;
  uint64_t size_ = 0;
  uint64_t at_ = 0;
  uint64_t blocks_ = 0;
  uint64_t unpacked_ = 0;
  MsiContent content_;
  std::vector<FunctionRange> functions_;  // of the module in the next block
};

}  // namespace

pi::Status MsiWriter::begin() {
  std::string header(header_size, '\0');
  header.replace(0, magic_size, magic, magic_size);
  put(header, 8, version_major, 2);
  put(header, 10, version_minor, 2);
  header[12] = word_size;
  header[13] = little_endian;
  header[14] = on_linux;
  seal(header);
  return write(header);
}

pi::Status MsiWriter::add(const SavedModule& module) {
  if (!module.content->functions.empty())
    if (const pi::Status status = block(kind_functions, encode_functions(module)); !status)
      return status;
  return block(kind_module, encode_module(module));
}
pi::Status MsiWriter::add(const SavedKernel& kernel) {
  return block(kind_kernel, encode_kernel(kernel));
}
pi::Status MsiWriter::add(const KernelSource& image) {
  return block(kind_kernel_image, encode_kernel_image(image));
}

pi::Status MsiWriter::end() {
  return block(kind_end, blocks_, "");
}

pi::Status MsiWriter::block(uint32_t kind, const std::string& bytes) {
  if (bytes.size() > max_block || bytes.size() > max_unpacked - unpacked_)
    return error(EFBIG, name_ +
                            ": too many symbols for one file (more than 4 GiB, or one module "
                            "with more than 1 GiB); save fewer modules");
  unpacked_ += bytes.size();
  std::string stored(ZSTD_compressBound(bytes.size()), '\0');
  const size_t size =
      ZSTD_compress(stored.data(), stored.size(), bytes.data(), bytes.size(), compression_level);
  if (ZSTD_isError(size)) return error(EIO, name_ + ": " + ZSTD_getErrorName(size));
  stored.resize(size);
  ++blocks_;
  return block(kind, bytes.size(), stored);
}

pi::Status MsiWriter::block(uint32_t kind, uint64_t unpacked, const std::string& stored) {
  std::string header(header_size, '\0');
  put(header, 0, kind, 4);
  put(header, 8, stored.size(), 8);
  put(header, 16, unpacked, 8);
  put(header, 24, checksum(stored), 4);
  seal(header);
  const pi::Status status = write(header);
  return status ? write(stored) : status;
}

pi::Status MsiWriter::write(const std::string& bytes) {
  if (const int reason = pi::write_all(fd_, pi::text_bytes(bytes)); reason != 0)
    return error(reason, name_ + ": " + std::strerror(reason));
  return {};
}

pi::Result<MsiContent> read_msi(int fd, const std::string& name) {
  return Reader(fd, name).read();
}

}  // namespace a2n
