// SPDX-License-Identifier: MIT
// Chooses the call paths that the HTML page contains, and adds up the ticks (or time) of the
// others.
#ifndef POST_HTML_PATHS_H
#define POST_HTML_PATHS_H

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/time_sums.h"
#include "state/frames.h"
#include "text/path_tree.h"

namespace post {

// Functions on call paths; a path has a higher number than the path above it.
struct HtmlPaths {
  // The frame of a path that represents several paths which are not in the page.
  static constexpr FrameId left_out_frame = UINT32_MAX;
  static constexpr uint32_t none = UINT32_MAX;

  struct Node {
    uint32_t above = none;  // none: it begins the thread
    uint32_t thread = 0;    // place in the tree
    FrameId frame = left_out_frame;
  };
  std::vector<Node> nodes;
  std::vector<uint32_t> node_of;  // by place in the tree; none: of processes and threads
  uint64_t left_out = 0;          // paths
  uint64_t left_out_amount = 0;   // of ticks or time
};

// Of a path's frame, also of one that is no function of the trace.
inline bool is_guess(const Frames& frames, FrameId id) {
  return id < frames.size() && frames.frame(id).guessed;
}

// All paths if there are at most `most`. Otherwise at most half as many, those with the most ticks
// (or time) in them and in what they call; the others are joined, those below one path into one.
// tree: below its root are processes, below these threads, below these functions. amounts: by place
// in the tree.
HtmlPaths choose_paths(const PathTree& tree, const std::vector<TimeSums::Sum>& amounts,
                       size_t most);

}  // namespace post

#endif  // POST_HTML_PATHS_H
