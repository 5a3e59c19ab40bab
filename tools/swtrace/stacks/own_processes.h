// SPDX-License-Identifier: MIT
// Which processes belong to root or to the recorder's user: others leave them some of what is
// limited.
#ifndef SWTRACE_OWN_PROCESSES_H
#define SWTRACE_OWN_PROCESSES_H

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>

namespace pi::swtrace {

class OwnProcesses {
 public:
  explicit OwnProcesses(std::string proc = "/proc") : proc_(std::move(proc)) {}
  // By its real user id. False for one that has ended.
  bool has(uint32_t pid);
  // Another program runs there, or none.
  void forget(uint32_t pid) { known_.erase(pid); }

 private:
  const std::string proc_;
  std::unordered_map<uint32_t, bool> known_;
};

}  // namespace pi::swtrace

#endif  // SWTRACE_OWN_PROCESSES_H
