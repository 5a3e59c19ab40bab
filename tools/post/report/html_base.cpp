// SPDX-License-Identifier: MIT
// The call paths of another trace, with which the HTML page compares its own.
#include "html_base.h"

#include <algorithm>
#include <functional>
#include <map>
#include <unordered_map>
#include <utility>

#include "path_rows.h"
#include "text/labels.h"
#include "text/text.h"

namespace post {
namespace {

// Also by where it begins: [app+0x1234].
bool is_named(Found found) {
  return found == Found::symbol || found == Found::function;
}

// The tree of a trace with one process for each name.
struct United {
  PathTree tree;
  std::vector<uint64_t> own{0};
  std::vector<uint64_t> all;
};

United unite(const CallTree& calls, const StringTable& names, std::vector<std::string>& processes) {
  const std::vector<CallTree::Node> nodes = calls.nodes();
  std::map<std::string, uint32_t> numbers;
  United united;
  std::vector<uint32_t> place(nodes.size());
  for (size_t i = 1; i < nodes.size(); ++i) {
    uint32_t value = nodes[i].id;
    if (nodes[i].kind == CallTree::Node::Kind::process) {
      const auto [known, is_new] =
          numbers.try_emplace(printable(process_base_name(names.text(nodes[i].id), {})),
                              static_cast<uint32_t>(processes.size()));
      if (is_new) processes.push_back(known->first);
      value = known->second;
    }
    place[i] = united.tree.child(place[nodes[i].parent], value);
    united.own.resize(united.tree.size());
    united.own[place[i]] += nodes[i].exclusive;
  }
  united.all = united.own;
  for (size_t at = united.tree.size(); at-- > 1;)
    united.all[united.tree.node(static_cast<uint32_t>(at)).parent] += united.all[at];
  return united;
}

// The fewest ticks of a path that is kept.
uint64_t fewest_ticks(std::vector<uint64_t> ticks, size_t most) {
  if (ticks.size() <= most) return 0;
  const auto limit = ticks.begin() + static_cast<std::ptrdiff_t>(most / 2);
  std::ranges::nth_element(ticks, limit, std::greater());
  return *limit + 1;
}

}  // namespace

HtmlFrame left_out_frame() {
  return {"[left out]", "", 2};
}

HtmlFrame html_frame(const Summary& summary, const Frames& frames, FrameId id) {
  const Frame& of = frames.frame(id);
  return {of.marker ? printable(frames.name(id)) : printable(readable(summary, of.symbol)),
          printable(readable(summary, of.module)),
          (of.kernel ? 1 : 0) | (of.marker ? 2 : 0) | (is_named(of.found) ? 0 : 4)};
}

HtmlBase make_html_base(const Summary& summary, std::string path, size_t most) {
  const CallTree& calls = *summary.find<CallTree>();
  HtmlBase base{std::move(path), calls.ticks(), {}, {}, {}};
  const United united = unite(calls, summary.names, base.processes);
  const uint64_t fewest = fewest_ticks(united.all, most);
  std::map<HtmlFrame, uint32_t> known_frames;
  const auto number_of = [&](HtmlFrame frame) {
    const auto [known, is_new] =
        known_frames.try_emplace(frame, static_cast<uint32_t>(base.frames.size()));
    if (is_new) base.frames.push_back(std::move(frame));
    return known->second;
  };
  std::unordered_map<FrameId, uint32_t> numbers;
  // By place in the tree: 1 more than the place of the node, its process, the node of what is left
  // out below it.
  std::vector<uint32_t> node_of(united.tree.size()), process_of(node_of), rest_of(node_of);
  for (uint32_t place = 1; place < united.tree.size(); ++place) {
    const auto& [parent, value] = united.tree.node(place);
    process_of[place] = parent == PathTree::root ? value : process_of[parent];
    if (parent == PathTree::root) continue;
    if (united.all[place] >= fewest) {
      const auto [frame, is_new] = numbers.try_emplace(value, 0);
      if (is_new) frame->second = number_of(html_frame(summary, calls.frames(), value));
      base.nodes.push_back({node_of[parent], frame->second, process_of[place], united.own[place]});
      node_of[place] = static_cast<uint32_t>(base.nodes.size());
      continue;
    }
    // The last node above it that is kept has one node for all of these.
    node_of[place] = node_of[parent];
    uint32_t above = parent;
    while (united.tree.node(above).parent != PathTree::root && united.all[above] < fewest)
      above = united.tree.node(above).parent;
    if (rest_of[above] == 0) {
      base.nodes.push_back({node_of[above], number_of(left_out_frame()), process_of[place], 0});
      rest_of[above] = static_cast<uint32_t>(base.nodes.size());
    }
    base.nodes[rest_of[above] - 1].ticks += united.own[place];
  }
  return base;
}

}  // namespace post
