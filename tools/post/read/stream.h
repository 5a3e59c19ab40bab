// SPDX-License-Identifier: MIT
// Reads one stream of records (the sections of one buffer of one CPU) through a bounded window, and
// computes the full time of each record.
#ifndef POST_STREAM_H
#define POST_STREAM_H

#include <pi/decode.h>

#include <memory>
#include <vector>

#include "byte_source.h"
#include "nrm2_reader.h"
#include "text/damage_log.h"

namespace post {

// A gap: records are missing between two records of a stream.
struct Gap {
  uint64_t from = 0;  // times of the two, nanoseconds
  uint64_t to = 0;
  uint64_t records = 0;
};

class Stream {
 public:
  // All three must outlive the stream.
  Stream(ByteSource& source, const StreamLayout& layout, DamageLog& damage);

  // Moves to the next record, first to the first one; false at the end. Unreadable bytes are
  // skipped and added to the log.
  bool next() {
    at_ += record_.length();
    record_ = pi::RecordView({at_, static_cast<size_t>(end_ - at_)});
    if (!record_.valid() || !known_major(record_.major())) [[unlikely]] {
      if (!recover()) return false;
    }
    accept();
    return true;
  }

  // Of the record last moved to; its bytes stay until next().
  const pi::RecordView& record() const { return record_; }
  // Nanoseconds; never decreases.
  uint64_t time() const { return time_; }
  uint64_t file_offset() const;

  StreamKey key() const { return layout_.key; }
  uint32_t cpu() const { return layout_.key.cpu; }
  // Records so far without those that the writer does not count.
  uint64_t counted() const { return counted_; }
  // Gaps for which the stream has LOST records: the first ones, and the lost records of all.
  const std::vector<Gap>& gaps() const { return gaps_; }
  uint64_t gap_count() const { return gap_count_; }
  // Number of gaps so far: those with LOST records, and those that could not be read.
  uint64_t breaks() const { return gap_count_ + skipped_; }
  uint64_t lost() const { return lost_; }
  uint64_t bytes_read() const { return loaded_; }

 private:
  static bool known_major(uint32_t major) { return major - 1 < 0xff; }

  void accept() {
    if (record_.major() == PITRACE_MAJOR_TPROF) [[likely]]
      ++counted_;
    else
      accept_other();
    const uint64_t raw = high_ | record_.time_lo();
    if (raw < raw_) [[unlikely]]
      time_ran_back(raw);
    raw_ = raw;
    if (raw > time_) time_ = raw;
  }

  void accept_other();
  void accept_time();
  void accept_gap(uint64_t lost);
  void time_ran_back(uint64_t raw);
  bool recover();
  bool fill();
  void skip_damage(const char* what);
  bool looks_like_records() const;
  void log_skipped(const char* what, uint64_t file_place, uint64_t bytes);
  uint64_t logical(const std::byte* at) const;
  size_t extent_of(uint64_t logical_offset) const;

  ByteSource& source_;
  const StreamLayout& layout_;
  DamageLog& damage_;
  std::vector<uint64_t> starts_;  // of each extent, as offset in the stream; then the stream's size
  std::unique_ptr<std::byte[]> window_;
  size_t capacity_;
  uint64_t window_start_ = 0;  // the window's first byte, as offset in the stream
  uint64_t loaded_ = 0;        // end of what was loaded, as offset in the stream
  const std::byte* at_;
  const std::byte* end_;
  pi::RecordView record_{std::span<const std::byte>()};
  uint64_t high_;  // high half of the time, in the upper 32 bits
  uint64_t raw_ = 0;
  uint64_t time_ = 0;
  uint64_t counted_ = 0;
  uint64_t before_time_ = 0;  // the time before the last time record
  uint64_t after_time_ = 0;   // where the record after it begins, as offset in the stream
  std::vector<Gap> gaps_;
  uint64_t gap_count_ = 0;
  uint64_t skipped_ = 0;
  uint64_t lost_ = 0;
  mutable size_t offset_extent_ = 0;  // where file_offset() looked last
};

}  // namespace post

#endif  // POST_STREAM_H
