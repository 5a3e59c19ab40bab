// SPDX-License-Identifier: MIT
// State of this process alone: a child of fork() begins with a state of its own.
#ifndef PI_PERFUTIL_PROCESS_H
#define PI_PERFUTIL_PROCESS_H

#include <cstdint>
#include <mutex>

namespace pi::perfutil {

// Serialises the calls of this process. Free in a child, even if a thread of the parent held it.
std::mutex& call_mutex();

// With call_mutex() held. Another number in a child than in its parent, however it was forked.
uint32_t process_number();

// With call_mutex() held. What a child inherits is neither used nor destroyed: another thread of
// the parent may have been changing it, and destroying it could end what is the parent's.
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
