// SPDX-License-Identifier: MIT
// State of one process: a child of fork() begins with a new state.
#ifndef PI_PERFUTIL_PROCESS_H
#define PI_PERFUTIL_PROCESS_H

#include <cstdint>
#include <mutex>

namespace pi::perfutil {

// Serialises the calls of this process. Free in a child, even if a thread of the parent held it.
std::mutex& call_mutex();

// With call_mutex() held. The number differs between a child and its parent, however it was forked.
uint32_t process_number();

// With call_mutex() held. A child neither uses nor destroys inherited state: another thread of the
// parent may have been changing it, and destroying it could end something of the parent's.
template <class State>
class OfProcess {
 public:
  State& get() {
    if (process_ != process_number()) {
      newest_ = new Node{newest_, {}};
      process_ = process_number();
    }
    return newest_->state;
  }

 private:
  struct Node {
    Node* inherited;  // kept, so that it is no leak
    State state;
  };

  Node* newest_ = nullptr;
  uint32_t process_ = 0;
};

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_PROCESS_H
