// SPDX-License-Identifier: MIT
// The call trees of a log-rt, read from the JSON that JProf and libhookit write (log-rt(5)).
#ifndef LOGRT_CALL_FLOW_H
#define LOGRT_CALL_FLOW_H

#include <pi/result.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace logrt {

// A method in one thread's tree, or the thread itself.
struct Node {
  uint32_t level = 0;  // 0: the thread
  uint32_t name = 0;   // index in CallFlow::names
  uint64_t calls = 0;
  int64_t base = 0;  // of the selected metric, without callees
};

struct CallFlow {
  std::string path;    // of the file
  std::string metric;  // the selected one; empty: calls were counted only
  std::string unit;
  bool calibrated = false;
  double error_bound = 0;  // of a call or a return, in the unit
  size_t threads = 0;
  std::string lost;  // what is missing: "3 nodes, 2 threads"; empty: nothing
  std::vector<std::string> names;
  // Depth first, thread after thread; each has at most one level more than the node before.
  std::vector<Node> nodes;
};

// The largest file that is read.
constexpr size_t max_file_bytes = size_t{1} << 30;

// metric: empty selects the first one. Errors: the file cannot be read, is larger than
// max_file_bytes, has another form, or does not have that metric.
pi::Result<CallFlow> read_call_flow(const std::string& path, const std::string& metric);

// The same for text. path: for messages.
pi::Result<CallFlow> parse_call_flow(std::string_view text, const std::string& path,
                                     const std::string& metric);

}  // namespace logrt

#endif  // LOGRT_CALL_FLOW_H
