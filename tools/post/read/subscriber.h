// SPDX-License-Identifier: MIT
// The interface between the pipeline, which reads a trace's records by time, and the consumers of
// records.
#ifndef POST_SUBSCRIBER_H
#define POST_SUBSCRIBER_H

#include <pi/decode.h>

#include <array>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "stream.h"

namespace post {

// The current record of a stream, and the pipeline's information about it.
struct Arrival {
  const Stream& stream;
  const pi::TprofTick* tick = nullptr;  // the decoded record, when it is a tick that can be decoded
  // Whether the user has selected the record: by its number, time and CPU, and a tick also by its
  // number among ticks, by its metric, and by names. Only a tick that can be decoded is selected.
  bool in_range = true;
  bool tick_selected = false;
  // The further frames of the record's stack; null: it has none, or their record is missing.
  const pi::UserFrames* user_frames = nullptr;

  const pi::RecordView& record() const { return stream.record(); }
  uint64_t time() const { return stream.time(); }
};

// Selects ticks by data that their records do not contain.
class TickFilter {
 public:
  virtual ~TickFilter() = default;

  // Called for each tick that is otherwise selected, in the order of time.
  virtual bool takes(const pi::TprofTick& tick, uint64_t time) = 0;
};

class Subscriptions;

class Subscriber {
 public:
  virtual ~Subscriber() = default;

  // Subscribes this to the majors that it takes.
  virtual void subscribe(Subscriptions& to) = 0;
  // Takes one record. False: its contents are invalid; the pipeline logs it as damaged.
  virtual bool take(const Arrival& arrival) = 0;
  // After the last record: once for each stream, then once.
  virtual void end_stream(const Stream& /*stream*/) {}
  virtual void end_trace() {}
};

// The subscribers of each major. Within a major, subscribers are called in the order in which they
// subscribed: one that needs the state of a process before a change subscribes before Processes.
class Subscriptions {
 public:
  // Only records that can be decoded are passed on.
  void add(Subscriber& subscriber, std::initializer_list<uint32_t> majors) {
    all_.push_back(&subscriber);
    for (const uint32_t major : majors) of_major_[major].push_back(&subscriber);
  }
  // Every record, also one that cannot be decoded.
  void add_to_every_major(Subscriber& subscriber) {
    all_.push_back(&subscriber);
    of_every_major_.push_back(&subscriber);
  }

  // Without a filter all ticks are taken.
  void filter_ticks_by(TickFilter& filter) { filter_ = &filter; }

  TickFilter* filter() const { return filter_; }
  const std::vector<Subscriber*>& of_major(uint32_t major) const { return of_major_[major]; }
  // Called after the subscribers of the record's major.
  const std::vector<Subscriber*>& of_every_major() const { return of_every_major_; }
  const std::vector<Subscriber*>& all() const { return all_; }

 private:
  std::array<std::vector<Subscriber*>, PITRACE_MAJOR_MAX + 2> of_major_;
  std::vector<Subscriber*> of_every_major_;
  std::vector<Subscriber*> all_;
  TickFilter* filter_ = nullptr;
};

}  // namespace post

#endif  // POST_SUBSCRIBER_H
