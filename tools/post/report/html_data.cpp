// SPDX-License-Identifier: MIT
// Writes the data of the HTML page, as JSON.
#include "html_data.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "html_base.h"
#include "html_code.h"
#include "html_columns.h"
#include "html_flow.h"
#include "html_owners.h"
#include "html_paths.h"
#include "html_sums.h"
#include "html_tables.h"
#include "html_summary.h"
#include "html_texts.h"
#include "html_waits.h"
#include "subject.h"
#include "text/labels.h"
#include "text/text.h"

namespace post {
namespace {

class HtmlData {
 public:
  HtmlData(const Summary& summary, size_t most_paths)
      : summary_(summary),
        ticks_(*summary.find<PathsByTime>()),
        states_(summary.find<StatesByTime>()),
        texts_(summary),
        by_path_(ticks_.by_path),
        by_cpu_(ticks_.by_cpu) {
    if (states_) {
      hooks_ = &states_->hooks;
      by_hook_ = hooks_->by_kind;
    }
    if (states_ && states_->times().dispatches() == 0) states_ = nullptr;
    if (states_) {
      by_thread_ = states_->by_thread;
      running_ = states_->by_cpu;
      by_wait_ = states_->by_wait;
      by_unknown_wait_ = states_->by_unknown_wait;
      by_waker_ = states_->by_waker;
    }
    unite_bins();
    paths_ = choose_paths(ticks_.calls().paths(), by_path_.sums(), most_paths);
    limit_path_sums();
    for (const HtmlPaths::Node& node : paths_.nodes) threads_.push_back(thread_of(node.thread));
    if (!states_) return;
    const OffCpu& times = states_->times();
    for (uint32_t i = 0; i < times.threads(); ++i)
      states_threads_.push_back(is_shown(i) ? owners_.thread_of(times.thread(i)) : HtmlPaths::none);
    waits_.emplace(*states_, states_threads_, by_wait_.sums(), by_unknown_wait_.sums(), most_paths);
  }

  bool write(Sink& sink) {
    HtmlColumns out(sink);
    const pi::Json head = html_summary(summary_, ticks_);
    for (const auto& [name, value] : head.members()) out.member(name, value);
    out.member("whole_cpus", has_whole_cpus());
    write_time(out);
    write_paths(out);
    write_ticks(out);
    write_cpus(out);
    write_owners(out);
    write_schedule(out);
    write_waits(out);
    write_wakers(out);
    write_hooks(out);
    write_code(out);
    write_base(out);
    write_flow(out);
    write_tables(out);
    out.member("names", pi::Json(texts_.all()));
    return out.finish();
  }

 private:
  // What is missing on a CPU is idle time: nothing was left out by process, or name, or within the
  // time. Context switches are of all threads, whatever is selected.
  bool has_whole_cpus() const {
    const Selection& selected = summary_.options.selection;
    const bool all_ticks =
        !selected.by_name() && selected.times.only.size() <= 1 && selected.times.without.empty();
    return summary_.file.info.has_all_processes() && (states_ || all_ticks);
  }

  std::array<TimeSums*, 8> all_sums() {
    return {&by_path_, &by_cpu_,          &by_thread_, &running_,
            &by_wait_, &by_unknown_wait_, &by_waker_,  &by_hook_};
  }

  // Gives all sums the same bins.
  void unite_bins() {
    const auto all = all_sums();
    for (const TimeSums* sums : all)
      if (!sums->empty()) shift_ = std::max(shift_, sums->shift());
    // Together they can have more bins than each of them.
    for (;; ++shift_) {
      coarsen(all);
      if (last_ - first_ < TimeSums::Limits{}.bins) return;
    }
  }

  // To bins of 2^shift_.
  void coarsen(const std::array<TimeSums*, 8>& all) {
    first_ = UINT64_MAX;
    last_ = 0;
    for (TimeSums* sums : all) {
      if (sums->empty()) continue;
      sums->coarsen_to(shift_);
      first_ = std::min(first_, sums->first_bin());
      last_ = std::max(last_, sums->last_bin());
    }
    if (first_ > last_) first_ = last_ = 0;
  }

