// SPDX-License-Identifier: MIT
// The call paths of another trace, with which the HTML page compares its own.
#ifndef POST_HTML_BASE_H
#define POST_HTML_BASE_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/call_tree.h"
#include "summary.h"

namespace post {

// A function as the page has it.
struct HtmlFrame {
  std::string symbol;
  std::string module;
  int kind = 0;
  auto operator<=>(const HtmlFrame&) const = default;
};
HtmlFrame html_frame(const Summary& summary, const Frames& frames, FrameId id);
HtmlFrame left_out_frame();

// Processes have no ids here, and threads are united: in another run they are others.
struct HtmlBase {
  struct Node {
    uint32_t above = 0;  // 1 more than the place of the caller's node, which is before this one
    uint32_t frame = 0;
    uint32_t process = 0;
    uint64_t ticks = 0;  // on the function itself
  };
  std::string path;  // of the trace
  uint64_t ticks = 0;
  std::vector<std::string> processes;  // names
  std::vector<HtmlFrame> frames;
  std::vector<Node> nodes;
};

constexpr size_t html_base_paths = 100'000;

// most: nodes; rare ones are joined.
HtmlBase make_html_base(const Summary& summary, std::string path, size_t most = html_base_paths);

}  // namespace post

#endif  // POST_HTML_BASE_H
