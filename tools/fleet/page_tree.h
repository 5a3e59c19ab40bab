// SPDX-License-Identifier: MIT
// The call paths of a fleet's ticks for the HTML page: by process, host and time.
#ifndef FLEET_PAGE_TREE_H
#define FLEET_PAGE_TREE_H

#include <pi/result.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/time_sums.h"
#include "text/path_tree.h"
#include "text/string_table.h"

namespace fleet {

struct PageFrame {
  std::string function;  // empty: not known
  std::string module;    // empty: not known
  bool kernel = false;
  bool guessed = false;  // that this function called the one below
  auto operator<=>(const PageFrame&) const = default;
};

// Stacks of all traces, each call path once.
class PageStacks {
 public:
  // Each stack after its caller; frame: its innermost function.
  pi::Status add(const std::string& trace, int64_t stack, std::optional<int64_t> caller,
                 PageFrame frame);
  // The place of a stack in tree(), whose values are numbers of frames; an error if it is missing.
  pi::Result<uint32_t> find(const std::string& trace, int64_t stack) const;

  const post::PathTree& tree() const { return tree_; }
  const std::vector<PageFrame>& frames() const { return frames_; }

 private:
  post::PathTree tree_;
  std::vector<PageFrame> frames_;
  std::map<PageFrame, uint32_t> numbers_;
  std::map<std::string, std::unordered_map<int64_t, uint32_t>> places_;  // by trace and stack
};

// Ticks by process, thread and call path: a tree as choose_paths() takes it.
class PageTree {
 public:
  explicit PageTree(const PageStacks& stacks) : stacks_(stacks) {}
  void add(const std::string& process, const std::string& thread, uint32_t stack, int64_t micros,
           int64_t ticks);

  const post::PathTree& tree() const { return tree_; }
  post::TimeSums& ticks() { return sums_; }  // by place in tree()
  const std::string& name(post::NameId id) const { return names_.text(id); }
  uint64_t all() const { return all_; }

 private:
  uint32_t place_of(uint32_t thread, uint32_t stack);

  const PageStacks& stacks_;
  post::StringTable names_;
  post::PathTree tree_;
  post::TimeSums sums_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> known_;  // by thread and stack
  uint64_t all_ = 0;
};

}  // namespace fleet

#endif  // FLEET_PAGE_TREE_H
