// SPDX-License-Identifier: MIT
// JIT-compiled code of one process: which method owned each address at each time.
#include "jit_code.h"

#include <algorithm>
#include <utility>

namespace a2n {

void JitCode::load(JitMethod method) {
  if (method.size == 0 || method.size > UINT64_MAX - method.address) return;
  if (methods_.size() >= max_methods_) {
    ++beyond_limit_;
    return;
  }
  events_.push_back({method.time, Kind::load, 0, static_cast<uint32_t>(methods_.size())});
  methods_.push_back(std::move(method));
  index_.reset();
}

void JitCode::unload(uint64_t time, uint64_t address) {
  events_.push_back({time, Kind::unload, address, 0});
  index_.reset();
}

void JitCode::begin_late(uint64_t time) {
  events_.push_back({time, Kind::begin_late, 0, 0});
  index_.reset();
}

void JitCode::lose(uint64_t time) {
  events_.push_back({time, Kind::lose, 0, 0});
  index_.reset();
}

void JitCode::stop(uint64_t time) {
  events_.push_back({time, Kind::stop, 0, 0});
  index_.reset();
}

// Whether the same method, by name, address and size, is already loaded.
bool JitCode::is_loaded(const JitTimeline& timeline, const JitMethod& method) const {
  const uint32_t owner = timeline.owner(method.address);
  return owner != JitTimeline::none && methods_[owner].address == method.address &&
         methods_[owner].size == method.size && methods_[owner].name == method.name;
}

void JitCode::replay(JitTimeline& timeline, const Event& event) const {
  switch (event.kind) {
    case Kind::load:
      if (!is_loaded(timeline, methods_[event.method])) timeline.load(event.time, event.method);
      break;
    case Kind::unload:
      timeline.unload(event.time, event.address);
      break;
    case Kind::begin_late:
      timeline.begin_late(event.time);
      break;
    case Kind::lose:
      timeline.lose(event.time);
      break;
    case Kind::stop:
      timeline.stop(event.time);
      break;
  }
}

const JitCode::Index& JitCode::index() const {
  if (index_) return *index_;
  std::vector<JitTimeline::Method> methods;
  methods.reserve(methods_.size());
  for (const JitMethod& method : methods_)
    methods.push_back({method.address, method.address + method.size, method.dynamic});
  std::vector<Event> events = events_;
  if (timeless_) {
    std::erase_if(events, [](const Event& event) { return event.kind != Kind::load; });
    for (Event& event : events) event.time = 0;
  }
  std::stable_sort(events.begin(), events.end(),
                   [](const Event& a, const Event& b) { return a.time < b.time; });
  JitTimeline timeline(methods);
  for (const Event& event : events) replay(timeline, event);
  Index index;
  index.reuses = timeline.reuses();
  index.rectangles = RectangleIndex(timeline.finish());
  for (const Rectangle& rectangle : index.rectangles.all()) {
    if (rectangle.from != 0) index.changes.push_back(rectangle.from);
    if (rectangle.until != UINT64_MAX) index.changes.push_back(rectangle.until);
  }
  std::sort(index.changes.begin(), index.changes.end());
  index.changes.erase(std::unique(index.changes.begin(), index.changes.end()), index.changes.end());
  return index_.emplace(std::move(index));
}

const JitMethod* JitCode::find(uint64_t address, uint64_t time, uint64_t oldest) const {
  if (methods_.empty()) return nullptr;
  const Rectangle* rectangle = index().rectangles.find(address, time);
  if (!rectangle) return nullptr;
  const JitMethod& method = methods_[rectangle->owner];
  return method.time < oldest && !timeless_ ? nullptr : &method;
}

uint64_t JitCode::next_change(uint64_t time) const {
  if (methods_.empty()) return UINT64_MAX;
  const std::vector<uint64_t>& changes = index().changes;
  const auto after = std::upper_bound(changes.begin(), changes.end(), time);
  return after == changes.end() ? UINT64_MAX : *after;
}

size_t JitCode::reuses() const {
  return methods_.empty() ? 0 : index().reuses;
}

}  // namespace a2n
