// SPDX-License-Identifier: MIT
// Decodes streams of trace records: as a list, with full times, as readable lines.
#ifndef PI_TESTS_STREAMS_H
#define PI_TESTS_STREAMS_H

#include <cstdint>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include <pi/decode.h>

namespace pi::test {

struct TimedRecord {
  RecordView view;
  uint64_t time;  // the high half from the TIME records before it
};

// Decodes all records that the writer counts. whole becomes false when the stream does not end with
// a complete record or begins without a TIME record.
inline std::vector<TimedRecord> records_of(std::span<const std::byte> stream,
                                           bool* whole = nullptr) {
  std::vector<TimedRecord> list;
  uint64_t high = 0;
  bool good = true, has_time = false;
  while (!stream.empty()) {
    const RecordView view(stream);
    if (!view.valid()) {
      good = false;
      break;
    }
    uint32_t new_high = 0;
    if (decode_time(view, new_high)) {
      high = static_cast<uint64_t>(new_high) << 32;
      has_time = true;
    } else {
      good = good && has_time;
      if (is_counted(view)) list.push_back({view, high | view.time_lo()});
    }
    stream = stream.subspan(view.length());
  }
  if (whole != nullptr) *whole = good;
  return list;
}

// Formats as "major/minor @time int int ... 'string'"; all numbers but the time are hexadecimal.
inline std::string line_of(const TimedRecord& record) {
  std::ostringstream text;
  text << std::hex << record.view.major() << '/' << record.view.minor() << " @" << std::dec
       << record.time << std::hex;
  for (uint32_t i = 0; i < record.view.int_count(); ++i) text << ' ' << record.view.int_at(i);
  std::string_view name;
  if (record.view.string_at(0, name)) text << " '" << name << '\'';
  return text.str();
}

inline std::vector<std::string> lines_of(std::span<const std::byte> stream) {
  std::vector<std::string> lines;
  for (const auto& record : records_of(stream)) lines.push_back(line_of(record));
  return lines;
}

}  // namespace pi::test

#endif  // PI_TESTS_STREAMS_H
