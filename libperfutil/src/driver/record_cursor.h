// SPDX-License-Identifier: MIT
// A place in a stream of records, for readers that do not consume what they read.
#ifndef PI_PERFUTIL_RECORD_CURSOR_H
#define PI_PERFUTIL_RECORD_CURSOR_H

#include <algorithm>
#include <cstdint>

#include <pi/decode.h>

#include "source/collector.h"

namespace pi::perfutil {

class RecordCursor {
 public:
  // Passes the records of the view behind the cursor to see(record, time), and moves it.
  template <class See>
  void follow(const BufferView& view, const See& see) {
    const uint64_t end = view.position + view.records.size();
    if (position_ >= end) return;
    uint64_t at = std::max(position_, view.position);
    while (at < end) {
      const RecordView record(view.records.subspan(at - view.position));
      if (!record.valid()) break;
      uint32_t high = 0;
      if (decode_time(record, high)) high_ = uint64_t{high} << 32;
      see(record, high_ | record.time_lo());
      at += record.length();
    }
    position_ = end;
  }

 private:
  uint64_t position_ = 0;
  uint64_t high_ = 0;  // of the time
};

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_RECORD_CURSOR_H
