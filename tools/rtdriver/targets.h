// SPDX-License-Identifier: MIT
// The JVMs that a command line names, connected.
#ifndef PI_RTDRIVER_TARGETS_H
#define PI_RTDRIVER_TARGETS_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <pi/result.h>

#include "connection.h"

namespace pi::rtdriver {

struct Wanted {
  std::vector<uint32_t> pids;    // --pid; none: those of this machine
  bool by_port = false;          // -n, -a, or -p
  std::optional<unsigned> port;  // -p; nothing: the usual ones
  std::string key_file;          // --key
  bool all = false;              // -b
};

struct Jvm {
  std::string name;  // in messages: the process id, or "port" and its number
  uint32_t pid = 0;
  unsigned port = 0;
  Connection connection;
};

// At least one JVM. The error's message is a sentence.
Result<std::vector<Jvm>> connect_to(const Wanted& wanted);

// Is it a name or an address of this machine's loopback interface?
Status check_loopback_name(const std::string& name);
Status check_loopback_address(const std::string& address);

}  // namespace pi::rtdriver

#endif  // PI_RTDRIVER_TARGETS_H
