// SPDX-License-Identifier: MIT
// Computes how long threads waited, without stacks. Does less work per dispatch (context switch)
// than OffCpu alone, and none for other records.
#ifndef POST_WAITING_H
#define POST_WAITING_H

#include "off_cpu.h"

namespace post {

class Waiting final : public Subscriber {
 public:
  // All three must outlive this.
  Waiting(Processes& processes, Symbolizer& symbolizer, StringTable& names)
      : times_(processes, symbolizer, names, {.cache_entries = 1, .stacks = false}) {}

  void subscribe(Subscriptions& to) override {
    to.add(*this, {PITRACE_MAJOR_DISPATCH, PITRACE_MAJOR_MTE});
  }
  bool take(const Arrival& arrival) override { return times_.take(arrival); }
  void end_stream(const Stream& stream) override { times_.end_stream(stream); }
  void end_trace() override { times_.end_trace(); }

  // The times from the first dispatch of the trace to its last.
  const OffCpu& times() const { return times_; }

 private:
  OffCpu times_;
};

}  // namespace post

#endif  // POST_WAITING_H
