// SPDX-License-Identifier: MIT
// The events of a recording of perf: their attributes and names, and which records are of which
// event.
#ifndef PI_PERFUTIL_PERF_EVENT_TABLE_H
#define PI_PERFUTIL_PERF_EVENT_TABLE_H

#include <linux/perf_event.h>

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace pi::perfutil {

using Bytes = std::span<const std::byte>;

// Of a record: its header, and each of its fields.
constexpr size_t header_bytes = sizeof(perf_event_header);
constexpr size_t field_bytes = sizeof(uint64_t);

// A number at offset of bytes, which must be long enough.
template <class T>
T number_at(Bytes bytes, size_t offset);

struct RecordedEvent {
  perf_event_attr attr{};  // 0 in members that the recording's perf did not know
  std::string name;        // as perf names it

  bool has(uint64_t sample) const { return (attr.sample_type & sample) != 0; }
};

class EventTable {
 public:
  // Nothing if the bytes cannot be attributes. Members that this program does not know are ignored.
  static std::optional<perf_event_attr> parse_attr(Bytes bytes);

  // False if there are too many events or ids.
  bool add(const perf_event_attr& attr, std::span<const uint64_t> ids);
  // index: in the order of add().
  void set_name(size_t index, std::string name);
  // Of the event with this id.
  void set_name_of(uint64_t id, std::string name);
  // Gives events without a name one by their attributes.
  void complete();

  const std::vector<RecordedEvent>& events() const { return events_; }
  // nullptr: the record does not say, or an unknown event.
  const RecordedEvent* of_sample(Bytes record) const;
  // The event by whose attributes the fields at the end of another record are read; nullptr: none.
  const RecordedEvent* of_other(Bytes record) const;

 private:
  const RecordedEvent* find(uint64_t id) const;

  std::vector<RecordedEvent> events_;
  // A tree and no hash table, since a file can choose the ids.
  std::map<uint64_t, uint32_t> ids_;
  size_t id_count_ = 0;  // with those that are given twice
};

template <class T>
T number_at(Bytes bytes, size_t offset) {
  T value;
  __builtin_memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_PERF_EVENT_TABLE_H
