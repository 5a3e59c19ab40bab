// SPDX-License-Identifier: MIT
// Reads the records of a recording of perf one after the other, and unpacks compressed ones.
#include "perf_stream.h"

#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <pi/budget.h>
#include <pi/files.h>

#include "system/text.h"

namespace pi::perfutil {
namespace {

constexpr size_t max_record = 1 << 16;
constexpr size_t window_bytes = 8 * max_record, small_window_bytes = 2 * max_record;
constexpr size_t max_attached = 64 << 20;
// How far records may be compressed; perf's are by a factor of 3 to 50.
constexpr Budget unpacked_bytes{uint64_t{16} << 20, 1000};

void free_context(ZSTD_DCtx* context) {
  ZSTD_freeDCtx(context);
}

bool is(uint32_t type, PerfUserRecord kind) {
  return type == static_cast<uint32_t>(kind);
}

// 0: there is no whole header.
size_t size_of_record(Bytes bytes) {
  return bytes.size() < header_bytes
             ? 0
             : number_at<uint16_t>(bytes, offsetof(perf_event_header, size));
}

}  // namespace

std::span<std::byte> PerfStream::Window::space() {
  std::memmove(bytes.data(), bytes.data() + begin, end - begin);
  end -= std::exchange(begin, 0);
  return std::span(bytes).subspan(end);
}

PerfStream::PerfStream(int fd, uint64_t begin, uint64_t end, bool one_of_many)
    : fd_(fd),
      window_bytes_(one_of_many ? small_window_bytes : window_bytes),
      at_(begin),
      end_(end),
      zstd_(nullptr, free_context) {
  file_.bytes.resize(window_bytes_);
}

PerfStream::~PerfStream() = default;

bool PerfStream::fail(std::string what) {
  if (damage_.empty()) damage_ = std::move(what);
  return false;
}

// Whether the window has so many bytes, after more of the file was read if necessary.
bool PerfStream::fill(size_t wanted) {
  if (file_.end - file_.begin >= wanted) return true;
  const std::span<std::byte> space = file_.space();
  const auto size = static_cast<size_t>(std::min<uint64_t>(space.size(), end_ - at_));
  const auto got = read_at(fd_, at_, space.first(size));
  if (got.error != 0) return fail("it cannot be read: " + errno_text(got.error));
  if (got.bytes < size) end_ = at_ + got.bytes;  // the file has become shorter
  file_.end += got.bytes;
  at_ += got.bytes;
  return file_.end - file_.begin >= wanted;
}

void PerfStream::skip(uint64_t bytes) {
  const uint64_t there = file_.end - file_.begin;
  file_.begin += static_cast<size_t>(std::min(bytes, there));
  if (bytes > there) at_ += std::min(bytes - there, end_ - at_);
}

bool PerfStream::next_of_file() {
  const uint64_t place = at_ - (file_.end - file_.begin);
  if (!fill(header_bytes)) {
    const bool whole = file_.begin == file_.end && plain_.begin == plain_.end;
    return whole ? false : fail("it ends within a record");
  }
  const size_t size = size_of_record(file_.rest());
  if (size < header_bytes) return fail(fmt::format("no record begins at its byte {}", place));
  if (!fill(size)) return fail("it ends within a record");
  record_ = file_.rest().first(size);
  file_.begin += size;
  return take_attached();
}

// Some records are followed by data that are no records.
bool PerfStream::take_attached() {
  constexpr size_t whole = header_bytes + 8;
  attached_.clear();
  if (is(type(), PerfUserRecord::tracing_data) && record_.size() >= header_bytes + 4) {
    const auto size = number_at<uint32_t>(record_, header_bytes);
    const uint64_t at = at_ - (file_.end - file_.begin);
    if (size <= max_attached && size <= end_ - std::min(at, end_)) {
      attached_.resize(size);
      attached_.resize(read_at(fd_, at, attached_).bytes);
    }
    skip((size + uint64_t{7}) / 8 * 8);
  }
  if (is(type(), PerfUserRecord::auxiliary) && record_.size() >= whole)
    skip(number_at<uint64_t>(record_, header_bytes));
  return true;
}

bool PerfStream::next_unpacked() {
  const Bytes rest = plain_.rest();
  const size_t size = size_of_record(rest);
  if (rest.size() < header_bytes) return false;
  if (size < header_bytes) return fail("a compressed record has an impossible size");
  if (rest.size() < size) return false;
  record_ = rest.first(size);
  plain_.begin += size;
  return true;
}

bool PerfStream::begin_compressed() {
  size_t begin = header_bytes;
  uint64_t size = record_.size() - begin;
  if (is(type(), PerfUserRecord::compressed_sized)) {
    begin += sizeof(uint64_t);
    if (record_.size() < begin) return fail("a compressed record is too short");
    size = std::min<uint64_t>(number_at<uint64_t>(record_, header_bytes), record_.size() - begin);
  }
  compressed_ = record_.subspan(begin, size);
  packed_ += size;
  if (zstd_) return true;
  plain_.bytes.resize(window_bytes_);
  zstd_.reset(ZSTD_createDCtx());
  return zstd_ || fail("there is no memory to unpack it");
}

// Unpacks as much as fits after what is left of a record.
bool PerfStream::unpack() {
  const std::span<std::byte> space = plain_.space();
  ZSTD_inBuffer in{compressed_.data(), compressed_.size(), 0};
  ZSTD_outBuffer out{space.data(), space.size(), 0};
  const size_t result = ZSTD_decompressStream(zstd_.get(), &out, &in);
  plain_.end += out.pos;
  unpacked_ += out.pos;
  compressed_ = compressed_.subspan(in.pos);
  if (ZSTD_isError(result))
    return fail(fmt::format("compressed records are damaged ({})", ZSTD_getErrorName(result)));
  if (unpacked_ > unpacked_bytes.of(packed_)) return fail("it grows too much when it is unpacked");
  if (in.pos == 0 && out.pos == 0) compressed_ = {};
  return true;
}

bool PerfStream::next() {
  for (;;) {
    if (!damage_.empty()) return false;
    if (next_unpacked()) return true;
    // A full space may hide that there is more to unpack.
    if (!compressed_.empty() || (zstd_ && plain_.end == plain_.bytes.size())) {
      if (!unpack()) return false;
      continue;
    }
    if (!next_of_file()) return false;
    if (!is(type(), PerfUserRecord::compressed) && !is(type(), PerfUserRecord::compressed_sized))
      return true;
    if (!begin_compressed()) return false;
  }
}

}  // namespace pi::perfutil
