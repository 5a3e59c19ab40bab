// SPDX-License-Identifier: MIT
// All that the engine knows about a thread.
#ifndef PI_CALLFLOW_THREAD_TREE_H
#define PI_CALLFLOW_THREAD_TREE_H

#include <atomic>
#include <cstdint>

#include "recording.h"

namespace pi::callflow {

struct ThreadTree {
  // The frame address of the event that runs, not_recorded, or 0. The thread's own signal handlers
  // read it.
  std::atomic<uintptr_t> inside = 0;
  uint64_t epoch = 0;                           // of the recording, also if that does not exist
  Recording* mine = nullptr;                    // the owner's
  Reading late = {};                            // of the last event
  std::atomic<Recording*> recording = nullptr;  // the same, for other threads
  uint32_t tid = 0;
  std::atomic<bool> ended = false;
  std::atomic<bool> named = false;
  char name[16] = {};          // valid if named
  ThreadTree* next = nullptr;  // in the list of all
};

// ThreadTree::inside of a thread that is not selected, or without memory. No frame address.
constexpr uintptr_t not_recorded = 1;

// The tree of threads whose events are ignored. It is never written.
extern ThreadTree ignored_thread;

// Makes the calling thread's tree ready for an event of a meter's kind: creates it, and a recording
// after start() and reset(). frame: the event's frame address; type: of its method. Null: the event
// is not recorded.
ThreadTree* prepare(ThreadTree*& mine, uintptr_t frame, MeterKind kind, Type type);

}  // namespace pi::callflow

#endif  // PI_CALLFLOW_THREAD_TREE_H
