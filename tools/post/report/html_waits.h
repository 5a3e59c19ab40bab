// SPDX-License-Identifier: MIT
// Where threads waited, for the HTML page: call paths, and the time in them.
#ifndef POST_HTML_WAITS_H
#define POST_HTML_WAITS_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/states_by_time.h"
#include "html_base.h"
#include "html_paths.h"
#include "html_sums.h"
#include "summary.h"
#include "text/path_tree.h"

namespace post {

class HtmlWaits {
 public:
  // thread_of: by thread of StatesByTime, its number in the page; no_row: the page has no such
  // thread. The sums are by_wait and by_unknown_wait of StatesByTime, with the bins of the page.
  HtmlWaits(const StatesByTime& states, const std::vector<uint32_t>& thread_of, const Sums& by_wait,
            const Sums& by_unknown_wait, size_t most_paths);

  // Paths end with a function, then why the thread left the CPU.
  const HtmlPaths& paths() const { return paths_; }
  uint32_t thread(const HtmlPaths::Node& node) const { return tree_.node(node.thread).value; }
  HtmlFrame frame(const Summary& summary, FrameId id) const;
  // Nanoseconds by path.
  const Sums& sums(StatesByTime::WaitState state) const { return sums_[state]; }

 private:
  uint32_t place_of(uint32_t thread, uint32_t stack, FrameId reason);

  const OffCpu& times_;
  PathTree tree_;  // a node for all processes, threads as numbers of the page, functions, reason
  HtmlPaths paths_;
  std::array<Sums, StatesByTime::wait_states> sums_;
};

}  // namespace post

#endif  // POST_HTML_WAITS_H
