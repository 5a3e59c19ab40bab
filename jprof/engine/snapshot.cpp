// SPDX-License-Identifier: MIT
// Copies the trees of all threads and calibrates them.
#include "snapshot.h"

#include <algorithm>
#include <cstring>

#include <pi/files.h>

#include "calibrate.h"
#include "session.h"

namespace pi::callflow {
namespace {

constexpr auto relaxed = std::memory_order_relaxed;
constexpr auto acquire = std::memory_order_acquire;

// By metric and sequence: what is subtracted from each difference.
using Adjustments = std::array<std::vector<uint64_t>, max_metrics>;

// A recording whose nodes were created at the moment of the copy.
struct Source {
  const ThreadTree* thread;
  Recording* recording;
  Node* root;
  Node* newest;
};

std::vector<Source> sources() {
  std::vector<Source> found;
  for (const ThreadTree* thread = state.threads.load(acquire); thread; thread = thread->next) {
    Recording* recording = thread->recording.load(acquire);
    if (!recording || recording->epoch != state.epoch.load(relaxed)) continue;
    // In this order: the root is then among the nodes.
    Node* root = recording->root.load(acquire);
    found.push_back({thread, recording, root, recording->newest.load(acquire)});
  }
  std::reverse(found.begin(), found.end());
  return found;
}

std::string name_of(const ThreadTree& thread) {
  if (thread.named.load(acquire)) return thread.name;
  const std::string tid = std::to_string(thread.tid);
  auto text = pi::read_system_file("/proc/self/task/" + tid + "/comm", 64);
  // In a copy of the process, which writes the logs after a signal, the threads are not its own.
  if (!text) text = pi::read_system_file("/proc/" + tid + "/comm", 64);
  if (!text) return {};
  return text->substr(0, text->find('\n'));
}

void add_observed(const Differences& of_metric, Observed& observed) {
  observed.minimum = std::min(observed.minimum, of_metric.minimum.load(relaxed));
  const uint64_t origin = of_metric.origin.load(relaxed);
  const uint32_t bits = of_metric.width_bits.load(relaxed);
  for (size_t i = 0; i < Differences::buckets; ++i) {
    const uint64_t first = origin + (uint64_t{i} << bits);
    if (const uint64_t count = of_metric.histogram[i].load(relaxed))
      observed.histogram[first] += count;
  }
  const uint64_t inexact = bits > 0 ? origin : origin + Differences::buckets - 1;
  observed.inexact_from = std::min(observed.inexact_from, inexact);
}

AllObserved observe(const std::vector<Source>& all, size_t metrics) {
  AllObserved observed;
  for (const auto& source : all)
    for (SequenceCounts* s = source.recording->newest_sequence.load(acquire); s; s = s->older)
      for (size_t i = 0; i < metrics; ++i) {
        const uint64_t count = s->count.load(relaxed);
        if (count == 0) continue;
        Observed& sum = observed[{i, s->index}];
        sum.count += count;
        add_observed(s->of_metrics()[i], sum);
      }
  return observed;
}

class TreeCopier {
 public:
  TreeCopier(const Source& source, const Adjustments& adjustments)
      : source_(source), shape_(source.recording->shape), adjustments_(adjustments) {}

  std::vector<CallNode> copy() {
    link_callees();
    std::vector<CallNode> nodes;
    nodes.reserve(nodes_.size());
    add(*source_.root, no_parent, nodes);
    for (size_t number = source_.root->number, parent = 0;;) {
      // Down to the first callee, else on to the next one of the caller.
      if (first_callee_[number] != none) {
        number = first_callee_[number];
      } else {
        while (number != source_.root->number && next_callee_[number] == none) {
          number = caller_[number];
          parent = nodes[parent].parent;
        }
        if (number == source_.root->number) break;
        number = next_callee_[number];
        parent = nodes[parent].parent;
      }
      add(*nodes_[number], parent, nodes);
      parent = nodes.size() - 1;
    }
    return nodes;
  }

 private:
  static constexpr uint32_t none = UINT32_MAX;

  // Callees in the order of their creation, so from the newest to the oldest to the front.
  void link_callees() {
    const size_t count = source_.newest->number + size_t{1};
    nodes_.resize(count);
    first_callee_.assign(count, none);
    next_callee_.assign(count, none);
    caller_.assign(count, none);
    for (Node* node = source_.newest; node; node = node->older) {
      nodes_[node->number] = node;
      if (node == source_.root) continue;
      const Node* parent = node->parent.load(acquire);
      // A root that was created since then.
      if (!parent || parent->number >= count) parent = source_.root;
      caller_[node->number] = parent->number;
      next_callee_[node->number] = first_callee_[parent->number];
      first_callee_[parent->number] = node->number;
    }
  }

  void add(Node& from, size_t parent, std::vector<CallNode>& nodes) {
    CallNode node;
    node.parent = parent;
    node.number = from.number;
    node.method = from.method.load(relaxed);
    node.type = from.type.load(relaxed);
    node.entered_before = from.entered_before.load(relaxed);
    node.calls = from.calls.load(relaxed);
    if (parent != no_parent) {
      node.level = nodes[parent].level + 1;
      nodes[parent].callees += node.calls;
    }
    for (size_t i = 0; i < shape_.metrics; ++i)
      node.base[i] = static_cast<int64_t>(from.counts()[i].load(relaxed));
    if (shape_.dispatches) {
      node.dispatches = from.counts()[shape_.metrics].load(relaxed);
      node.interrupts = from.counts()[shape_.metrics + 1].load(relaxed);
    }
    subtract(from.cells, node);
    for (const MoreCells* more = from.more.load(acquire); more; more = more->next.load(acquire))
      subtract(more->cells, node);
    nodes.push_back(node);
  }

