// SPDX-License-Identifier: MIT
// Reads the binary events of log-gen, and calibrates each with the minima that were known then.
#ifndef PI_CALLFLOW_EVENT_READER_H
#define PI_CALLFLOW_EVENT_READER_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include <pi/result.h>

#include "calibrate.h"
#include "event_buffer.h"
#include "snapshot.h"

namespace pi::callflow {

struct Event {
  uint32_t tid;
  uint64_t method;
  Type type;
  Transition how;
  std::array<int64_t, max_metrics> values;  // since the event before
};

class EventReader {
 public:
  // hidden: see ReportSettings::hidden_method.
  EventReader(const std::vector<Metric>& metrics, const Calibration& calibration,
              std::optional<uint64_t> hidden);

  // Calls take for each event of the file, which is open for reading. take returns an error number,
  // or 0 to continue. Error EINVAL: some blocks are damaged, the events of all others were taken.
  pi::Status read(int events, const std::function<int(const Event&)>& take);

 private:
  struct Known {
    uint64_t minimum;
    uint64_t count;
    uint64_t environment;
    std::optional<uint64_t> similar;  // the minimum of a similar sequence
    bool is_final;                    // smaller differences do not count
  };

  size_t event_bytes() const { return sizeof(EventHead) + metrics_.size() * sizeof(uint64_t); }
  bool is_valid(const BlockHead& head) const;
  std::optional<size_t> next_block(std::span<const std::byte> bytes, size_t at) const;
  int read_block(uint32_t tid, std::span<const std::byte> events,
                 const std::function<int(const Event&)>& take);
  bool is_shown(Event& event);
  Known known_before(size_t metric, uint32_t sequence) const;
  int64_t calibrated(size_t metric, uint32_t sequence, uint64_t difference);

  const std::vector<Metric>& metrics_;
  const Calibration& calibration_;
  const std::optional<uint64_t> hidden_;
  std::vector<TrainedMinima> trained_;  // by metric, as is minima_
  std::vector<std::unordered_map<uint32_t, Known>> minima_;
  std::map<uint32_t, std::array<int64_t, max_metrics>> before_hidden_;  // by thread
};

}  // namespace pi::callflow

#endif  // PI_CALLFLOW_EVENT_READER_H
