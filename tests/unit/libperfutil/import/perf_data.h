// SPDX-License-Identifier: MIT
// Builds recordings of perf (perf.data) byte by byte, as perf's documentation describes them.
#ifndef PI_TESTS_PERF_DATA_H
#define PI_TESTS_PERF_DATA_H

#include <linux/perf_event.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "perf_records.h"

namespace pi::test {

using ByteVector = std::vector<std::byte>;

inline void append(std::string& to, const ByteVector& bytes) {
  to.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

template <class T>
void append_number(std::string& to, T value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// The attributes of an event of which perf records samples.
inline perf_event_attr recorded_attr(uint64_t config, uint64_t sample_type, uint64_t period) {
  perf_event_attr attr{};
  attr.type = PERF_TYPE_SOFTWARE;
  attr.size = sizeof attr;
  attr.config = config;
  attr.sample_period = period;
  attr.sample_type = sample_type;
  attr.sample_id_all = 1;
  return attr;
}

constexpr uint64_t usual_sample =
    PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_CPU;

// A record that perf itself writes.
inline ByteVector user_record(uint32_t type, std::string_view content = {}) {
  PerfRecord record(type);
  for (const char each : content) record.add(each);
  return record.end();
}

inline ByteVector end_of_round() {
  return user_record(68);
}

// As perf record --call-graph dwarf: registers of more than are needed.
inline perf_event_attr copied_attr() {
  perf_event_attr attr =
      recorded_attr(PERF_COUNT_SW_CPU_CLOCK,
                    usual_sample | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW |
                        PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
                    1'000'000);
  attr.sample_regs_user = 0xff0fff;
  attr.branch_sample_type = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_HW_INDEX;
  attr.exclude_callchain_user = 1;
  return attr;
}

// Register number N has the value 100 + N; the stack's bytes are those of the text.
inline ByteVector copied_sample(uint64_t time, std::string_view stack, uint64_t abi,
                                uint64_t registers = 20) {
  PerfRecord record(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL);
  record.u64(some_event).u64(0xffffffff81000010).u32(5).u32(6).u64(time).u32(0).u32(0);
  record.u64(3).u64(static_cast<uint64_t>(PERF_CONTEXT_KERNEL)).u64(0xffffffff81000010);
  record.u64(0xffffffff81000020);
  record.u32(4).u32(0xabcd);                  // the raw data of a tracepoint
  record.u64(1).u64(9).u64(1).u64(2).u64(3);  // one branch
  record.u64(abi);
  for (uint64_t number = 0, count = 0; abi != 0 && count < registers; ++number)
    if ((0xff0fff >> number & 1) != 0 && ++count != 0) record.u64(100 + number);
  const uint64_t size = stack.size() + 8;  // the last ones are not used
  record.u64(size);
  for (const char each : stack) record.add(each);
  return record.u64(0x5555).u64(stack.size()).end();
}

class PerfData {
 public:
  PerfData& event(const perf_event_attr& attr, std::vector<uint64_t> ids) {
    events_.push_back({attr, std::move(ids)});
    return *this;
  }
  PerfData& record(const ByteVector& bytes) {
    append(records_, bytes);
    return *this;
  }
  PerfData& feature(uint32_t number, std::string content) {
    features_[number] = std::move(content);
    return *this;
  }
  PerfData& text_feature(uint32_t number, std::string_view text) {
    std::string content;
    const std::string padded = std::string(text) + std::string(8 - text.size() % 8, '\0');
    append_number(content, static_cast<uint32_t>(padded.size()));
    return feature(number, content + padded);
  }
  // The names of all events.
  PerfData& names(const std::vector<std::string>& names) {
    std::string content;
    append_number(content, static_cast<uint32_t>(names.size()));
    append_number(content, static_cast<uint32_t>(sizeof(perf_event_attr)));
    for (const std::string& name : names) {
      append_number(content, perf_event_attr{});
      append_number(content, uint32_t{0});
      append_number(content, static_cast<uint32_t>(name.size() + 1));
      content += name + '\0';
    }
    return feature(12, content);
  }
  const std::string& records() const { return records_; }

  std::string file() const {
    constexpr uint64_t head = 104, place = 16;
    const uint64_t entry = sizeof(perf_event_attr) + place;
    uint64_t at = head;
    std::string ids, attrs, features, contents;
    for (const auto& [attr, numbers] : events_) {
      append_number(attrs, attr);
      append_number(attrs, at + ids.size());
      append_number(attrs, uint64_t{8 * numbers.size()});
      for (const uint64_t id : numbers) append_number(ids, id);
    }
    const uint64_t attrs_at = head + ids.size();
    const uint64_t data_at = attrs_at + attrs.size();
    uint64_t bits[4] = {};
    uint64_t content_at = data_at + records_.size() + place * features_.size();
    for (const auto& [number, content] : features_) {
      bits[number / 64] |= uint64_t{1} << number % 64;
      append_number(features, content_at + contents.size());
      append_number(features, uint64_t{content.size()});
      contents += content;
    }
    std::string file = "PERFILE2";
    for (const uint64_t number : {head, entry, attrs_at, uint64_t{attrs.size()}, data_at,
                                  uint64_t{records_.size()}, uint64_t{0}, uint64_t{0}})
      append_number(file, number);
    for (const uint64_t word : bits) append_number(file, word);
    return file + ids + attrs + records_ + features + contents;
  }

  // As perf record -o - writes it.
  std::string piped() const {
    std::string file = "PERFILE2";
    append_number(file, uint64_t{16});
    for (const auto& [attr, numbers] : events_) {
      std::string content;
      append_number(content, attr);
      for (const uint64_t id : numbers) append_number(content, id);
      append(file, user_record(64, content));
    }
    for (const auto& [number, content] : features_) {
      std::string numbered;
      append_number(numbered, uint64_t{number});
      append(file, user_record(80, numbered + content));
    }
    return file + records_;
  }

 private:
  std::vector<std::pair<perf_event_attr, std::vector<uint64_t>>> events_;
  std::string records_;
  std::map<uint32_t, std::string> features_;
};

}  // namespace pi::test

#endif  // PI_TESTS_PERF_DATA_H
