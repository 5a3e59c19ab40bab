// SPDX-License-Identifier: MIT
// Prepares a thread for its first event of a recording.
#include "thread_tree.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <new>

#include "session.h"
#include "vector_registers.h"

namespace pi::callflow {
namespace {

constexpr auto relaxed = std::memory_order_relaxed;

template <class Object>
void add_to_list(std::atomic<Object*>& list, Object* object, Object* Object::*next) {
  object->*next = list.load(relaxed);
  while (!list.compare_exchange_weak(object->*next, object, std::memory_order_release, relaxed)) {
  }
}

// Not inlined: the saved registers take more of the stack than a signal handler may have.
[[gnu::noinline]] ThreadTree* create_tree(const Session& session) {
  const VectorRegisters kept;
  if (state.thread_count.fetch_add(1, relaxed) < session.settings.limits.threads)
    if (void* pages = map_pages(sizeof(ThreadTree))) {
      auto* tree = new (pages) ThreadTree();
      tree->tid = static_cast<uint32_t>(::syscall(SYS_gettid));
      tree->inside.store(not_recorded, relaxed);
      add_to_list(state.threads, tree, &ThreadTree::next);
      return tree;
    }
  state.thread_count.fetch_sub(1, relaxed);
  return nullptr;
}

// The frames that a new recording begins with: those of the recording before, after reset(), else
// what the caller knows.
void begin_frames(Recording& recording, const Recording* before, const Session& session,
                  Type type) {
  if (before && before->session == recording.session) {
    for (size_t i = 1; i < before->frame_count(); ++i) {
      const Frame& frame = before->frames()[i];
      recording.enter_before(frame.method, frame.type, frame.place);
    }
  } else if (session.settings.initial_frames) {
    std::array<uint64_t, 1024> methods;
    const size_t count = session.settings.initial_frames(methods, type);
    for (size_t i = 0; i < count; ++i) recording.enter_before(methods[i], Type::other, {});
  }
}

// Replaces the recording of an earlier epoch. Events of the thread are ignored meanwhile.
[[gnu::noinline]] void renew(ThreadTree& tree, const Session& session, uint64_t epoch, Type type) {
  const VectorRegisters kept;
  Recording* before = tree.mine;
  const bool same_session = before && before->session == session.number;  // after reset()
  Recording* recording = nullptr;
  tree.epoch = epoch;
  if (!session.settings.select_thread || session.settings.select_thread()) {
    recording = Recording::create(session.shape, session.number, epoch, tree.tid);
    if (!recording) state.lost_threads.fetch_add(1, relaxed);
  }
  if (recording) {
    const auto begin_thread = session.settings.meter.begin_thread;
    if (same_session)
      recording->slot = before->slot;
    else if (begin_thread)
      recording->slot = begin_thread();
    begin_frames(*recording, before, session, type);
  }
  tree.mine = recording;
  tree.recording.store(recording, std::memory_order_release);
  if (before) add_to_list(state.retired, before, &Recording::next_retired);
}

// Has siglongjmp() left the event whose frame address is inside? Then this one is not below it. On
// an alternate stack addresses do not show that, and the event is taken for nested.
bool was_abandoned(uintptr_t inside, uintptr_t frame) {
  stack_t stack{};
  return frame >= inside &&
         (::sigaltstack(nullptr, &stack) != 0 || (stack.ss_flags & SS_ONSTACK) == 0);
}

}  // namespace

ThreadTree* prepare(ThreadTree*& mine, uintptr_t frame, MeterKind kind, Type type) {
  ThreadTree* tree = mine;
  if (tree == &ignored_thread) return nullptr;
  // The epoch first: a session that is newer than its epoch is replaced at the next event, while
  // the shape of an older one would not fit what a snapshot expects.
  const uint64_t epoch = state.epoch.load(std::memory_order_acquire);
  const Session* session = state.session.load(std::memory_order_acquire);
  // A probe of an earlier recording, called while another one started.
  if (!session || session->settings.meter.kind != kind) return nullptr;
  if (!tree) {
    mine = &ignored_thread;
    tree = create_tree(*session);
    mine = tree;
    if (!tree) {
      state.lost_threads.fetch_add(1, relaxed);
      mine = &ignored_thread;
      return nullptr;
    }
  }
  const uintptr_t inside = tree->inside.load(relaxed);
  if (inside > not_recorded) {
    if (!was_abandoned(inside, frame)) {
      add(tree->mine->reentered, 1);
      return nullptr;
    }
    add(tree->mine->abandoned, 1);
    tree->inside.store(0, relaxed);
  }
  if (tree->epoch != epoch) {
    mine = &ignored_thread;
    renew(*tree, *session, epoch, type);
    mine = tree;
    tree->inside.store(tree->mine ? 0 : not_recorded, relaxed);
  }
  return tree->mine ? tree : nullptr;
}

}  // namespace pi::callflow
