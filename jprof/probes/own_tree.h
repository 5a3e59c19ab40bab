// SPDX-License-Identifier: MIT
// The calling thread's tree of calls, and which of its events are not the program's.
#ifndef PI_JPROF_OWN_TREE_H
#define PI_JPROF_OWN_TREE_H

#include <optional>

#include <engine.h>

namespace pi::jprof {

// Small: a JVM refuses an agent with a large initial-exec object.
extern constinit thread_local pi::callflow::ThreadTree* own_tree
    __attribute__((tls_model("initial-exec")));

// The id of the method that stands for the agent's own work. Reports do not contain it.
constexpr uint64_t agents_work = 0;

// While an object exists, the thread works for the agent: no event is the program's, and the time
// is not charged to the program's methods.
class AgentWork {
 public:
  AgentWork();
  ~AgentWork();
  AgentWork(const AgentWork&) = delete;
  AgentWork& operator=(const AgentWork&) = delete;

  // The calling thread has an object.
  static bool is_running();
  // The calling thread's object is just being destroyed: its work ends with an event.
  static bool is_ending();

 private:
  std::optional<pi::callflow::Ignored> ignored_;
};

// The calling thread begins or ends to carry a virtual thread, whose events are ignored.
void begin_virtual_thread();
void end_virtual_thread();

}  // namespace pi::jprof

#endif  // PI_JPROF_OWN_TREE_H
