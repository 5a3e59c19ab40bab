// SPDX-License-Identifier: MIT
// Makes the rows of the off-CPU report, sorted and clipped.
#include "off_cpu_rows.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace post {
namespace {

// Names of a thread's process and of the thread; if there is no thread, its special number and no
// name.
using ThreadLabels = std::pair<NameId, NameId>;
using ChainLabels = std::array<ThreadLabels, OffCpu::max_chain>;

// Waits with equal threads, reasons and stacks.
struct WaitSum {
  WaitTimes times;
  std::map<ChainLabels, WakerRow> wakers;
};

struct ThreadSum {
  ThreadTimes times;
  std::map<std::pair<LeaveReason, uint32_t>, WaitSum> waits;
};

class RowMaker {
 public:
  RowMaker(const OffCpu& off_cpu, const StringTable& names, uint64_t clip)
      : off_cpu_(off_cpu), names_(names), clip_(clip) {}

  std::vector<ThreadRow> make() {
    collect();
    std::vector<ThreadRow> rows;
    for (auto& [labels, sum] : threads_) {
      const ThreadTimes& times = sum.times;
      if (!enough(times.running + times.runnable + times.blocked)) continue;
      rows.push_back(
          {names_.text(labels.first), names_.text(labels.second), times, wait_rows(sum)});
    }
    std::ranges::stable_sort(rows, [](const ThreadRow& a, const ThreadRow& b) {
      if (a.off() != b.off()) return a.off() > b.off();
      return std::tie(a.process, a.thread) < std::tie(b.process, b.thread);
    });
    return rows;
  }

 private:
  bool enough(uint64_t time) const { return time != 0 && time >= clip_; }

  ThreadLabels labels_of(uint32_t index) const {
    const OffCpu::Thread& thread = off_cpu_.thread(index);
    return {thread.process_label, thread.thread_label};
  }

  void collect() {
    for (uint32_t i = 0; i < off_cpu_.threads(); ++i)
      if (off_cpu_.thread(i).selected) threads_[labels_of(i)].times.add(off_cpu_.thread(i).times);
    std::vector<WaitSum*> sums;  // by wait; none of a thread that is not selected
    for (const OffCpu::Wait& wait : off_cpu_.waits()) {
      if (!off_cpu_.thread(wait.thread).selected) {
        sums.push_back(nullptr);
        continue;
      }
      sums.push_back(&threads_[labels_of(wait.thread)].waits[{wait.reason, wait.stack}]);
      sums.back()->times.add(wait.times);
    }
    for (const OffCpu::Woken& woken : off_cpu_.woken()) {
      if (!sums[woken.wait]) continue;
      WakerRow& row = sums[woken.wait]->wakers[chain_labels(woken.chain)];
      row.count += woken.count;
      row.blocked += woken.blocked;
    }
  }

  ChainLabels chain_labels(const OffCpu::Chain& chain) const {
    ChainLabels labels;
    for (size_t i = 0; i < chain.size(); ++i)
      labels[i] =
          chain[i] >= OffCpu::first_special ? ThreadLabels{chain[i], 0} : labels_of(chain[i]);
    return labels;
  }

  std::vector<std::string> chain_names(const ChainLabels& chain) const {
    std::vector<std::string> names;
    for (const auto& [process, thread] : chain) {
      if (process == OffCpu::no_thread) break;
      if (process == OffCpu::by_interrupt)
        names.emplace_back("an interrupt");
      else if (process == OffCpu::idle)
        names.emplace_back("the idle task");
      else
        names.push_back(names_.text(process) + " " + names_.text(thread));
    }
    return names;
  }

  std::vector<WaitRow> wait_rows(const ThreadSum& sum) const {
    std::vector<WaitRow> rows;
    for (const auto& [key, wait] : sum.waits) {
      if (!enough(wait.times.blocked + wait.times.runnable)) continue;
      WaitRow& row = rows.emplace_back(WaitRow{key.first, {}, {}, wait.times, waker_rows(wait)});
      for (const FrameId id : off_cpu_.stack(key.second)) add_frame(row, id);
    }
    std::ranges::stable_sort(rows, [](const WaitRow& a, const WaitRow& b) {
      const uint64_t first = a.times.blocked + a.times.runnable;
      const uint64_t second = b.times.blocked + b.times.runnable;
      if (first != second) return first > second;
      return std::tie(a.reason, a.frames, a.guessed) < std::tie(b.reason, b.frames, b.guessed);
    });
    return rows;
  }

  void add_frame(WaitRow& row, FrameId id) const {
    row.frames.push_back(off_cpu_.frames().name(id));
    row.guessed.push_back(off_cpu_.frames().frame(id).guessed);
  }

  std::vector<WakerRow> waker_rows(const WaitSum& wait) const {
    std::vector<WakerRow> rows;
    for (const auto& [chain, row] : wait.wakers)
      if (enough(row.blocked)) rows.push_back({chain_names(chain), row.count, row.blocked});
    std::ranges::stable_sort(rows, [](const WakerRow& a, const WakerRow& b) {
      return a.blocked != b.blocked ? a.blocked > b.blocked : a.chain < b.chain;
    });
    return rows;
  }

  const OffCpu& off_cpu_;
  const StringTable& names_;
  const uint64_t clip_;
  std::map<ThreadLabels, ThreadSum> threads_;
};

}  // namespace

std::vector<ThreadRow> make_thread_rows(const OffCpu& off_cpu, const StringTable& names,
                                        uint64_t clip) {
  return RowMaker(off_cpu, names, clip).make();
}

}  // namespace post
