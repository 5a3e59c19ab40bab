// SPDX-License-Identifier: MIT
// The settings made before TraceInit(): source, scope, buffer sizes.
#ifndef PI_PERFUTIL_CONFIG_H
#define PI_PERFUTIL_CONFIG_H

#include <cstdint>
#include <string>

#include "perfutil.h"

namespace pi::perfutil {

struct TraceConfig {
  int source = PI_SOURCE_AUTO;
  int scope = PI_SCOPE_AUTO;
  int pid = 0;                                    // process to trace, 0: none named
  uint64_t trace_bytes = PI_TRACE_BYTES_DEFAULT;  // per CPU
  uint64_t mte_bytes = PI_MTE_BYTES_DEFAULT;
  int mode = COLLECTION_MODE_NORMAL;
  uint64_t section_bytes = PI_SECTION_BYTES_DEFAULT;  // of buffers that stream
  std::string file_name = PI_FILE_NAME_DEFAULT;
  bool anonymous = true;  // record anonymous executable mappings
  // Where the kernel describes CPUs and processes; tests use other paths.
  std::string online_path = "/sys/devices/system/cpu/online";
  std::string proc_path = "/proc";
  // Socket at which the perf source accepts user hooks; empty: hook_socket_path().
  std::string hook_path;
};

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_CONFIG_H
