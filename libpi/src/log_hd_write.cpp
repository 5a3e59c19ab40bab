// SPDX-License-Identifier: MIT
// Writes log-hd: the facts, then frames of the dump that are compressed one by one, then the end.
#include <pi/log_hd.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "log_hd_facts.h"

namespace pi::log_hd {
namespace {

// As fast as the disk; higher levels make a dump of objects a tenth smaller and take twice the
// time.
constexpr int level = 1;

Error failure(int error) {
  return {error, std::generic_category().message(error)};
}

void put32(std::vector<std::byte>& out, uint64_t value) {
  for (int shift = 0; shift < 32; shift += 8) out.push_back(static_cast<std::byte>(value >> shift));
}

}  // namespace

void Writer::Free::operator()(ZSTD_CCtx_s* context) const {
  ZSTD_freeCCtx(context);
}

Writer::Writer(int fd) : fd_(fd), context_(ZSTD_createCCtx()) {
  frame_.reserve(frame_bytes);
}
Writer::Writer(Writer&&) noexcept = default;
Writer::~Writer() = default;

Result<Writer> Writer::begin(int fd, const Facts& facts) {
  Writer writer(fd);
  if (!writer.context_ ||
      ZSTD_isError(ZSTD_CCtx_setParameter(writer.context_.get(), ZSTD_c_compressionLevel, level)) ||
      ZSTD_isError(ZSTD_CCtx_setParameter(writer.context_.get(), ZSTD_c_checksumFlag, 1)))
    return failure(ENOMEM);
  if (const auto written = writer.put_skippable(head_magic, text_of(facts)); !written)
    return written.error();
  return writer;
}

Result<std::span<const std::byte>> Writer::pack(std::span<const std::byte> bytes) {
  packed_.resize(ZSTD_compressBound(bytes.size()));
  const size_t size =
      ZSTD_compress2(context_.get(), packed_.data(), packed_.size(), bytes.data(), bytes.size());
  if (ZSTD_isError(size)) return Error{ENOMEM, ZSTD_getErrorName(size)};
  return std::span<const std::byte>(packed_).first(size);
}

// A frame that zstd skips; its content is a frame again, which has a checksum.
Status Writer::put_skippable(uint32_t magic, std::string_view text) {
  const auto packed = pack(text_bytes(text));
  if (!packed) return packed.error();
  std::vector<std::byte> out;
  put32(out, magic);
  put32(out, packed->size());
  out.insert(out.end(), packed->begin(), packed->end());
  const int error = write_all(fd_, out);
  return error == 0 ? Status{} : failure(error);
}

Status Writer::put_frame() {
  const auto packed = pack(frame_);
  if (!packed) return packed.error();
  if (const int error = write_all(fd_, *packed); error != 0) return failure(error);
  ++frames_;
  bytes_ += frame_.size();
  frame_.clear();
  return {};
}

Status Writer::add(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const auto part = bytes.first(std::min(bytes.size(), frame_bytes - frame_.size()));
    frame_.insert(frame_.end(), part.begin(), part.end());
    bytes = bytes.subspan(part.size());
    if (frame_.size() < frame_bytes) continue;
    if (auto written = put_frame(); !written) return written;
  }
  return {};
}

Status Writer::finish() {
  if (!frame_.empty())
    if (auto written = put_frame(); !written) return written;
  return put_skippable(end_magic, text_of(End{frames_, bytes_}));
}

Status write(int dump, int fd, const Facts& facts) {
  auto writer = Writer::begin(fd, facts);
  if (!writer) return writer.error();
  std::vector<std::byte> bytes(frame_bytes);
  for (uint64_t position = 0;;) {
    const Transferred got = read_at(dump, position, bytes);
    if (got.error != 0) return failure(got.error);
    if (auto added = writer->add(std::span(bytes).first(got.bytes)); !added) return added;
    position += got.bytes;
    if (got.bytes < bytes.size()) return writer->finish();
  }
}

Status compare(int fd, int dump) {
  auto reader = Reader::open(
      [fd](uint64_t offset, std::span<std::byte> bytes) { return read_at(fd, offset, bytes); }, 0,
      {.floor = UINT64_MAX, .factor = 0});
  if (!reader) return reader.error();
  std::vector<std::byte> original(frame_bytes);
  const auto differs = [] { return Error{EIO, "its content is not that of the dump"}; };
  for (uint64_t position = 0;;) {
    const auto part = reader->next();
    if (!reader->error().empty()) return Error{EIO, reader->error()};
    // One byte more at the end, where there must be none.
    const size_t wanted = std::max<size_t>(part.size(), 1);
    const Transferred got = read_at(dump, position, std::span(original).first(wanted));
    if (got.error != 0) return failure(got.error);
    if (got.bytes != part.size() || !std::equal(part.begin(), part.end(), original.begin()))
      return differs();
    if (part.empty()) return {};
    position += part.size();
  }
}

}  // namespace pi::log_hd