  // Sums of the paths that are left out become one, those of others do not.
  void limit_path_sums() {
    while (first_ != last_ && sums_by_path().size() > TimeSums::Limits{}.sums) {
      ++shift_;
      coarsen(all_sums());
    }
  }

  Sums sums_by_path() {
    return by_row(by_path_.sums(), [&](uint32_t place) { return paths_.node_of[place]; });
  }

  uint32_t thread_of(uint32_t place) {
    const auto [known, is_new] = by_place_.try_emplace(place, 0);
    if (is_new) known->second = owners_.thread_of(ticks_, place);
    return known->second;
  }

  bool is_shown(uint32_t thread) const {
    return states_->times().thread(thread).selected &&
           states_->known(thread).first < states_->known(thread).last;
  }

  void write_time(HtmlColumns& out) const {
    const bool any = ticks_.calls().ticks() != 0 || states_;
    out.member("time", {{"first_bin_ns", static_cast<int64_t>((first_ << shift_) - ticks_.begin())},
                        {"bin_ns", uint64_t{1} << shift_},
                        {"bins", any ? last_ - first_ + 1 : 0}});
  }

  // Frames are numbered in the order of their first paths.
  void write_paths(HtmlColumns& out) {
    const Frames& of_trace = ticks_.calls().frames();
    std::vector<FrameId> used;
    std::vector<size_t> frames;
    for (const HtmlPaths::Node& node : paths_.nodes) {
      const FrameId id = is_guess(of_trace, node.frame) ? of_trace.certain(node.frame) : node.frame;
      const auto [known, is_new] = frame_numbers_.try_emplace(id, used.size());
      if (is_new) used.push_back(id);
      frames.push_back(known->second);
    }
    for (const FrameId id : functions_left_out()) {
      frame_numbers_.try_emplace(id, used.size());
      used.push_back(id);
    }
    std::vector<HtmlFrame> of_used;
    std::vector<FrameRow> rows;
    for (const FrameId id : used) {
      of_used.push_back(id == HtmlPaths::left_out_frame ? left_out_frame()
                                                        : html_frame(summary_, of_trace, id));
      rows.push_back(row_of(of_used.back()));
    }
    if (summary_.base) add_base_frames(of_used, rows);
    if (waits_) add_wait_frames(of_used, rows);
    out.open("frames");
    out.numbers("symbol", rows, [](const FrameRow& row) { return row.symbol; });
    out.numbers("module", rows, [](const FrameRow& row) { return row.module; });
    out.numbers("kind", rows, [](const FrameRow& row) { return row.kind; });
    out.close();
    out.open("paths");
    out.member("left_out", paths_.left_out);
    out.member("left_out_ticks", paths_.left_out_amount);
    // 0: the path begins a thread.
    out.numbers("above", paths_.nodes, [](const HtmlPaths::Node& node) { return node.above + 1; });
    out.numbers("frame", frames, [](size_t number) { return number; });
    out.numbers("thread", threads_, [](uint32_t thread) { return thread; });
    out.numbers("guessed", paths_.nodes, [&](const HtmlPaths::Node& node) {
      return is_guess(of_trace, node.frame) ? 1 : 0;
    });
    out.close();
  }

  // Those with the most ticks that are on no path of the page: it can have their code.
  std::vector<FrameId> functions_left_out() {
    constexpr size_t most = 1 << 12;
    if (paths_.left_out == 0) return {};
    const Frames& of_trace = ticks_.calls().frames();
    std::unordered_map<FrameId, uint64_t> ticks;
    for (const TimeSums::Sum& sum : by_path_.sums()) {
      const uint32_t node = paths_.node_of[sum.key];
      if (node == HtmlPaths::none || paths_.nodes[node].frame != HtmlPaths::left_out_frame)
        continue;
      const FrameId frame = ticks_.calls().paths().node(sum.key).value;
      const FrameId id = is_guess(of_trace, frame) ? of_trace.certain(frame) : frame;
      if (!frame_numbers_.contains(id)) ticks[id] += sum.amount;
    }
    std::vector<std::pair<uint64_t, FrameId>> order;
    for (const auto& [id, count] : ticks) order.emplace_back(count, id);
    std::ranges::sort(order, std::greater());
    if (order.size() > most) order.resize(most);
    std::vector<FrameId> functions;
    for (const auto& [count, id] : order) functions.push_back(id);
    return functions;
  }

