// SPDX-License-Identifier: MIT
// Merges all streams of a trace by time. Records of equal time have the order of their streams in
// the layout: MTE, then stacks, then trace; lower CPU first.
#ifndef POST_MERGE_H
#define POST_MERGE_H

#include <memory>
#include <optional>
#include <vector>

#include "stream.h"

namespace post {

class Merge {
 public:
  enum class Select { all, mte };

  // All three must outlive the merge.
  Merge(ByteSource& source, const TraceFile& file, DamageLog& damage, Select select);

  // Moves to the next record of all streams; false at the end. Stays with one stream as long as its
  // records are the earliest, without access to the others. Called for each record of a trace.
  [[gnu::always_inline]] bool next() {
    if (current_.stream == nullptr || !current_.stream->next()) [[unlikely]]
      return next_stream();
    current_.time = current_.stream->time();
    if (!heap_.empty() && before(heap_.front(), current_)) replace_top();
    return true;
  }

  // The stream that holds the record.
  const Stream& current() const { return *current_.stream; }

  const std::vector<std::unique_ptr<Stream>>& streams() const { return streams_; }
  uint64_t bytes_read() const;

 private:
  struct Entry {
    uint64_t time = 0;
    size_t rank = 0;
    Stream* stream = nullptr;
  };

  static bool before(const Entry& a, const Entry& b) {
    return a.time != b.time ? a.time < b.time : a.rank < b.rank;
  }

  bool next_stream();
  void replace_top();
  void sift_down(size_t hole, Entry entry);

  std::vector<std::unique_ptr<Stream>> streams_;
  std::vector<Entry> heap_;  // all but the current one, the earliest at the front
  Entry current_;            // no stream: before the first record and after the last
};

// Returns the start of a trace: the time of the first record in a trace buffer that is not a time
// record; 0 when there is none.
uint64_t begin_of(ByteSource& source, const TraceFile& file);

// Nanoseconds since the epoch minus the trace clock, to within a second, if a record has the time
// of day.
std::optional<uint64_t> epoch_in(const pi::RecordView& record, uint64_t time);
// The same of the first such record, which is one of the trace's first ones.
std::optional<uint64_t> epoch_of(ByteSource& source, const TraceFile& file);

}  // namespace post

#endif  // POST_MERGE_H
