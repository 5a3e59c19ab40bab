// SPDX-License-Identifier: MIT
// Reads one stream of records through a bounded window.
#include "stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace post {
namespace {

// More than three of the longest records, and long enough for efficient reads.
constexpr uint64_t window_bytes = 256 << 10;

// After a damaged record: all lengths are multiples of four, and this many records in sequence,
// this close to one another, do not occur by chance.
constexpr size_t step_bytes = 4;
constexpr int chain_records = 4;
constexpr uint32_t chain_ns = 2'000'000'000;
constexpr size_t chain_bytes = 8 << 10;  // that are looked at, where there are as many

bool makes_sense(const pi::RecordView& record) {
  pi::TprofTick tick{};
  pi::LinkEntry link{};
  uint32_t high = 0;
  switch (record.major()) {
    case PITRACE_MAJOR_TPROF:
      return pi::decode_tprof(record, tick);
    case PITRACE_MAJOR_MTE:
      return pi::decode_link(record, link);
    case PITRACE_MAJOR_TIME:
    case PITRACE_MAJOR_TIME_FAKE:
      return pi::decode_time(record, high);
    default:
      return true;
  }
}

}  // namespace

Stream::Stream(ByteSource& source, const StreamLayout& layout, DamageLog& damage)
    : source_(source),
      layout_(layout),
      damage_(damage),
      capacity_(static_cast<size_t>(std::min(window_bytes, layout.size()))),
      high_(static_cast<uint64_t>(layout.time_high) << 32) {
  window_.reset(new std::byte[capacity_]);
  at_ = end_ = window_.get();
  starts_.push_back(0);
  for (const Extent& extent : layout.extents) starts_.push_back(starts_.back() + extent.size);
}

uint64_t Stream::logical(const std::byte* at) const {
  return window_start_ + static_cast<uint64_t>(at - window_.get());
}

// Empty extents hold no offset: the last extent that starts at or before it is the right one.
size_t Stream::extent_of(uint64_t logical_offset) const {
  const auto after = std::upper_bound(starts_.begin(), starts_.end() - 1, logical_offset);
  return static_cast<size_t>(after - starts_.begin()) - 1;
}

uint64_t Stream::file_offset() const {
  const uint64_t place = logical(at_);
  while (offset_extent_ + 2 < starts_.size() && starts_[offset_extent_ + 1] <= place)
    ++offset_extent_;
  return layout_.extents[offset_extent_].offset + (place - starts_[offset_extent_]);
}

// Moves the remaining bytes to the window's start and loads more after them; false when no more
// bytes follow them in the stream.
bool Stream::fill() {
  const size_t left = static_cast<size_t>(end_ - at_);
  std::memmove(window_.get(), at_, left);
  window_start_ = loaded_ - left;
  at_ = window_.get();
  size_t filled = left;
  const uint64_t size = starts_.back();
  while (filled < capacity_ && loaded_ < size) {
    const size_t index = extent_of(loaded_);
    const Extent& extent = layout_.extents[index];
    const uint64_t inside = loaded_ - starts_[index];
    if (inside == 0 && extent.after_gap && filled != 0) break;
    const size_t wanted =
        static_cast<size_t>(std::min<uint64_t>(capacity_ - filled, extent.size - inside));
    const size_t got = source_.read(extent.offset + inside, {window_.get() + filled, wanted});
    filled += got;
    loaded_ += got;
    if (got == wanted) continue;
    damage_.add(
        fmt::format("{} bytes from file offset {} on cannot be read: {}", size - loaded_,
                    extent.offset + inside + got,
                    source_.error().empty() ? "the file has become shorter" : source_.error()),
        size - loaded_);
    starts_.back() = loaded_;  // the stream ends here
    std::replace_if(
        starts_.begin(), starts_.end(), [&](uint64_t start) { return start > loaded_; }, loaded_);
    break;
  }
  end_ = window_.get() + filled;
  return filled > left;
}

