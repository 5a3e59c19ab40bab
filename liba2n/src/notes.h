// SPDX-License-Identifier: MIT
// What a report must tell its reader, each sentence once, in the order it came up.
#ifndef A2N_NOTES_H
#define A2N_NOTES_H

#include <cstddef>
#include <deque>
#include <string>
#include <unordered_set>
#include <utility>

namespace a2n {

class Notes {
 public:
  void add(std::string note) {
    if (seen_.insert(note).second) notes_.push_back(std::move(note));
  }
  const char* get(size_t index) const {
    return index < notes_.size() ? notes_[index].c_str() : nullptr;
  }
  size_t size() const { return notes_.size(); }

 private:
  std::unordered_set<std::string> seen_;
  std::deque<std::string> notes_;  // elements never move
};

}  // namespace a2n

#endif  // A2N_NOTES_H
