// SPDX-License-Identifier: MIT
// The probes of each kind of meter.
#include "probes.h"

#include "meter_reads.h"
#include "session.h"
#include "thread_tree.h"

namespace pi::callflow {

std::atomic<Reader> meter_reader = nullptr;

std::atomic<size_t> reader_values = 0;

namespace {

constexpr auto relaxed = std::memory_order_relaxed;

bool is_ready(const ThreadTree* tree) {
  return tree && tree->inside.load(relaxed) == 0 && tree->epoch == state.epoch.load(relaxed);
}

// The early read. After this, events of signal handlers do not touch the tree. Null: the event is
// not recorded.
template <class Read>
[[gnu::always_inline]] inline ThreadTree* begin_event(ThreadTree*& mine, Reading& early,
                                                      Type type) {
  early.failed = Read::read(early.value);
  const auto frame = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  ThreadTree* tree = mine;
  if (!is_ready(tree)) [[unlikely]] {
    tree = prepare(mine, frame, Read::kind, type);
    if (!tree) return nullptr;
  }
  tree->inside.store(frame, relaxed);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  return tree;
}

// The late read.
template <class Read>
[[gnu::always_inline]] inline void end_event(ThreadTree& tree) {
  tree.late.failed = Read::read(tree.late.value);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  tree.inside.store(0, relaxed);
}

template <class Read>
void enter_event(ThreadTree*& mine, uint64_t method, Type type, Place place) {
  Reading early;
  ThreadTree* tree = begin_event<Read>(mine, early, type);
  if (!tree) return;
  tree->mine->enter(early, tree->late, method, type, place);
  end_event<Read>(*tree);
}

template <class Read>
void leave_event(ThreadTree*& mine, uint64_t method, Type type, Transition how, Place place) {
  Reading early;
  ThreadTree* tree = begin_event<Read>(mine, early, type);
  if (!tree) return;
  tree->mine->leave(early, tree->late, method, type, how, place);
  end_event<Read>(*tree);
}

void ignore_enter(ThreadTree*&, uint64_t, Type, Place) {}
void ignore_leave(ThreadTree*&, uint64_t, Type, Transition, Place) {}

template <class Read>
constexpr Probes probes_with = {enter_event<Read>, leave_event<Read>};

}  // namespace

std::atomic<EnterProbe> enter_probe = ignore_enter;
std::atomic<LeaveProbe> leave_probe = ignore_leave;

Probes no_probes() {
  return {ignore_enter, ignore_leave};
}

Probes probes_of(MeterKind kind) {
  switch (kind) {
    case MeterKind::none:
      return probes_with<ReadNothing>;
    case MeterKind::raw_cycles:
      return probes_with<ReadCycles>;
    case MeterKind::thread_clock:
      return probes_with<ReadClock>;
    case MeterKind::reader:
      return probes_with<ReadByFunction>;
    case MeterKind::reader_and_raw_cycles:
      return probes_with<ReadByFunctionAndCycles>;
  }
  return no_probes();
}

}  // namespace pi::callflow
