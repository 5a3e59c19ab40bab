// SPDX-License-Identifier: MIT
// What one thread has recorded since the last start or reset. Its thread writes; other threads read
// the atomic fields at any time, which are stored relaxed, so that an event costs no fence.
#ifndef PI_CALLFLOW_RECORDING_H
#define PI_CALLFLOW_RECORDING_H

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "engine.h"
#include "event_buffer.h"
#include "memory.h"
#include "types.h"

namespace pi::callflow {

using Count = std::atomic<uint64_t>;

// One writer: no locked instruction.
inline void add(Count& count, uint64_t value) {
  count.store(count.load(std::memory_order_relaxed) + value, std::memory_order_relaxed);
}

// The values that a meter read.
struct Reading {
  int failed;
  uint64_t value[max_metrics];
};

// How many differences of a sequence a node has: the sequence's index + 1 in the upper 16 bits, 0
// if the cell is free, and the count below.
constexpr unsigned cell_shift = 48;
constexpr uint64_t cell_count_mask = (uint64_t{1} << cell_shift) - 1;

struct MoreCells {
  std::array<Count, 7> cells;
  std::atomic<MoreCells*> next;
};

// A method in the tree. Node::counts has a sum for each metric, then dispatches and interrupts if
// they are counted.
struct Node {
  static constexpr size_t own_cells = 3;  // most methods have no more: entry, calls, exit

  std::atomic<uint64_t> method;
  std::atomic<Node*> parent;  // null: the root
  Node* older;                // the node created before
  Node* last_callee;
  Count calls;
  std::atomic<MoreCells*> more;
  std::array<Count, own_cells> cells;
  uint32_t number;  // in the order of creation, from 0
  std::atomic<Type> type;
  std::atomic<bool> entered_before;

  Count* counts() { return reinterpret_cast<Count*>(this + 1); }
};

// The differences of a sequence for one metric: their minimum, and a histogram above it that shows
// the most frequent one.
struct Differences {
  static constexpr size_t buckets = 64;

  Count minimum;
  Count origin;                      // of bucket 0
  std::atomic<uint32_t> width_bits;  // a bucket has 2^width_bits values; the last one all others
  std::array<Count, buckets> histogram;

  void add_difference(uint64_t difference, bool first);

 private:
  void move_origin(uint64_t difference);
};

struct SequenceCounts {
  SequenceCounts* older;
  size_t index;
  Count count;
  Differences* of_metrics() { return reinterpret_cast<Differences*>(this + 1); }
};

struct Frame {
  uint64_t method;
  Node* node;  // the caller's, if the tree is full
  Place place;
  Type type;
  bool alternate;  // on the alternate signal stack, and that is above the frame before
};

class Recording {
 public:
  // Settings that all recordings of a start share; they do not change until all threads have left.
  struct Shape {
    size_t metrics = 0;
    bool dispatches = false;
    Limits limits;
    int event_log = -1;
  };

  // Null if there is no memory. session: number of the start; epoch: of the start or reset.
  static Recording* create(const Shape& shape, uint64_t session, uint64_t epoch, uint32_t tid);
  void destroy();

  // Frames that the thread entered before its first event.
  void enter_before(uint64_t method, Type type, Place place);

  // An event of the thread. early: the event's first reading; late: the last one of its event
  // before.
  void enter(const Reading& early, const Reading& late, uint64_t method, Type type, Place place);
  void leave(const Reading& early, const Reading& late, uint64_t method, Type type, Transition how,
             Place place);

  // The number of the node to which the thread's next event charges. Only in the thread itself.
  uint32_t running_node() const { return top_->node->number; }

  const Frame* frames() const { return bottom_; }
  size_t frame_count() const { return static_cast<size_t>(top_ - bottom_) + 1; }

  // What a snapshot reads.
  std::atomic<Node*> root;
  std::atomic<Node*> newest;
  std::atomic<SequenceCounts*> newest_sequence;
  Count events;
  Count unwound;
  Count lost_nodes;
  Count lost_frames;
  Count reentered;
  Count abandoned;
  Count unreadable;
  std::array<Count, max_metrics> own_cost;

  const pitrace_ptt_slot* slot;
  EventBuffer log;
  Shape shape;
  uint64_t session;
  uint64_t epoch;
  uint64_t number;  // from 1; no other recording of the process has it
  Recording* next_retired;

 private:
  Recording() = default;

  // Inlined, as without metrics they are half of what an event costs; the rest is not.
  [[gnu::always_inline]] size_t charge(const Reading& early, const Reading& late, Transition how,
                                       Type after);
  [[gnu::noinline]] size_t charge_metrics(const Reading& early, const Reading& late,
                                          size_t sequence);
  void measure(const Reading& now, const Reading& late);
  void count_sequence(size_t index, const uint64_t* differences);
  void count_in_node(Node& node, size_t index);
  void count_dispatches(Node& node);
  void forget_dead_frames(uint64_t method, Place place, bool& alternate);
  bool has_left_frames(Place place) const;
  void forget_above(Frame* frame);
  void push(uint64_t method, Type type, Place place, bool alternate, bool call);
  void insert_caller(uint64_t method, Type type);
  Node* callee_of(Node* caller, uint64_t method, Type type);
  Node* make_node(Node* parent, uint64_t method, Type type);
  bool grow_table();
  Node** place_of(const Node* parent, uint64_t method, Type type);

  size_t bytes_;
  Arena arena_;
  size_t node_count_;
  Node** table_;  // open addressing, by parent, method and type
  size_t table_size_;
  Frame* top_;
  Frame* bottom_;
  Frame* end_;
  uint64_t beyond_;  // running calls that have no frame
  size_t prefix_;    // the last event's part of the sequence's index
  uint64_t dispatches_;
  uint64_t interrupts_;
  SequenceCounts** by_index_;         // null: not seen yet
  Reading last_early_;                // of the last event, for own_cost
  uint64_t difference_[max_metrics];  // of the last event
};

}  // namespace pi::callflow

#endif  // PI_CALLFLOW_RECORDING_H