  struct FrameRow {
    size_t symbol;
    size_t module;
    int kind;
  };
  FrameRow row_of(const HtmlFrame& frame) {
    const size_t symbol = texts_.add(frame.symbol);
    return {symbol, texts_.add(frame.module), frame.kind};
  }

  // The functions of the other trace are numbered as those of this one, also if their module is in
  // another directory now; its own follow these.
  void add_base_frames(const std::vector<HtmlFrame>& frames, std::vector<FrameRow>& rows) {
    const auto without_directory = [](HtmlFrame frame) {
      frame.module.erase(0, frame.module.rfind('/') + 1);
      return frame;
    };
    std::map<HtmlFrame, size_t> numbers;
    for (size_t i = 0; i < frames.size(); ++i) numbers.try_emplace(without_directory(frames[i]), i);
    for (const HtmlFrame& frame : summary_.base->frames) {
      const auto [known, is_new] = numbers.try_emplace(without_directory(frame), rows.size());
      if (is_new) rows.push_back(row_of(frame));
      base_frames_.push_back(known->second);
    }
  }

  // Functions in which threads waited have the numbers of those with ticks; others follow.
  void add_wait_frames(const std::vector<HtmlFrame>& frames, std::vector<FrameRow>& rows) {
    std::map<HtmlFrame, size_t> numbers;
    for (size_t i = 0; i < frames.size(); ++i) numbers.try_emplace(frames[i], i);
    std::unordered_map<FrameId, size_t> by_id;
    for (const HtmlPaths::Node& node : waits_->paths().nodes) {
      const auto [number, is_new_id] = by_id.try_emplace(node.frame, 0);
      if (is_new_id) {
        HtmlFrame frame = waits_->frame(summary_, node.frame);
        const auto [known, is_new] = numbers.try_emplace(frame, rows.size());
        if (is_new) rows.push_back(row_of(frame));
        number->second = known->second;
      }
      wait_frames_.push_back(number->second);
    }
  }

  void write_base(HtmlColumns& out) {
    const HtmlBase* const base = summary_.base;
    if (!base) return out.member("base", nullptr);
    using Node = HtmlBase::Node;
    out.open("base");
    out.member("trace", printable(base->path));
    out.member("ticks", base->ticks);
    out.open("paths");
    out.numbers("above", base->nodes, [](const Node& node) { return node.above; });
    out.numbers("frame", base->nodes, [&](const Node& node) { return base_frames_[node.frame]; });
    out.numbers("process", base->nodes,
                [&](const Node& node) { return texts_.add(base->processes[node.process]); });
    out.numbers("ticks", base->nodes, [](const Node& node) { return node.ticks; });
    out.close();
    out.close();
  }

  void write_ticks(HtmlColumns& out) {
    out.open("ticks");
    write_sums(out, sums_by_path(), paths_.nodes.size(), first_, false);
    out.close();
  }

  void write_code(HtmlColumns& out) {
    const auto frame_of = [this](FrameId id) {
      const auto known = frame_numbers_.find(id);
      return known == frame_numbers_.end() ? no_row : static_cast<uint32_t>(known->second);
    };
    const auto owner_of = [this](uint32_t place) { return thread_of(place); };
    HtmlCode(summary_, ticks_.code, texts_, owner_of, frame_of).write(out, first_, shift_);
  }

  void write_cpus(HtmlColumns& out) {
    const Sums& all = by_cpu_.sums();
    const auto rows = rows_of(all);
    out.open("cpu_ticks");
    out.numbers("cpu", rows, [](const auto& row) { return row.first / 2; });
    out.numbers("idle", rows, [](const auto& row) { return row.first % 2; });
    write_sums(out, by_row(all, [&](uint32_t key) { return rows.at(key); }), rows.size(), first_,
               false);
    out.close();
  }

