// SPDX-License-Identifier: MIT
// Where threads waited, for the HTML page: call paths, and the time in them.
#include "html_waits.h"

#include <fmt/format.h>

#include "off_cpu_rows.h"

namespace post {
namespace {

// Frames that are no functions: after these of the trace, before that of what is left out.
constexpr FrameId first_reason = HtmlPaths::left_out_frame - leave_reasons - 1;
constexpr FrameId unknown_reason = first_reason + leave_reasons;

}  // namespace

HtmlWaits::HtmlWaits(const StatesByTime& states, const std::vector<uint32_t>& thread_of,
                     const Sums& by_wait, const Sums& by_unknown_wait, size_t most_paths)
    : times_(states.times()) {
  constexpr uint32_t kinds = StatesByTime::wait_states;
  std::vector<uint32_t> places(times_.waits().size(), no_row);  // in the tree, by wait
  Sums all;                                                     // keys: kinds * place + kind
  const auto add = [&](const TimeSums::Sum& sum, uint32_t place) {
    all.push_back({kinds * place + sum.key % kinds, sum.first, sum.last, sum.amount});
  };
  for (const TimeSums::Sum& sum : by_wait) {
    const OffCpu::Wait& wait = times_.waits()[sum.key / kinds];
    const uint32_t thread = thread_of[wait.thread];
    if (thread == no_row) continue;
    uint32_t& place = places[sum.key / kinds];
    if (place == no_row) place = place_of(thread, wait.stack, first_reason + wait.reason);
    add(sum, place);
  }
  for (const TimeSums::Sum& sum : by_unknown_wait)
    if (const uint32_t thread = thread_of[sum.key / kinds]; thread != no_row)
      add(sum, place_of(thread, PathTree::root, unknown_reason));

  paths_ = choose_paths(tree_, by_row(all, [](uint32_t key) { return key / kinds; }), most_paths);
  for (uint32_t kind = 0; kind < kinds; ++kind)
    sums_[kind] = by_row(all, [&](uint32_t key) {
      return key % kinds == kind ? paths_.node_of[key / kinds] : no_row;
    });
}

uint32_t HtmlWaits::place_of(uint32_t thread, uint32_t stack, FrameId reason) {
  uint32_t place = tree_.child(tree_.child(PathTree::root, 0), thread);
  const std::vector<FrameId> frames = times_.stack(stack);
  for (size_t i = frames.size(); i-- > 0;) place = tree_.child(place, frames[i]);
  return tree_.child(place, reason);
}

HtmlFrame HtmlWaits::frame(const Summary& summary, FrameId id) const {
  if (id == HtmlPaths::left_out_frame) return left_out_frame();
  if (id == unknown_reason) return {"[switched out before the trace]", "", 2};
  if (id >= first_reason) return {fmt::format("[{}]", reason_word(id - first_reason)), "", 2};
  return html_frame(summary, times_.frames(), id);
}

}  // namespace post
