// SPDX-License-Identifier: MIT
// Writes the report arc: the executed code, one line per block.
#ifndef POST_ARC_H
#define POST_ARC_H

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "arc_lines.h"
#include "arc_options.h"
#include "arc_totals.h"
#include "block_decoder.h"
#include "flow.h"
#include "read/subscriber.h"
#include "state/name_filter.h"
#include "state/processes.h"
#include "text/cache_places.h"
#include "text/string_table.h"

namespace post {

class Arc final : public Subscriber, private FlowSink {
 public:
  // All but the kernel's code and the options must outlive this. filter: decides which threads are
  // shown; none: all are.
  Arc(Processes& processes, Symbolizer& symbolizer, StringTable& names, KernelCode kernel,
      std::unique_ptr<ArcOutput> output, const ArcOptions& options, NameFilter* filter = nullptr);

  // Takes a record for which pi::is_itrace() is true; false when it is invalid. wanted: it is to be
  // shown.
  bool add(const Stream& stream, bool wanted) {
    wanted_ = wanted;
    time_ = stream.time();
    if (wanted) {
      if (totals_.first_time == 0) totals_.first_time = time_;
      totals_.last_time = time_;
    }
    return flow_.add(stream);
  }
  void subscribe(Subscriptions& to) override { subscribe(to, *this); }
  // Subscribes to the records of which an arc is made.
  static void subscribe(Subscriptions& to, Subscriber& subscriber) {
    to.add(subscriber,
           {PITRACE_MAJOR_BRANCH_KERNEL, PITRACE_MAJOR_BRANCH_USER, PITRACE_MAJOR_CUT_KERNEL,
            PITRACE_MAJOR_CUT_USER, PITRACE_MAJOR_ITRACE_GAP, PITRACE_MAJOR_ITRACE_THREAD,
            PITRACE_MAJOR_ITRACE_START, PITRACE_MAJOR_ITRACE_STOP});
  }
  bool take(const Arrival& arrival) override { return add(arrival.stream, arrival.in_range); }
  void end_trace() override { finish(); }
  // Text above the lines; to be called before the first record.
  void put_head(std::string_view text) { output_->put_text(text); }
  // Writes the open lines; false when something could not be written.
  bool finish();

  // After finish().
  const ArcTotals& totals() const { return totals_; }
  const ArcOptions& options() const { return options_; }

 private:
  // Whether a line is folded into the one before, and as what.
  enum class Fold : uint8_t { none, keep, ret };

  // Code and symbols of a block, for all threads that execute it. Cached.
  struct Info {
    uint64_t start = 0;
    uint64_t end = 0;  // or, when a gap ends the block, the count
    uint64_t offset = 0;
    uint64_t target = 0;
    uint32_t version = 0;  // of what is mapped; 0: no entry
    NameId name = no_name;
    uint32_t instructions = 0;
    uint32_t line = 0;
    BlockEnd how = BlockEnd::branch;
    LineType type = LineType::undefined;
    Fold fold = Fold::none;
    bool connected = false;
    bool code = false;  // is known
    bool repeats = false;
    bool narrow = false;
    bool fixed = false;      // target is the only one
    bool generated = false;  // code of a JVM, which replaces targets of calls and jumps
  };

  // A line to which the next block on its CPU may be added.
  struct Open {
    bool any = false;
    bool user = false;
    bool imperfect = false;
    LineType type = LineType::undefined;
    Fold fold = Fold::none;
    NameId name = no_name;
    uint32_t line = 0;
    uint64_t offset = 0;
    uint64_t instructions = 0;
    uint64_t to = 0;
    FlowThread* thread = nullptr;
    std::string text;  // -ss: the instructions
  };
  struct Cpu {
    Open block;   // one line before thunks are folded
    Open merged;  // ... with -c and -ck
  };
  struct Label {
    uint32_t pid = 0;
    uint32_t tid = 0;
    uint32_t version = 0;
    std::string text;
  };

  void thread(uint32_t cpu, FlowThread& thread) override;
  void block(const FlowBlock& block) override;
  void cut(uint32_t cpu, FlowThread& thread, const pi::ItraceCut& cut) override;
  void gap(uint32_t cpu, FlowThread& thread, const pi::ItraceGap& gap, bool user) override;
  void start(FlowThread& thread, const pi::ItraceStart& start) override;
  void stop(FlowThread& thread, const pi::ItraceStop& stop) override;
  void loss(uint32_t cpu) override;

  bool shows(const FlowThread& thread);
  const Info& info_of(const FlowBlock& block, uint64_t start, const Process& process);
  Info make_info(const FlowBlock& block, uint64_t start, uint32_t version, const Process& process);
  void name_block(Info& info, uint64_t address, const Process& process);
  bool is_near(uint64_t start, uint64_t end, const Process& process);
  void count_block(const FlowBlock& block, const Info& info, Open& line);
  void put_instructions(const FlowBlock& block, const Info& info, const Process& process,
                        Open& line);
  bool fold(const FlowBlock& block, Open& line, Open& before);
  void merge_line(uint32_t cpu, Open& line);
  bool belongs(const Open& merged, const Open& line) const;
  void put(const ArcLine& line);
  void write(uint32_t cpu, Open& line);
  void close_block(uint32_t cpu);
  void close(uint32_t cpu);
  void close_thread(const FlowThread& thread);
  Cpu& cpu_of(uint32_t cpu);
  ArcThreadTotals& totals_of(const FlowThread& thread);
  std::string_view label_of(const FlowThread& thread);
  const Process& process_of(const FlowThread& thread) { return processes_.at(thread.pid, time_); }

  Processes& processes_;
  Symbolizer& symbolizer_;
  StringTable& names_;
  const ArcOptions options_;
  const KernelCode kernel_;
  NameFilter* const filter_;
  BlockDecoder decoder_;
  const std::unique_ptr<ArcOutput> output_;
  Flow flow_{*this};
  CachePlaces<Info> places_;
  std::deque<Cpu> cpus_;       // by number
  std::vector<Label> labels_;  // by thread's number
  ArcTotals totals_;
  uint64_t time_ = 0;
  bool wanted_ = true;
};

}  // namespace post

#endif  // POST_ARC_H
