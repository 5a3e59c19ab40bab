// SPDX-License-Identifier: MIT
// Call flow: a tree of calls for each thread, with what each call of each method took.
//
// Probes call enter() and leave() with the caller's own ids of methods; names are looked up when a
// report is written (report.h). Between two events of a thread, the difference of the early read of
// the second and the late read of the first is charged to the method that runs between them, and
// counted by the sequence of types and transitions, which calibration needs (snapshot.h).
//
// One recording exists in the process. An event allocates only when a chunk of memory is full, and
// takes no lock. It is async-signal-safe, except for a thread's first event with a
// Meter::begin_thread that is not. Memory comes from mmap(), never from malloc().
#ifndef PI_CALLFLOW_ENGINE_H
#define PI_CALLFLOW_ENGINE_H

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include <pi/result.h>

#include "meter.h"
#include "types.h"

namespace pi::callflow {

// What the engine knows about a thread: its stack and its tree. It belongs to the engine and exists
// until the process ends; each thread keeps one pointer to its own, null at first:
//   thread_local ThreadTree* my_tree __attribute__((tls_model("initial-exec")));
struct ThreadTree;

// Where an event happens, for callers that longjmp() may leave without an event. Zeros: not known,
// as in Java, where every exit is an event.
struct Place {
  // The stack pointer of the method at the call of the probe. Frames with a lower one are gone.
  uint64_t stack = 0;
  // The address to which the probe returns; then method is the address of the method's code. An
  // inlined method has its caller's stack pointer, and this address is in the caller's code. Equal
  // to method: the method was called, and so nothing else has its stack pointer. 0, of a
  // patched_function: its caller ended with a jump to it, and both return at once.
  uint64_t pc = 0;
};

using EnterProbe = void (*)(ThreadTree*& mine, uint64_t method, Type type, Place place);
using LeaveProbe = void (*)(ThreadTree*& mine, uint64_t method, Type type, Transition how,
                            Place place);

// The probes of the current meter; while nothing is recorded, functions that do nothing. Use
// enter() and leave().
extern std::atomic<EnterProbe> enter_probe;
extern std::atomic<LeaveProbe> leave_probe;

// The calling thread enters a method. mine: its own pointer, which the first event sets. From any
// thread and any signal handler. An event that interrupts another event of its thread is counted
// as lost.
inline void enter(ThreadTree*& mine, uint64_t method, Type type, Place place = {}) {
  enter_probe.load(std::memory_order_relaxed)(mine, method, type, place);
}

// The calling thread leaves a method; how: exit or exit_by_exception; type: the method's at this
// moment. Frames above the method's own, which longjmp() or an exception has removed without an
// event, are removed too. A method whose entry was not seen becomes the caller of all that the
// thread has done so far, with no calls.
inline void leave(ThreadTree*& mine, uint64_t method, Type type, Transition how, Place place = {}) {
  leave_probe.load(std::memory_order_relaxed)(mine, method, type, how, place);
}

struct Limits {
  size_t nodes = size_t{1} << 20;   // of each thread's tree
  size_t frames = size_t{1} << 20;  // of each thread's stack
  size_t threads = 65536;
};

struct Settings {
  Meter meter;
  Limits limits;

  // Is a thread recorded? Called in each thread at its first event, inside the event (see
  // Meter::begin_thread). Null: every thread.
  bool (*select_thread)() = nullptr;

  // The methods that the calling thread has entered before its first event, outermost first: writes
  // at most frames.size() of them and returns how many. type: that of the event's method. Called as
  // select_thread. Null: unknown.
  size_t (*initial_frames)(std::span<uint64_t> frames, Type type) = nullptr;

  // A descriptor of an empty file, opened with O_APPEND, to which threads append their events for
  // log_gen() (event_log.h); the caller's, open until stop() has returned. -1: none.
  int event_log = -1;
};

// Starts a recording; one that exists ends, and its counts are discarded. Each thread's tree begins
// with its next event. Errors: EINVAL: more than max_metrics, or a kind of meter without its
// reader. The functions of this group may be called from any thread, but not from a signal handler.
pi::Status start(const Settings& settings);

// Ends the recording: further events do nothing. The counts stay until start() or reset().
void stop();

// Sets all counts to 0; the recording continues. Methods that are running are shown with no calls.
void reset();

bool is_recording();

// The calling thread ends: takes its last name. Events after this are still recorded.
void thread_ends(ThreadTree* mine);

// A node of a thread's tree.
struct NodeId {
  uint64_t recording = 0;  // TreeCopy::recording; 0: there is none
  uint32_t node = 0;       // CallNode::number
};

// What the calling thread is running: the node that its next event charges. None before its first
// event, and while its events are ignored. Async-signal-safe, but not during an event.
NodeId running_node(const ThreadTree* mine);

// In the child of fork(), before any event: forgets all threads and ends the recording. The child
// starts with start(). mine: the pointer of the calling thread, which becomes null.
void child_of_fork(ThreadTree*& mine);

// While an object exists, events of its thread are ignored and do not appear as lost: code of the
// profiler itself, such as writing a report. mine: as in enter(). May be nested.
class Ignored {
 public:
  explicit Ignored(ThreadTree*& mine);
  ~Ignored();
  Ignored(const Ignored&) = delete;
  Ignored& operator=(const Ignored&) = delete;

 private:
  ThreadTree*& mine_;
  ThreadTree* const before_;
};

}  // namespace pi::callflow

#endif  // PI_CALLFLOW_ENGINE_H
