// SPDX-License-Identifier: MIT
// Reads the fields of a record of perf that its event's attributes select.
#include "perf_fields.h"

#include <algorithm>
#include <bit>

namespace pi::perfutil {
namespace {

// Takes fields of 8 bytes one after the other. After one that is missing all are 0, and good() is
// false.
class FieldReader {
 public:
  FieldReader(Bytes record, size_t at) : record_(record), at_(at) {}

  uint64_t next() {
    const Bytes place = take(field_bytes);
    return good_ ? number_at<uint64_t>(place, 0) : 0;
  }
  void pair(uint32_t& first, uint32_t& second) {
    const Bytes place = take(field_bytes);
    if (!good_) return;
    first = number_at<uint32_t>(place, 0);
    second = number_at<uint32_t>(place, 4);
  }
  Bytes take(uint64_t bytes) {
    good_ = good_ && bytes <= record_.size() - at_;
    if (!good_) return {};
    at_ += bytes;
    return record_.subspan(at_ - bytes, bytes);
  }
  void skip_words(uint64_t words) {
    good_ = good_ && words <= record_.size() / field_bytes;
    (void)take(field_bytes * (good_ ? words : 0));
  }
  bool good() const { return good_; }

 private:
  Bytes record_;
  size_t at_;
  bool good_ = true;
};

// Values of counters, which are not used.
void skip_counts(FieldReader& in, uint64_t format) {
  constexpr uint64_t times = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  const auto of_all = static_cast<uint64_t>(std::popcount(format & times));
  const auto of_each =
      static_cast<uint64_t>(1 + std::popcount(format & (PERF_FORMAT_ID | PERF_FORMAT_LOST)));
  const uint64_t events = (format & PERF_FORMAT_GROUP) != 0 ? in.next() : 1;
  in.skip_words(of_all);
  constexpr uint64_t largest = 1 << 13;  // a record has 64 KiB
  in.skip_words(events < largest ? events * of_each : UINT64_MAX);
}

void skip_branches(FieldReader& in, uint64_t format) {
  constexpr uint64_t has_counters = uint64_t{1} << 19;  // PERF_SAMPLE_BRANCH_COUNTERS, since 6.8
  constexpr uint64_t words = 3, largest = 1 << 13;
  const uint64_t branches = in.next();
  if ((format & PERF_SAMPLE_BRANCH_HW_INDEX) != 0) in.next();
  const uint64_t each = words + ((format & has_counters) != 0 ? 1 : 0);
  in.skip_words(branches < largest ? branches * each : UINT64_MAX);
}

// What follows the call chain and the raw data, up to the copy of the stack.
UserCopy read_copy(FieldReader& in, const RecordedEvent& event) {
  if (event.has(PERF_SAMPLE_BRANCH_STACK)) skip_branches(in, event.attr.branch_sample_type);
  UserCopy copy;
  if (event.has(PERF_SAMPLE_REGS_USER)) copy.abi = in.next();
  if (copy.abi != PERF_SAMPLE_REGS_ABI_NONE)
    copy.registers =
        in.take(field_bytes * static_cast<uint64_t>(std::popcount(event.attr.sample_regs_user)));
  const uint64_t size = in.next();
  const Bytes stack = in.take(size);
  const uint64_t used = size != 0 ? in.next() : 0;
  if (in.good()) copy.stack = stack.first(std::min<uint64_t>(used, size));
  return copy;
}

}  // namespace

std::optional<RecordFields> fields_of_sample(Bytes record, const RecordedEvent& event) {
  FieldReader in(record, header_bytes);
  RecordFields fields;
  uint32_t unused = 0;
  if (event.has(PERF_SAMPLE_IDENTIFIER)) in.next();
  if (event.has(PERF_SAMPLE_IP)) fields.ip = in.next();
  if (event.has(PERF_SAMPLE_TID)) in.pair(fields.pid, fields.tid);
  if (event.has(PERF_SAMPLE_TIME)) fields.time = in.next();
  if (event.has(PERF_SAMPLE_ADDR)) in.next();
  if (event.has(PERF_SAMPLE_ID)) in.next();
  if (event.has(PERF_SAMPLE_STREAM_ID)) in.next();
  if (event.has(PERF_SAMPLE_CPU)) in.pair(fields.cpu, unused);
  fields.period = event.has(PERF_SAMPLE_PERIOD) ? in.next() : event.attr.sample_period;
  if (event.has(PERF_SAMPLE_READ)) skip_counts(in, event.attr.read_format);
  if (event.has(PERF_SAMPLE_CALLCHAIN)) {
    const uint64_t entries = in.next();
    fields.chain = in.take(entries <= record.size() ? entries * field_bytes : UINT64_MAX);
  }
  if (event.has(PERF_SAMPLE_RAW)) {
    const Bytes size = in.take(sizeof(uint32_t));
    if (in.good()) fields.raw = in.take(number_at<uint32_t>(size, 0));
  }
  if (event.has(PERF_SAMPLE_STACK_USER)) fields.copy = read_copy(in, event);
  if (!in.good()) return std::nullopt;
  return fields;
}

std::optional<RecordFields> fields_of_other(Bytes record, const RecordedEvent* event) {
  RecordFields fields;
  fields.body = record.size();
  if (event == nullptr) return fields;
  constexpr uint64_t at_end = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
                              PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;
  const size_t size =
      field_bytes * static_cast<size_t>(std::popcount(event->attr.sample_type & at_end));
  if (record.size() < header_bytes + size) return std::nullopt;
  fields.body = record.size() - size;
  FieldReader in(record, fields.body);
  uint32_t unused = 0;
  if (event->has(PERF_SAMPLE_TID)) in.pair(fields.pid, fields.tid);
  if (event->has(PERF_SAMPLE_TIME)) fields.time = in.next();
  if (event->has(PERF_SAMPLE_ID)) in.next();
  if (event->has(PERF_SAMPLE_STREAM_ID)) in.next();
  if (event->has(PERF_SAMPLE_CPU)) in.pair(fields.cpu, unused);
  return fields;
}

}  // namespace pi::perfutil
