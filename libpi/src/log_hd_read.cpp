// SPDX-License-Identifier: MIT
// Reads log-hd, also a hostile one: each frame has a limit, and all of them together.
#include <pi/log_hd.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <system_error>

#include "log_hd_facts.h"

namespace pi::log_hd {
namespace {

constexpr size_t skippable_head = 8;
constexpr uint32_t skippable_mask = 0xfffffff0, skippable_magic = 0x184d2a50;
constexpr size_t least_read = 64 << 10;
constexpr size_t longest_head = 18;  // of a frame of zstd

// Names of classes: 100,000 classes have some 8 MiB, which are compressed to a tenth.
constexpr size_t most_text_packed = 32 << 20;
constexpr Budget text_size{1 << 20, 64, 64 << 20};

constexpr const char* is_cut = "it ends too early: it was not written to its end";

uint32_t load32(const std::byte* at) {
  uint32_t value = 0;
  std::memcpy(&value, at, sizeof value);
  return value;
}

bool is_known(unsigned long long size) {
  return size != ZSTD_CONTENTSIZE_UNKNOWN && size != ZSTD_CONTENTSIZE_ERROR;
}

}  // namespace

void Reader::Free::operator()(ZSTD_DCtx_s* context) const {
  ZSTD_freeDCtx(context);
}

Reader::Reader(ReadAt read, uint64_t limit)
    : read_(std::move(read)), context_(ZSTD_createDCtx()), limit_(limit) {}
Reader::Reader(Reader&&) noexcept = default;
Reader::~Reader() = default;

Result<Reader> Reader::open(ReadAt read, uint64_t file_bytes, const Budget& limit) {
  Reader reader(std::move(read), limit.of(file_bytes));
  if (!reader.context_) return Error{ENOMEM, "there is no memory to decompress it."};
  uint32_t magic = 0;
  const auto text = reader.skippable(magic);
  if (!text && !reader.error_.empty()) return Error{-1, reader.error_ + "."};
  auto facts = text && magic == head_magic ? facts_from(*text) : std::nullopt;
  if (!facts)
    return Error{-1, "it is no log-hd, or one of a later version: its first frame has no facts."};
  reader.facts_ = std::move(*facts);
  return reader;
}

Result<Reader> Reader::open(int fd) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) return Error{errno, "its size is unknown."};
  return open(
      [fd](uint64_t offset, std::span<std::byte> bytes) { return read_at(fd, offset, bytes); },
      real_size(fd, status));
}

std::span<const std::byte> Reader::buffered() const {
  return std::span(buffer_).subspan(begin_, end_ - begin_);
}

void Reader::advance(size_t bytes) {
  begin_ += bytes;
}

// True if so many further bytes of the file are in buffer_.
bool Reader::need(size_t bytes) {
  if (end_ - begin_ >= bytes) return true;
  if (begin_ != 0) std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  while (end_ < bytes) {
    // A size that the file does not have costs no memory.
    if (buffer_.size() == end_) buffer_.resize(end_ + std::clamp(end_, least_read, frame_bytes));
    const auto free = std::span(buffer_).subspan(end_);
    const Transferred got = read_(position_, free);
    position_ += got.bytes;
    end_ += got.bytes;
    if (got.error != 0) error_ = std::generic_category().message(got.error);
    if (got.bytes < free.size()) break;
  }
  return end_ >= bytes;
}

std::span<const std::byte> Reader::fail(std::string why) {
  // An error of the disk is the reason for the others.
  if (error_.empty()) error_ = std::move(why);
  ended_ = true;
  return {};
}

// The text of the next frame, if that is one of ours; passes it.
std::optional<std::string> Reader::skippable(uint32_t& magic) {
  if (!need(skippable_head)) return fail(is_cut), std::nullopt;
  magic = load32(buffered().data());
  const size_t size = load32(buffered().data() + 4);
  const bool is_ours = magic == head_magic || magic == end_magic;
  if ((magic & skippable_mask) != skippable_magic) return std::nullopt;
  if (size > most_text_packed) return fail("a frame has an impossible size"), std::nullopt;
  if (!need(skippable_head + size)) return fail(is_cut), std::nullopt;
  const auto packed = buffered().subspan(skippable_head, size);
  auto text = is_ours ? unpack_text(packed) : std::string();
  if (!text) return fail("a frame of facts is damaged"), std::nullopt;
  advance(skippable_head + size);
  return text;
}

std::optional<std::string> Reader::unpack_text(std::span<const std::byte> packed) {
  const unsigned long long size = ZSTD_getFrameContentSize(packed.data(), packed.size());
  if (!is_known(size) || size > text_size.of(packed.size())) return std::nullopt;
  std::string text(size, '\0');
  const size_t got =
      ZSTD_decompressDCtx(context_.get(), text.data(), text.size(), packed.data(), packed.size());
  if (ZSTD_isError(got) || got != size) return std::nullopt;
  return text;
}

bool Reader::end(std::string_view text) {
  const auto end = end_from(text);
  ended_ = true;
  if (!end || *end != End{frames_, bytes_}) {
    fail("parts of it are missing");
  } else if (need(1)) {
    fail("it continues after its end");
  }
  return false;
}

std::span<const std::byte> Reader::next() {
  for (;;) {
    if (ended_) return {};
    if (!need(4)) return fail(is_cut);
    if ((load32(buffered().data()) & skippable_mask) != skippable_magic) break;
    uint32_t magic = 0;
    const auto text = skippable(magic);
    if (!text) return {};
    if (magic == end_magic && !end(*text)) return {};
  }
  (void)need(longest_head);  // the last frame may be shorter
  const unsigned long long size = ZSTD_getFrameContentSize(buffered().data(), buffered().size());
  if (size == ZSTD_CONTENTSIZE_ERROR && buffered().size() < longest_head) return fail(is_cut);
  if (!is_known(size) || size == 0 || size > frame_bytes) return fail("a frame is damaged");
  if (size > limit_ - bytes_)
    return fail(
        "it has more bytes than a dump of its size can have; 'zstd -dc' decompresses it without "
        "this limit");
  (void)need(ZSTD_compressBound(size) + longest_head);
  const size_t packed = ZSTD_findFrameCompressedSize(buffered().data(), buffered().size());
  if (ZSTD_isError(packed)) {
    // Whole frames are not longer than this.
    const bool cut = buffered().size() < ZSTD_compressBound(size) + longest_head;
    return fail(cut ? is_cut : "a frame is damaged");
  }
  frame_.resize(size);
  const size_t got =
      ZSTD_decompressDCtx(context_.get(), frame_.data(), frame_.size(), buffered().data(), packed);
  if (ZSTD_isError(got) || got != size) return fail("a frame is damaged");
  advance(packed);
  ++frames_;
  bytes_ += size;
  return frame_;
}

}  // namespace pi::log_hd
