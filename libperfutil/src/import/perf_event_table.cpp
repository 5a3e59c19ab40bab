// SPDX-License-Identifier: MIT
// The events of a recording of perf: their attributes and names, and which records are of which
// event.
#include "perf_event_table.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "events/event_names.h"

namespace pi::perfutil {
namespace {

constexpr size_t max_events = 1 << 16;
constexpr size_t max_ids = 1 << 20;  // each event has one on each CPU

// How many bytes of a sample come before its id. All events of a recording have theirs at the same
// place, since it must be read before the event is known.
size_t id_offset(uint64_t type) {
  if ((type & PERF_SAMPLE_IDENTIFIER) != 0) return 0;
  constexpr uint64_t before =
      PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR;
  return field_bytes * static_cast<size_t>(std::popcount(type & before));
}

// The same from the end of another record, with the id.
size_t id_from_end(uint64_t type) {
  if ((type & PERF_SAMPLE_IDENTIFIER) != 0) return field_bytes;
  constexpr uint64_t after = PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU;
  return field_bytes * static_cast<size_t>(1 + std::popcount(type & after));
}

bool has_id(const RecordedEvent& event) {
  return event.has(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_ID);
}

std::string generic_name(const perf_event_attr& attr) {
  for (const GenericEvent& known : generic_events())
    if (known.type == attr.type && known.config == attr.config) return known.name;
  return fmt::format("event {}/{:#x}", attr.type, uint64_t{attr.config});
}

}  // namespace

std::optional<perf_event_attr> EventTable::parse_attr(Bytes bytes) {
  perf_event_attr attr{};
  constexpr size_t size_offset = offsetof(perf_event_attr, size);
  if (bytes.size() < PERF_ATTR_SIZE_VER0) return std::nullopt;
  const auto size = number_at<uint32_t>(bytes, size_offset);
  if (size != 0 && (size < PERF_ATTR_SIZE_VER0 || size > bytes.size())) return std::nullopt;
  const size_t known = std::min(sizeof attr, size == 0 ? size_t{PERF_ATTR_SIZE_VER0} : size);
  std::memcpy(&attr, bytes.data(), known);
  return attr;
}

bool EventTable::add(const perf_event_attr& attr, std::span<const uint64_t> ids) {
  if (events_.size() >= max_events || ids.size() > max_ids - id_count_) return false;
  id_count_ += ids.size();
  const auto index = static_cast<uint32_t>(events_.size());
  for (const uint64_t id : ids) ids_.emplace(id, index);
  events_.push_back({attr, {}});
  return true;
}

void EventTable::set_name(size_t index, std::string name) {
  constexpr size_t max_name = 1024;
  if (name.size() > max_name) name.resize(max_name);
  if (index < events_.size()) events_[index].name = std::move(name);
}

void EventTable::set_name_of(uint64_t id, std::string name) {
  if (const RecordedEvent* event = find(id); event != nullptr)
    set_name(static_cast<size_t>(event - events_.data()), std::move(name));
}

void EventTable::complete() {
  for (RecordedEvent& event : events_)
    if (event.name.empty()) event.name = generic_name(event.attr);
}

const RecordedEvent* EventTable::find(uint64_t id) const {
  const auto found = ids_.find(id);
  return found != ids_.end() ? &events_[found->second] : nullptr;
}

const RecordedEvent* EventTable::of_sample(Bytes record) const {
  if (events_.empty()) return nullptr;
  const RecordedEvent& first = events_.front();
  if (events_.size() == 1) return &first;
  const size_t at = header_bytes + id_offset(first.attr.sample_type);
  if (!has_id(first) || record.size() < at + field_bytes) return nullptr;
  return find(number_at<uint64_t>(record, at));
}

// Records that perf itself has written, about what ran before, have the id 0.
const RecordedEvent* EventTable::of_other(Bytes record) const {
  if (events_.empty() || events_.front().attr.sample_id_all == 0) return nullptr;
  const RecordedEvent& first = events_.front();
  const size_t from_end = id_from_end(first.attr.sample_type);
  if (!has_id(first) || record.size() < header_bytes + from_end) return &first;
  const RecordedEvent* event = find(number_at<uint64_t>(record, record.size() - from_end));
  return event != nullptr ? event : &first;
}

}  // namespace pi::perfutil