  template <class Cells>
  void subtract(const Cells& cells, CallNode& node) const {
    for (const Count& cell : cells) {
      const uint64_t value = cell.load(relaxed);
      if (value == 0) return;
      const size_t sequence = (value >> cell_shift) - 1;
      for (size_t i = 0; i < shape_.metrics; ++i) {
        const auto delta =
            static_cast<int64_t>((value & cell_count_mask) * adjustments_[i][sequence]);
        node.delta[i] += delta;
        node.base[i] -= delta;
      }
    }
  }

  const Source& source_;
  const Recording::Shape& shape_;
  const Adjustments& adjustments_;
  std::vector<Node*> nodes_;
  std::vector<uint32_t> first_callee_;
  std::vector<uint32_t> next_callee_;
  std::vector<uint32_t> caller_;
};

TreeCopy copy_tree(const Source& source, const Adjustments& adjustments) {
  TreeCopy copy;
  copy.tid = source.thread->tid;
  copy.recording = source.recording->number;
  copy.name = name_of(*source.thread);
  copy.ended = source.thread->ended.load(relaxed);
  copy.events = source.recording->events.load(relaxed);
  copy.unwound = source.recording->unwound.load(relaxed);
  for (size_t i = 0; i < max_metrics; ++i)
    copy.own_cost[i] = source.recording->own_cost[i].load(relaxed);
  copy.nodes = TreeCopier(source, adjustments).copy();
  return copy;
}

void add_losses(const Recording& recording, Losses& losses) {
  losses.nodes += recording.lost_nodes.load(relaxed);
  losses.frames += recording.lost_frames.load(relaxed);
  losses.reentered += recording.reentered.load(relaxed);
  losses.abandoned += recording.abandoned.load(relaxed);
  losses.unreadable += recording.unreadable.load(relaxed);
  losses.log += recording.log.lost();
}

}  // namespace

Snapshot take_snapshot(const Calibration& calibration) {
  const std::lock_guard lock(state.control);
  Snapshot snapshot;
  snapshot.calibrated = calibration.on;
  const Session* session = state.session.load(relaxed);
  if (!session) return snapshot;
  snapshot.metrics = session->settings.meter.metrics;
  snapshot.losses.threads = state.lost_threads.load(relaxed);
  const auto all = sources();
  snapshot.sequences =
      calibrate(observe(all, snapshot.metrics.size()), snapshot.metrics, calibration);
  snapshot.bounds = error_bounds(snapshot.sequences, snapshot.metrics.size());
  Adjustments adjustments;
  for (auto& of_metric : adjustments) of_metric.resize(sequence_count);
  for (const auto& s : snapshot.sequences)
    adjustments[s.metric][index_of(s.sequence)] = s.adjustment;
  for (const auto& source : all) {
    snapshot.has_dispatches |= source.recording->slot != nullptr;
    snapshot.threads.push_back(copy_tree(source, adjustments));
    add_losses(*source.recording, snapshot.losses);
  }
  return snapshot;
}

// Under the lock no epoch begins, so that the thread's tree of the training needs no other
// recording.
Minima train_beside(ThreadTree*& mine, void (*work)(), const Minima& stored) {
  const std::lock_guard lock(state.control);
  if (!is_recording()) return stored;
  const Session& session = *state.session.load(relaxed);
  const auto begin_thread = session.settings.meter.begin_thread;
  Recording::Shape shape = session.shape;
  shape.event_log = -1;
  ThreadTree tree;
  tree.epoch = state.epoch.load(relaxed);
  tree.mine = Recording::create(shape, session.number, tree.epoch, tree.tid);
  if (!tree.mine) return stored;
  if (begin_thread) tree.mine->slot = begin_thread();
  ThreadTree* const before = mine;
  mine = &tree;
  work();
  mine = before;
  Snapshot snapshot;
  snapshot.metrics = session.settings.meter.metrics;
  Calibration calibration;
  calibration.stored = stored;
  snapshot.sequences = calibrate(observe({{&tree, tree.mine, nullptr, nullptr}}, shape.metrics),
                                 snapshot.metrics, calibration);
  tree.mine->destroy();
  return observed_minima(snapshot, stored);
}

Minima observed_minima(const Snapshot& snapshot, const Minima& stored, bool learns) {
  Minima minima = stored;
  for (const auto& s : snapshot.sequences) {
    const std::string& metric = snapshot.metrics[s.metric].name;
    const size_t index = index_of(s.sequence);
    if (!s.possible || (!learns && !stored.find(metric, index))) continue;
    Minimum& minimum =
        minima.values.try_emplace({metric, index}, Minimum{s.observed, 0}).first->second;
    minimum.value = std::min(minimum.value, s.observed);
    minimum.count += s.count;
  }
  return minima;
}

}  // namespace pi::callflow
