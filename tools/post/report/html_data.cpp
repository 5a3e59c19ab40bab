// SPDX-License-Identifier: MIT
// Writes the data of the HTML page, as JSON.
#include "html_data.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>

#include "html_code.h"
#include "html_columns.h"
#include "html_owners.h"
#include "html_paths.h"
#include "html_sums.h"
#include "html_summary.h"
#include "html_texts.h"
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
    if (states_ && states_->times().dispatches() == 0) states_ = nullptr;
    if (states_) {
      by_thread_ = states_->by_thread;
      running_ = states_->by_cpu;
    }
    unite_bins();
    paths_ = choose_paths(ticks_.calls(), by_path_.sums(), most_paths);
    for (const HtmlPaths::Node& node : paths_.nodes) threads_.push_back(thread_of(node.thread));
    if (!states_) return;
    const OffCpu& times = states_->times();
    for (uint32_t i = 0; i < times.threads(); ++i)
      states_threads_.push_back(is_shown(i) ? owners_.thread_of(times.thread(i)) : HtmlPaths::none);
  }

  bool write(Sink& sink) {
    HtmlColumns out(sink);
    const pi::Json head = html_summary(summary_, ticks_);
    for (const auto& [name, value] : head.members()) out.member(name, value);
    write_time(out);
    write_paths(out);
    write_ticks(out);
    write_cpus(out);
    write_owners(out);
    write_schedule(out);
    write_code(out);
    out.member("names", pi::Json(texts_.all()));
    return out.finish();
  }

 private:
  // Gives all sums the same bins.
  void unite_bins() {
    const std::array<TimeSums*, 4> all = {&by_path_, &by_cpu_, &by_thread_, &running_};
    for (const TimeSums* sums : all)
      if (!sums->empty()) shift_ = std::max(shift_, sums->shift());
    // Together they can have more bins than each of them.
    for (;; ++shift_) {
      first_ = UINT64_MAX;
      last_ = 0;
      for (TimeSums* sums : all) {
        if (sums->empty()) continue;
        sums->coarsen_to(shift_);
        first_ = std::min(first_, sums->first_bin());
        last_ = std::max(last_, sums->last_bin());
      }
      if (first_ > last_) first_ = last_ = 0;
      if (last_ - first_ < TimeSums::Limits{}.bins) return;
    }
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
    std::vector<FrameId> used;
    std::vector<size_t> frames;
    for (const HtmlPaths::Node& node : paths_.nodes) {
      const auto [known, is_new] = frame_numbers_.try_emplace(node.frame, used.size());
      if (is_new) used.push_back(node.frame);
      frames.push_back(known->second);
    }
    out.open("frames");
    out.numbers("symbol", used, [&](FrameId id) { return symbol_of(id); });
    out.numbers("module", used, [&](FrameId id) {
      return id == HtmlPaths::left_out_frame ? 0 : texts_.add(frame(id).module);
    });
    out.numbers("kind", used, [&](FrameId id) { return kind_of(id); });
    out.close();
    out.open("paths");
    out.member("left_out", paths_.left_out);
    out.member("left_out_ticks", paths_.left_out_ticks);
    // 0: the path begins a thread.
    out.numbers("above", paths_.nodes, [](const HtmlPaths::Node& node) { return node.above + 1; });
    out.numbers("frame", frames, [](size_t number) { return number; });
    out.numbers("thread", threads_, [](uint32_t thread) { return thread; });
    out.close();
  }

  const Frame& frame(FrameId id) const { return ticks_.calls().frames().frame(id); }

  size_t symbol_of(FrameId id) {
    if (id == HtmlPaths::left_out_frame) return texts_.add("[left out]");
    if (frame(id).marker) return texts_.add(ticks_.calls().frames().name(id));
    return texts_.add(frame(id).symbol);
  }

  // Also by where it begins: [app+0x1234].
  static bool is_named(Found found) { return found == Found::symbol || found == Found::function; }

  // 1: code of the kernel; 2: no function, but paths or callers that are missing; 4: without a
  // symbol.
  int kind_of(FrameId id) const {
    if (id == HtmlPaths::left_out_frame) return 2;
    const Frame& of = frame(id);
    return (of.kernel ? 1 : 0) | (of.marker ? 2 : 0) | (is_named(of.found) ? 0 : 4);
  }

  void write_ticks(HtmlColumns& out) {
    const Sums sums =
        by_row(by_path_.sums(), [&](uint32_t place) { return paths_.node_of[place]; });
    out.open("ticks");
    write_sums(out, sums, paths_.nodes.size(), first_, false);
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

  const Summary& summary_;
  const PathsByTime& ticks_;
  const StatesByTime* states_;  // nullptr: the trace has no context switches, or parts are selected
  HtmlTexts texts_;
  TimeSums by_path_;  // copies of the sums, whose bins become the same
  TimeSums by_cpu_;
  TimeSums by_thread_;
  TimeSums running_;
  HtmlPaths paths_;
  HtmlOwners owners_;
  std::unordered_map<uint32_t, uint32_t> by_place_;  // threads
  std::unordered_map<FrameId, size_t> frame_numbers_;
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
