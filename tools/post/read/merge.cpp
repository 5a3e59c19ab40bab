// SPDX-License-Identifier: MIT
// Merges all streams of a trace by time.
#include "merge.h"

namespace post {

Merge::Merge(ByteSource& source, const TraceFile& file, DamageLog& damage, Select select) {
  for (size_t rank = 0; rank < file.streams.size(); ++rank) {
    if (select == Select::mte && !file.streams[rank].key.mte) continue;
    streams_.push_back(std::make_unique<Stream>(source, file.streams[rank], damage));
    Stream* stream = streams_.back().get();
    if (stream->next()) heap_.push_back({stream->time(), rank, stream});
  }
  for (size_t i = heap_.size() / 2; i-- > 0;) sift_down(i, heap_[i]);
}

bool Merge::next_stream() {
  if (heap_.empty()) {
    current_ = {};
    return false;
  }
  current_ = heap_.front();
  const Entry last = heap_.back();
  heap_.pop_back();
  if (!heap_.empty()) sift_down(0, last);
  return true;
}

void Merge::replace_top() {
  const Entry top = heap_.front();
  sift_down(0, current_);
  current_ = top;
}

void Merge::sift_down(size_t hole, Entry entry) {
  for (;;) {
    size_t child = 2 * hole + 1;
    if (child >= heap_.size()) break;
    if (child + 1 < heap_.size() && before(heap_[child + 1], heap_[child])) ++child;
    if (!before(heap_[child], entry)) break;
    heap_[hole] = heap_[child];
    hole = child;
  }
  heap_[hole] = entry;
}

uint64_t Merge::bytes_read() const {
  uint64_t sum = 0;
  for (const auto& stream : streams_) sum += stream->bytes_read();
  return sum;
}

uint64_t begin_of(ByteSource& source, const TraceFile& file) {
  DamageLog ignored;  // the beginning is read again
  Merge merge(source, file, ignored, Merge::Select::all);
  std::optional<uint64_t> first;  // of names, in a trace without other records
  while (merge.next()) {
    if (pi::is_time(merge.current().record())) continue;
    if (merge.current().key().is_trace()) return merge.current().time();
    if (!first) first = merge.current().time();
  }
  return first.value_or(0);
}

std::optional<uint64_t> epoch_in(const pi::RecordView& record, uint64_t time) {
  if (record.major() != PITRACE_MAJOR_SYSTEM || record.minor() != PITRACE_SYSTEM_CLOCK ||
      record.int_count() < 4)
    return {};
  return uint64_t{record.int_at(3)} * 1'000'000'000 - time;
}

std::optional<uint64_t> epoch_of(ByteSource& source, const TraceFile& file) {
  constexpr uint32_t most_records = 1'000'000;  // a trace without one is not read to its end
  DamageLog ignored;                            // the beginning is read again
  Merge merge(source, file, ignored, Merge::Select::all);
  for (uint32_t i = 0; i < most_records && merge.next(); ++i)
    if (const auto epoch = epoch_in(merge.current().record(), merge.current().time())) return epoch;
  return {};
}

}  // namespace post
