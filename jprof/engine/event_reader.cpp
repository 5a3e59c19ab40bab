// SPDX-License-Identifier: MIT
// Reads the binary events of log-gen, and calibrates each with the minima that were known then.
#include "event_reader.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>

#include <pi/files.h>

namespace pi::callflow {
namespace {

pi::Error failure(int error) {
  return {error, "The log of events cannot be written: " + std::string(std::strerror(error))};
}

pi::Error damaged(uint64_t offset) {
  return {EINVAL, "The events after byte " + std::to_string(offset) +
                      " of the log of events are damaged and were left out"};
}

}  // namespace

EventReader::EventReader(const std::vector<Metric>& metrics, const Calibration& calibration,
                         std::optional<uint64_t> hidden)
    : metrics_(metrics), calibration_(calibration), hidden_(hidden), minima_(metrics.size()) {
  for (const auto& metric : metrics) trained_.emplace_back(calibration.stored, metric.name);
}

bool EventReader::is_valid(const BlockHead& head) const {
  return head.mark == BlockHead::magic && head.metrics == metrics_.size() &&
         head.bytes <= EventBuffer::block_bytes - sizeof head && head.bytes % event_bytes() == 0;
}

// Where the next block begins in bytes, from the place at; no number if there is none.
std::optional<size_t> EventReader::next_block(std::span<const std::byte> bytes, size_t at) const {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::string_view mark(reinterpret_cast<const char*>(&BlockHead::magic),
                              sizeof BlockHead::magic);
  for (at = text.find(mark, at); at != text.npos; at = text.find(mark, at + 1)) {
    BlockHead head;
    if (text.size() - at < sizeof head) return {};
    std::memcpy(&head, text.data() + at, sizeof head);
    if (is_valid(head)) return at;
  }
  return {};
}

// A block of which a full disk took only a part is followed by the next one, earlier than its head
// says. Its events were counted as lost.
pi::Status EventReader::read(int events, const std::function<int(const Event&)>& take) {
  constexpr size_t window = EventBuffer::block_bytes + sizeof(BlockHead);
  std::vector<std::byte> buffer(window);
  pi::Status result;
  for (uint64_t offset = 0;;) {
    const auto read = pi::read_at(events, offset, std::span(buffer));
    if (read.error) return failure(read.error);
    if (read.bytes == 0) return result;
    const auto bytes = std::span(buffer).first(read.bytes);
    BlockHead head{};
    std::memcpy(&head, bytes.data(), std::min(bytes.size(), sizeof head));
    const size_t size = sizeof head + (is_valid(head) ? head.bytes : 0);
    const auto next = next_block(bytes, 1);
    if (is_valid(head) && size <= bytes.size() && (!next || *next >= size)) {
      const auto body = bytes.subspan(sizeof head, head.bytes);
      if (const int error = read_block(head.tid, body, take)) return failure(error);
      offset += size;
      continue;
    }
    if (result) result = damaged(offset);
    if (!next) return result;
    offset += *next;
  }
}

int EventReader::read_block(uint32_t tid, std::span<const std::byte> events,
                            const std::function<int(const Event&)>& take) {
  for (; !events.empty(); events = events.subspan(event_bytes())) {
    EventHead head;
    uint64_t differences[max_metrics];
    std::memcpy(&head, events.data(), sizeof head);
    std::memcpy(differences, events.data() + sizeof head, metrics_.size() * sizeof(uint64_t));
    Event event{tid, head.method, head.type, head.how, {}};
    for (size_t i = 0; i < metrics_.size(); ++i)
      event.values[i] = calibrated(i, head.sequence, differences[i]);
    if (!is_shown(event)) continue;
    if (const int error = take(event)) return error;
  }
  return 0;
}

// The entry of the hidden method ends a part of the method that calls it; the exit ends the hidden
// method's own part.
bool EventReader::is_shown(Event& event) {
  if (event.method == hidden_) {
    if (event.how == Transition::entry) {
      auto& sum = before_hidden_[event.tid];
      for (size_t i = 0; i < metrics_.size(); ++i) sum[i] += event.values[i];
    }
    return false;
  }
  if (const auto found = before_hidden_.find(event.tid); found != before_hidden_.end()) {
    for (size_t i = 0; i < metrics_.size(); ++i) event.values[i] += found->second[i];
    before_hidden_.erase(found);
  }
  return true;
}

EventReader::Known EventReader::known_before(size_t metric, uint32_t sequence) const {
  const std::string& name = metrics_[metric].name;
  const Minimum* stored = calibration_.stored.find(name, sequence);
  const Minimum* environment = calibration_.environmental.find_similar(name, sequence);
  return {stored ? stored->value : UINT64_MAX, stored ? stored->count : 0,
          environment ? environment->value : 1, trained_[metric].similar_to(sequence_at(sequence)),
          stored && calibration_.is_final(*stored)};
}

// As in log-rt, but with the minima of this event and those before it.
int64_t EventReader::calibrated(size_t metric, uint32_t sequence, uint64_t difference) {
  const auto value = static_cast<int64_t>(difference);
  if (sequence >= sequence_count || !calibration_.on) return value;
  const auto [known, is_new] = minima_[metric].try_emplace(sequence);
  if (is_new) known->second = known_before(metric, sequence);
  auto& [own_minimum, count, environment, similar, is_final] = known->second;
  if (!is_final) own_minimum = std::min(own_minimum, difference);
  if (calibration_.learns && can_occur(sequence_at(sequence))) ++count;
  uint64_t minimum = own_minimum;
  if (count < settled_after) {
    if (!similar) return value;
    minimum = std::min(minimum, *similar);
  }
  return minimum <= environment ? value : value - static_cast<int64_t>(minimum - environment);
}

}  // namespace pi::callflow
