// SPDX-License-Identifier: MIT
// Chooses the call paths that the HTML page contains, and adds up the ticks of the others.
#ifndef POST_HTML_PATHS_H
#define POST_HTML_PATHS_H

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/paths_by_time.h"

namespace post {

// Functions on call paths; a path has a higher number than the path above it.
struct HtmlPaths {
  // The frame of a path that represents several paths which are not in the page.
  static constexpr FrameId left_out_frame = UINT32_MAX;
  static constexpr uint32_t none = UINT32_MAX;

  struct Node {
    uint32_t above = none;  // none: it begins the thread
    uint32_t thread = 0;    // place in CallTree::paths()
    FrameId frame = left_out_frame;
  };
  std::vector<Node> nodes;
  std::vector<uint32_t> node_of;  // by place in CallTree::paths(); none: of processes and threads
  uint64_t left_out = 0;          // paths
  uint64_t left_out_ticks = 0;
};

// All paths if there are at most `most`. Otherwise at most half as many, those with the most ticks
// in them and in what they call; the others are joined, those below one path into one. ticks: by
// place of a path.
HtmlPaths choose_paths(const CallTree& calls, const std::vector<TimeSums::Sum>& ticks, size_t most);

}  // namespace post

#endif  // POST_HTML_PATHS_H
