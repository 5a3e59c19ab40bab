// SPDX-License-Identifier: MIT
// The state of the engine: the recording's settings and the list of threads.
#ifndef PI_CALLFLOW_SESSION_H
#define PI_CALLFLOW_SESSION_H

#include <atomic>
#include <cstdint>
#include <mutex>

#include "engine.h"
#include "thread_tree.h"

namespace pi::callflow {

// Settings of one start(). Constant, and never freed: a thread may read it at any time.
struct Session {
  Settings settings;
  Recording::Shape shape;
  uint64_t number = 0;
  const Session* before = nullptr;  // so that tools that search for leaks find it
};

struct State {
  std::atomic<const Session*> session;
  std::atomic<uint64_t> epoch;  // changes with start() and reset()
  std::atomic<ThreadTree*> threads;
  std::atomic<uint64_t> thread_count;
  std::atomic<uint64_t> lost_threads;
  std::atomic<Recording*> retired;  // recordings of earlier epochs, which no event uses
  std::mutex control;               // of start(), stop(), reset() and snapshots
};

extern State state;

}  // namespace pi::callflow

#endif  // PI_CALLFLOW_SESSION_H