// Called if there is no usable record at at_: loads more of the stream or skips damaged bytes. True
// when record_ is a good one.
bool Stream::recover() {
  for (;;) {
    const size_t left = static_cast<size_t>(end_ - at_);
    record_ = pi::RecordView({at_, left});
    if (record_.valid() && known_major(record_.major())) return true;
    if (left >= sizeof(pitrace_record)) {
      uint16_t type_length;
      std::memcpy(&type_length, at_, sizeof type_length);
      if ((type_length & PITRACE_LENGTH_MASK) < sizeof(pitrace_record)) {
        skip_damage("a record with an impossible length");
        continue;
      }
      if (!known_major(record_.major())) {
        skip_damage("a record of an impossible kind");
        continue;
      }
    }
    if (fill()) continue;
    if (left == 0) break;
    log_skipped("a record that is cut off", file_offset(), left);
    at_ = end_;
  }
  record_ = pi::RecordView(std::span<const std::byte>());
  return false;
}

void Stream::log_skipped(const char* what, uint64_t file_place, uint64_t bytes) {
  ++skipped_;
  damage_.add(fmt::format("CPU {} {}: {} at file offset {}; {} bytes skipped", cpu(),
                          key().mte ? "MTE" : key().kind(), what, file_place, bytes),
              bytes);
}

// The start of the record after a damaged one is unknown: it is searched for up to the next
// section, which usually begins with a record.
void Stream::skip_damage(const char* what) {
  const uint64_t place = logical(at_);
  const uint64_t section_end = starts_[extent_of(place) + 1];
  const uint64_t file_place = file_offset();
  do {
    const uint64_t section_left = section_end - logical(at_);
    const size_t window_left = static_cast<size_t>(end_ - at_);
    at_ += std::min({step_bytes, static_cast<size_t>(section_left), window_left});
    if (static_cast<size_t>(end_ - at_) < chain_bytes) fill();
  } while (logical(at_) < section_end && !looks_like_records());
  log_skipped(what, file_place, logical(at_) - place);
}

// Whether several records in good order begin at at_.
bool Stream::looks_like_records() const {
  const std::byte* place = at_;
  uint32_t time = static_cast<uint32_t>(raw_);
  for (int i = 0; i < chain_records && place != end_; ++i) {
    const pi::RecordView record({place, static_cast<size_t>(end_ - place)});
    const bool plain = record.type() == PITRACE_TYPE_INTS || record.type() == PITRACE_TYPE_STRINGS;
    if (!record.valid() || !plain || !known_major(record.major()) || !makes_sense(record))
      return false;
    // Records more than two seconds apart, or a time that decreases, are not in good order.
    if (i != 0 && record.time_lo() - time > chain_ns) return false;
    time = record.time_lo();
    place += record.length();
  }
  return true;
}

void Stream::accept_other() {
  uint64_t lost = 0;
  if (pi::is_time(record_))
    accept_time();
  else if (pi::decode_lost(record_, lost))
    accept_gap(lost);
  else
    ++counted_;
}

// The record contains the number of all losses so far, so that a repeated record changes nothing.
void Stream::accept_gap(uint64_t lost) {
  constexpr size_t max_gaps = 1000;
  if (lost <= lost_) return;
  ++gap_count_;
  // A time record may precede the LOST record; its time is that of the record after the gap.
  const uint64_t from = logical(at_) == after_time_ ? before_time_ : time_;
  if (gaps_.size() < max_gaps) gaps_.push_back({from, high_ | record_.time_lo(), lost - lost_});
  lost_ = lost;
}

void Stream::accept_time() {
  uint32_t high = 0;
  before_time_ = time_;
  after_time_ = logical(at_) + record_.length();
  if (pi::decode_time(record_, high))
    high_ = static_cast<uint64_t>(high) << 32;
  else
    damage_.add(fmt::format("CPU {} {}: a time record without a time at file offset {}", cpu(),
                            key().mte ? "MTE" : key().kind(), file_offset()),
                record_.length());
}

void Stream::time_ran_back(uint64_t raw) {
  damage_.add(fmt::format("CPU {} {}: the time runs back by {} ns at file offset {}; the record "
                          "is taken as of the time before",
                          cpu(), key().mte ? "MTE" : key().kind(), raw_ - raw, file_offset()),
              0);
}

}  // namespace post
