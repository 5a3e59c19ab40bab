// SPDX-License-Identifier: MIT
// The calling thread's tree of calls, and which of its events are not the program's.
#include "probes/own_tree.h"

namespace pi::jprof {
namespace {

namespace callflow = pi::callflow;

thread_local unsigned works __attribute__((tls_model("initial-exec")));
thread_local bool work_ends __attribute__((tls_model("initial-exec")));
thread_local callflow::Ignored* virtual_thread __attribute__((tls_model("initial-exec")));

}  // namespace

constinit thread_local callflow::ThreadTree* own_tree __attribute__((tls_model("initial-exec"))) =
    nullptr;

AgentWork::AgentWork() {
  if (++works > 1) return;
  callflow::enter(own_tree, agents_work, callflow::Type::other);
  ignored_.emplace(own_tree);
}

AgentWork::~AgentWork() {
  if (--works > 0) return;
  ignored_.reset();
  work_ends = true;
  callflow::leave(own_tree, agents_work, callflow::Type::other, callflow::Transition::exit);
  work_ends = false;
}

bool AgentWork::is_ending() {
  return work_ends;
}

bool AgentWork::is_running() {
  return works > 0;
}

void begin_virtual_thread() {
  if (!virtual_thread) virtual_thread = new callflow::Ignored(own_tree);
}

void end_virtual_thread() {
  delete virtual_thread;
  virtual_thread = nullptr;
}

}  // namespace pi::jprof