  void write_owners(HtmlColumns& out) {
    const Subject subject(summary_);
    out.open("processes");
    out.numbers("name", owners_.processes(), [&](const HtmlOwners::Process& process) {
      return texts_.add(
          printable(process_base_name(summary_.names.text(process.label), LabelOptions{})));
    });
    out.numbers("pid", owners_.processes(),
                [](const HtmlOwners::Process& process) { return process.origin.pid; });
    out.numbers("subject", owners_.processes(), [&](const HtmlOwners::Process& process) {
      return subject.contains(process.origin) ? 1 : 0;
    });
    out.close();
    out.open("threads");
    out.numbers("process", owners_.threads(),
                [](const HtmlOwners::Thread& thread) { return thread.process; });
    out.numbers("name", owners_.threads(), [&](const HtmlOwners::Thread& thread) {
      return texts_.add(printable(thread_base_name(summary_.names.text(thread.label), thread.tid)));
    });
    out.numbers("tid", owners_.threads(),
                [](const HtmlOwners::Thread& thread) { return thread.tid; });
    out.close();
  }

  void write_schedule(HtmlColumns& out) {
    if (!states_) return out.member("schedule", nullptr);
    out.open("schedule");
    // Threads whose state is known, and since and until when, in nanoseconds from the first bin.
    std::vector<uint32_t> known;
    for (uint32_t i = 0; i < states_threads_.size(); ++i)
      if (states_threads_[i] != HtmlPaths::none) known.push_back(i);
    out.numbers("thread", known, [&](uint32_t i) { return states_threads_[i]; });
    const uint64_t begin = first_ << shift_;
    out.numbers("from_ns", known, [&](uint32_t i) { return states_->known(i).first - begin; });
    out.numbers("to_ns", known, [&](uint32_t i) { return states_->known(i).last - begin; });
    std::vector<uint32_t> row_of(states_threads_.size(), HtmlPaths::none);
    for (uint32_t row = 0; row < known.size(); ++row) row_of[known[row]] = row;
    constexpr const char* names[] = {"running", "runnable", "unknown"};
    for (uint32_t state = 0; state < StatesByTime::states; ++state) {
      out.open(names[state]);
      const auto row = [&](uint32_t key) {
        return key % StatesByTime::states == state ? row_of[key / StatesByTime::states]
                                                   : HtmlPaths::none;
      };
      write_sums(out, by_row(by_thread_.sums(), row), known.size(), first_, true);
      out.close();
    }
    const Sums& cpus = running_.sums();
    const auto rows = rows_of(cpus);
    out.open("cpu_running");
    out.numbers("cpu", rows, [](const auto& row) { return row.first; });
    write_sums(out, by_row(cpus, [&](uint32_t key) { return rows.at(key); }), rows.size(), first_,
               true);
    out.close();
    out.close();
  }

  void write_waits(HtmlColumns& out) {
    if (!waits_) return out.member("waits", nullptr);
    const HtmlPaths& paths = waits_->paths();
    out.open("waits");
    out.member("stacks", states_->times().stacks().with() != 0);
    out.member("left_out", paths.left_out);
    out.member("left_out_ns", paths.left_out_amount);
    out.numbers("above", paths.nodes, [](const HtmlPaths::Node& node) { return node.above + 1; });
    out.numbers("frame", wait_frames_, [](size_t number) { return number; });
    out.numbers("thread", paths.nodes,
                [&](const HtmlPaths::Node& node) { return waits_->thread(node); });
    out.numbers("guessed", paths.nodes, [&](const HtmlPaths::Node& node) {
      return is_guess(states_->times().frames(), node.frame) ? 1 : 0;
    });
    const auto write_state = [&](const char* name, StatesByTime::WaitState state) {
      out.open(name);
      write_sums(out, waits_->sums(state), paths.nodes.size(), first_, true);
      out.close();
    };
    write_state("blocked", StatesByTime::wait_blocked);
    write_state("runnable", StatesByTime::wait_runnable);
    out.close();
  }

  pi::Json json_of(const HtmlTable& table) {
    return table_json(table, [&](const std::string& name) { return texts_.add(name); });
  }

  void write_flow(HtmlColumns& out) {
    const auto flow = flow_table(summary_);
    out.member("flow", flow ? json_of(*flow) : pi::Json(nullptr));
  }

