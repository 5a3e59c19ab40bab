// SPDX-License-Identifier: MIT
// What one thread has recorded since the last start or reset.
#include "recording.h"

#include <signal.h>

#include <algorithm>
#include <new>

namespace pi::callflow {
namespace {

constexpr auto relaxed = std::memory_order_relaxed;
constexpr size_t first_table_size = 256;

size_t begin_of_sequence(Type before, Transition first, Type running) {
  return index_of({before, first, running, Transition::entry, Type::interpreted});
}

// Does a function's frame with the same stack pointer still exist, below an event of method? The
// event is its own function's if its address is in that function's code, and then the frame is left
// over; else method is inlined, and its code is in a function whose frame exists.
bool is_inlined(const Frame& frame, uint64_t method, Place place) {
  if (place.pc == method) return false;
  if (place.pc < method) return true;
  if (frame.method == method) return frame.place.pc != place.pc;
  return method < frame.method && frame.method <= place.pc;
}

bool on_alternate_stack() {
  stack_t stack{};
  return ::sigaltstack(nullptr, &stack) == 0 && (stack.ss_flags & SS_ONSTACK) != 0;
}

}  // namespace

Recording* Recording::create(const Shape& shape, uint64_t session, uint64_t epoch, uint32_t tid) {
  // All in one mapping: a process has a limited number of them.
  const size_t bytes = sizeof(Recording) + sequence_count * sizeof(SequenceCounts*) +
                       (shape.limits.frames + 1) * sizeof(Frame);
  void* pages = map_pages(bytes);
  if (!pages) return nullptr;
  auto* r = new (pages) Recording();
  r->bytes_ = bytes;
  r->shape = shape;
  r->session = session;
  r->epoch = epoch;
  static std::atomic<uint64_t> created = 0;
  r->number = ++created;
  r->by_index_ = reinterpret_cast<SequenceCounts**>(r + 1);
  r->bottom_ = r->top_ = reinterpret_cast<Frame*>(r->by_index_ + sequence_count);
  r->end_ = r->bottom_ + shape.limits.frames + 1;
  r->prefix_ = begin_of_sequence(Type::other, Transition::entry, Type::other);
  r->table_size_ = first_table_size;
  r->table_ = static_cast<Node**>(map_pages(first_table_size * sizeof(Node*)));
  Node* root = r->table_ ? r->make_node(nullptr, 0, Type::other) : nullptr;
  if (!root || (shape.event_log >= 0 && !r->log.open(shape.event_log, tid, shape.metrics))) {
    r->destroy();
    return nullptr;
  }
  r->root.store(root, std::memory_order_release);
  *r->bottom_ = {0, root, {UINT64_MAX, 0}, Type::other, false};
  return r;
}

void Recording::destroy() {
  if (log.is_open()) log.close();
  unmap_pages(table_, table_size_ * sizeof(Node*));
  arena_.release();
  unmap_pages(this, bytes_);
}

void Recording::enter_before(uint64_t method, Type type, Place place) {
  push(method, type, place, false, false);
  top_->node->entered_before.store(true, relaxed);
}

void Recording::enter(const Reading& early, const Reading& late, uint64_t method, Type type,
                      Place place) {
  add(events, 1);
  bool alternate = false;
  if (place.stack && (top_->place.stack <= place.stack || top_->alternate))
    forget_dead_frames(method, place, alternate);
  const size_t sequence = charge(early, late, Transition::entry, type);
  if (log.is_open())
    log.append({method, static_cast<uint32_t>(sequence), type, Transition::entry, 0}, difference_);
  push(method, type, place, alternate, true);
}

void Recording::leave(const Reading& early, const Reading& late, uint64_t method, Type type,
                      Transition how, Place place) {
  add(events, 1);
  if (beyond_ > 0 && has_left_frames(place)) beyond_ = 0;
  if (beyond_ > 0) {
    --beyond_;
    return;
  }
  // A frame is gone if already its caller's stack pointer is below that of the event.
  Frame* frame = top_;
  if (place.stack && !frame->alternate)
    while (frame > bottom_ && frame[-1].place.stack && frame[-1].place.stack < place.stack) --frame;
  while (frame > bottom_ && frame->method != method) --frame;
  if (frame > bottom_) {
    // A patched function that ended with a jump to another one returns with it.
    Frame* last = frame;
    if (type == Type::patched_function)
      while (last < top_ && last[1].place.stack == place.stack) ++last;
    forget_above(last);
  } else {
    insert_caller(method, type);
    frame = top_;
  }
  const Type after = frame[-1].type;
  frame->type = type;
  const size_t sequence = charge(early, late, how, after);
  if (log.is_open())
    log.append({method, static_cast<uint32_t>(sequence), type, how, 0}, difference_);
  top_ = frame - 1;
}

// Charges the time since the last event to the running method, and returns the sequence's index.
inline size_t Recording::charge(const Reading& now, const Reading& late, Transition how,
                                Type after) {
  Node& node = *top_->node;
  const size_t sequence =
      prefix_ + static_cast<size_t>(how) * type_count + static_cast<size_t>(after);
  prefix_ = begin_of_sequence(top_->type, how, after);
  if (slot) count_dispatches(node);
  if (shape.metrics == 0) return sequence;
  return charge_metrics(now, late, sequence);
}

size_t Recording::charge_metrics(const Reading& now, const Reading& late, size_t sequence) {
  // Before the first event the thread ran without being measured.
  const bool first = events.load(relaxed) == 1;
  if (first || now.failed || late.failed) {
    if (!first) add(unreadable, 1);
    for (size_t i = 0; i < shape.metrics; ++i) difference_[i] = 0;
  } else {
    measure(now, late);
    count_sequence(sequence, difference_);
    count_in_node(*top_->node, sequence);
  }
  last_early_.failed = now.failed;
  for (size_t i = 0; i < shape.metrics; ++i) last_early_.value[i] = now.value[i];
  return first ? no_sequence : sequence;
}

void Recording::measure(const Reading& now, const Reading& late) {
  Count* counts = top_->node->counts();
  for (size_t i = 0; i < shape.metrics; ++i) {
    // Negative after an event of a signal handler between the early read and this point.
    const auto difference = static_cast<int64_t>(now.value[i] - late.value[i]);
    difference_[i] = difference < 0 ? 0 : static_cast<uint64_t>(difference);
    add(counts[i], difference_[i]);
    if (!last_early_.failed) add(own_cost[i], late.value[i] - last_early_.value[i]);
  }
}

void Recording::count_dispatches(Node& node) {
  Count* counts = node.counts() + shape.metrics;
  add(counts[0], slot->dispatches - dispatches_);
  add(counts[1], slot->interrupts - interrupts_);
  dispatches_ = slot->dispatches;
  interrupts_ = slot->interrupts;
}

void Recording::count_sequence(size_t index, const uint64_t* differences) {
  SequenceCounts* counts = by_index_[index];
  if (!counts) {
    void* taken = arena_.take(sizeof(SequenceCounts) + shape.metrics * sizeof(Differences));
    if (!taken) return;
    counts = new (taken) SequenceCounts;
    counts->older = newest_sequence.load(relaxed);
    counts->index = index;
    by_index_[index] = counts;
    newest_sequence.store(counts, std::memory_order_release);
  }
  const bool first = counts->count.load(relaxed) == 0;
  for (size_t i = 0; i < shape.metrics; ++i)
    counts->of_metrics()[i].add_difference(differences[i], first);
  add(counts->count, 1);
}

void Recording::count_in_node(Node& node, size_t index) {
  const uint64_t id = index + 1;
  const auto counted = [&](auto& cells) {
    for (Count& cell : cells) {
      const uint64_t value = cell.load(relaxed);
      if (value >> cell_shift == id) {
        cell.store(value + 1, relaxed);
        return true;
      }
      if (value == 0) {
        cell.store((id << cell_shift) + 1, relaxed);
        return true;
      }
    }
    return false;
  };
  if (counted(node.cells)) return;
  for (std::atomic<MoreCells*>* next = &node.more;;) {
    MoreCells* more = next->load(relaxed);
    if (!more) {
      void* taken = arena_.take(sizeof(MoreCells));
      if (!taken) return;
      more = new (taken) MoreCells;
      next->store(more, std::memory_order_release);
    }
    if (counted(more->cells)) return;
    next = &more->next;
  }
}

// Removes the frames that longjmp() has removed from the stack.
void Recording::forget_dead_frames(uint64_t method, Place place, bool& alternate) {
  if (top_->alternate) {
    alternate = on_alternate_stack();
    Frame* frame = top_;
    while (frame->alternate && (!alternate || frame->place.stack < place.stack)) --frame;
    forget_above(frame);
    if (alternate) return;
  }
  Frame* frame = top_;
  while (frame->place.stack && frame->place.stack < place.stack) --frame;
  if (frame != top_ && on_alternate_stack()) {
    alternate = true;
    return;
  }
  Frame* same = frame;
  while (same->place.stack == place.stack && !is_inlined(*same, method, place)) --same;
  if (same->place.stack != place.stack) frame = same;
  forget_above(frame);
}

// Has longjmp() left the last frame, and so all calls that have none? Those of an alternate stack
// may be above it.
bool Recording::has_left_frames(Place place) const {
  return top_->place.stack && top_->place.stack < place.stack && !on_alternate_stack();
}

void Recording::forget_above(Frame* frame) {
  if (frame != top_) beyond_ = 0;
  add(unwound, static_cast<uint64_t>(top_ - frame));
  top_ = frame;
}

void Recording::push(uint64_t method, Type type, Place place, bool alternate, bool call) {
  if (top_ + 1 == end_) {
    // A function that returns with its caller has no exit of its own.
    if (type != Type::patched_function || place.pc != 0) ++beyond_;
    add(lost_frames, 1);
    return;
  }
  Node* caller = top_->node;
  Node* node = caller->last_callee;
  if (!node || node->method.load(relaxed) != method || node->type.load(relaxed) != type)
    node = callee_of(caller, method, type);
  if (!node) {
    add(lost_nodes, 1);
    node = caller;
  } else {
    caller->last_callee = node;
    if (call) add(node->calls, 1);
  }
  // Not as one object: the compiler would store its last two fields one by one and load them at
  // once, for which the processor waits.
  Frame& frame = *++top_;
  frame.method = method;
  frame.node = node;
  frame.place = place;
  frame.type = type;
  frame.alternate = alternate;
}

// A method that was entered before the thread's first event ends: what seemed to be the root was
// this method. The new root has nothing of its own yet.
void Recording::insert_caller(uint64_t method, Type type) {
  forget_above(bottom_);
  Node* was_root = bottom_->node;
  const bool has_room = node_count_ < shape.limits.nodes && grow_table();
  Node* new_root = has_room ? make_node(nullptr, 0, Type::other) : nullptr;
  if (!new_root) {
    add(lost_nodes, 1);
    *++top_ = {method, was_root, {}, type, false};
    return;
  }
  was_root->method.store(method, relaxed);
  was_root->type.store(type, relaxed);
  was_root->entered_before.store(true, relaxed);
  was_root->parent.store(new_root, std::memory_order_release);
  *place_of(new_root, method, type) = was_root;
  root.store(new_root, std::memory_order_release);
  bottom_->node = new_root;
  *++top_ = {method, was_root, {}, type, false};
}

Node* Recording::callee_of(Node* caller, uint64_t method, Type type) {
  if (Node* callee = *place_of(caller, method, type)) return callee;
  if (node_count_ >= shape.limits.nodes || !grow_table()) return nullptr;
  return *place_of(caller, method, type) = make_node(caller, method, type);
}

Node* Recording::make_node(Node* parent, uint64_t method, Type type) {
  const size_t counts = shape.metrics + (shape.dispatches ? 2 : 0);
  void* taken = arena_.take(sizeof(Node) + counts * sizeof(Count));
  if (!taken) return nullptr;
  auto* node = new (taken) Node;
  node->method.store(method, relaxed);
  node->type.store(type, relaxed);
  node->parent.store(parent, relaxed);
  node->older = newest.load(relaxed);
  node->number = static_cast<uint32_t>(node_count_++);
  newest.store(node, std::memory_order_release);
  return node;
}

Node** Recording::place_of(const Node* parent, uint64_t method, Type type) {
  uint64_t hash = (reinterpret_cast<uintptr_t>(parent) >> 3) * 0x9e3779b97f4a7c15;
  hash = (hash ^ method ^ static_cast<uint64_t>(type) << 56) * 0xd6e8feb86659fd93;
  hash ^= hash >> 32;
  for (size_t i = hash & (table_size_ - 1);; i = (i + 1) & (table_size_ - 1)) {
    Node* node = table_[i];
    if (!node || (node->parent.load(relaxed) == parent && node->method.load(relaxed) == method &&
                  node->type.load(relaxed) == type))
      return &table_[i];
  }
}

// At most two thirds of the table are used.
bool Recording::grow_table() {
  if (node_count_ * 3 < table_size_ * 2) return true;
  auto* larger = static_cast<Node**>(map_pages(2 * table_size_ * sizeof(Node*)));
  if (!larger) return false;
  unmap_pages(table_, table_size_ * sizeof(Node*));
  table_ = larger;
  table_size_ *= 2;
  for (Node* node = newest.load(relaxed); node; node = node->older)
    if (Node* parent = node->parent.load(relaxed))
      *place_of(parent, node->method.load(relaxed), node->type.load(relaxed)) = node;
  return true;
}

}  // namespace pi::callflow
