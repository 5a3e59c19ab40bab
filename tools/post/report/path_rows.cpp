// SPDX-License-Identifier: MIT
// Makes the rows of the page's call paths, by ticks.
#include "path_rows.h"

#include <algorithm>
#include <span>

#include "text/path_tree.h"
#include "text/short_name.h"

namespace post {
namespace {

std::string frame_name(const CallTree& calls, const Summary& summary, FrameId id) {
  const Frame& frame = calls.frames().frame(id);
  if (frame.found != Found::symbol || frame.marker) return calls.frames().folded_name(id);
  return without_arguments(readable(summary, frame.symbol));
}

PathRow row_of(const CallTree& calls, const Summary& summary, const PathTree& paths, uint32_t place,
               uint64_t ticks) {
  std::vector<FrameId> ids;
  for (; place != PathTree::root; place = paths.node(place).parent)
    ids.push_back(paths.node(place).value);
  // Skips the outermost functions that start a thread; the innermost function is always kept.
  while (ids.size() > 1 && starts_thread(calls.frames().frame(ids.back()).start)) ids.pop_back();
  PathRow row{{}, {}, ticks};
  for (auto id = ids.rbegin(); id != ids.rend(); ++id) {
    row.names.push_back(frame_name(calls, summary, calls.frames().certain(*id)));
    row.guessed.push_back(calls.frames().frame(*id).guessed);
  }
  return row;
}

}  // namespace

std::string readable(const Summary& summary, NameId name) {
  const std::string& text = summary.names.text(name);
  return summary.symbolizer ? summary.symbolizer->readable(text) : text;
}

std::vector<PathRow> make_path_rows(const CallTree& calls, const Summary& summary, size_t most,
                                    const CallTree::Wanted& wanted) {
  const std::vector<CallTree::Node> nodes = calls.nodes_with_guesses(wanted);
  PathTree paths;  // of functions alone
  std::vector<uint32_t> place_in(nodes.size());
  std::vector<uint64_t> ticks(1);
  for (uint32_t i = 1; i < nodes.size(); ++i) {
    const CallTree::Node& node = nodes[i];
    if (node.kind != CallTree::Node::Kind::function) continue;
    place_in[i] = paths.child(place_in[node.parent], node.id);
    ticks.resize(std::max<size_t>(ticks.size(), place_in[i] + 1));
    ticks[place_in[i]] += node.exclusive;
  }
  std::vector<uint32_t> hot;
  for (uint32_t place = 1; place < ticks.size(); ++place)
    if (ticks[place] != 0) hot.push_back(place);
  std::ranges::stable_sort(hot, [&](uint32_t a, uint32_t b) { return ticks[a] > ticks[b]; });
  std::vector<PathRow> rows;
  for (const uint32_t place : std::span(hot).first(std::min(most, hot.size())))
    rows.push_back(row_of(calls, summary, paths, place, ticks[place]));
  return rows;
}

}  // namespace post