  void write_tables(HtmlColumns& out) {
    pi::Json tables = pi::Json::array();
    if (summary_.tables != nullptr)
      for (const HtmlTable& table : *summary_.tables) tables.push_back(json_of(table));
    out.member("tables", tables);
  }

  // 0: an interrupt, 1: the idle task, 2: a thread that is not in the page; 3 more than its number.
  uint32_t waker_number(uint32_t waker) const {
    if (waker == OffCpu::by_interrupt) return 0;
    if (waker == OffCpu::idle) return 1;
    const uint32_t thread = states_threads_[waker];
    return thread == no_row ? 2 : thread + 3;
  }

  void write_wakers(HtmlColumns& out) {
    if (!states_) return out.member("wakers", nullptr);
    using Pair = std::pair<uint32_t, uint32_t>;  // the thread that was woken, its waker
    std::vector<Pair> pairs;
    std::map<Pair, uint32_t> rows;
    const PathTree& tree = states_->wakers();
    const Sums sums = by_row(by_waker_.sums(), [&](uint32_t place) {
      const uint32_t thread = states_threads_[tree.node(tree.node(place).parent).value];
      if (thread == no_row) return no_row;
      const Pair pair(thread, waker_number(tree.node(place).value));
      const auto [row, is_new] = rows.try_emplace(pair, static_cast<uint32_t>(pairs.size()));
      if (is_new) pairs.push_back(pair);
      return row->second;
    });
    out.open("wakers");
    out.numbers("thread", pairs, [](const Pair& pair) { return pair.first; });
    out.numbers("waker", pairs, [](const Pair& pair) { return pair.second; });
    write_sums(out, sums, pairs.size(), first_, false);
    out.close();
  }

  void write_hooks(HtmlColumns& out) {
    if (!hooks_) return out.member("hooks", nullptr);
    using Kind = HooksByTime::Kind;
    const std::vector<Kind>& kinds = hooks_->kinds();
    out.open("hooks");
    out.member("without_text", hooks_->without_text());
    out.member("left_out", hooks_->left_out());
    out.numbers("major", kinds, [](const Kind& kind) { return kind.major; });
    out.numbers("minor", kinds, [](const Kind& kind) { return kind.minor; });
    out.numbers("text", kinds, [&](const Kind& kind) { return texts_.add(printable(kind.text)); });
    out.numbers("cpu", kinds, [](const Kind& kind) { return kind.cpu; });
    out.numbers("thread", kinds, [&](const Kind& kind) {
      return kind.thread < states_threads_.size() ? states_threads_[kind.thread] + 1 : 0;
    });
    write_sums(out, by_hook_.sums(), kinds.size(), first_, false);
    out.close();
  }

  const Summary& summary_;
  const PathsByTime& ticks_;
  const StatesByTime* states_;  // nullptr: the trace has no context switches, or parts are selected
  HtmlTexts texts_;
  TimeSums by_path_;  // copies of the sums, whose bins become the same
  TimeSums by_cpu_;
  TimeSums by_thread_;
  TimeSums running_;
  TimeSums by_wait_;
  TimeSums by_unknown_wait_;
  TimeSums by_waker_;
  TimeSums by_hook_;
  const HooksByTime* hooks_ = nullptr;  // where they can be selected
  HtmlPaths paths_;
  HtmlOwners owners_;
  std::unordered_map<uint32_t, uint32_t> by_place_;  // threads
  std::unordered_map<FrameId, size_t> frame_numbers_;
  std::vector<size_t> base_frames_;       // numbers of the other trace's frames
  std::optional<HtmlWaits> waits_;        // where states_ is known
  std::vector<size_t> wait_frames_;       // by path of waits_
  std::vector<uint32_t> threads_;         // by path
  std::vector<uint32_t> states_threads_;  // by thread of StatesByTime
  unsigned shift_ = 0;
  uint64_t first_ = 0;  // bins
  uint64_t last_ = 0;
};

}  // namespace

bool write_html_data(const Summary& summary, Sink& sink, size_t paths) {
  return HtmlData(summary, paths).write(sink);
}

}  // namespace post
