// SPDX-License-Identifier: MIT
// Merges the stacks of many traces into one tree of call paths.
#ifndef FLEET_CALL_PATHS_H
#define FLEET_CALL_PATHS_H

#include <pi/result.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "text/path_tree.h"
#include "text/string_table.h"

namespace fleet {

class CallPaths {
 public:
  // Of one trace after the other; each stack after its caller, which is on a lower number.
  pi::Status add_stack(const std::string& trace, int64_t stack, std::optional<int64_t> caller,
                       const std::string& function);
  // Of a stack that was added.
  pi::Status add_ticks(const std::string& trace, int64_t stack, const std::string& process,
                       int64_t ticks);

  struct Row {
    std::string process;
    std::string path;  // functions separated by semicolons, the outermost first
    int64_t ticks = 0;
    auto operator<=>(const Row&) const = default;
  };
  std::vector<Row> rows() const;  // sorted

 private:
  post::StringTable names_;
  post::PathTree tree_;
  std::map<std::string, std::unordered_map<int64_t, uint32_t>> places_;  // of stacks, by trace
  std::map<std::pair<post::NameId, uint32_t>, int64_t> ticks_;           // by process and place
};

}  // namespace fleet

#endif  // FLEET_CALL_PATHS_H
