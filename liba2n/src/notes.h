// SPDX-License-Identifier: MIT
// What a report must tell its reader, each sentence once, in the order it came up.
#ifndef A2N_NOTES_H
#define A2N_NOTES_H

#include <cstddef>
#include <deque>
#include <string>
#include <unordered_set>
#include <utility>

#include "a2n.h"

namespace a2n {

class Notes {
 public:
  // Later notes of a higher A2N_MESSAGES_ level are dropped.
  void set_most(int level) { most_ = level; }

  void add(std::string note, int level = A2N_MESSAGES_WARNING) {
    if (level <= most_ && seen_.insert(note).second) notes_.push_back({std::move(note), level});
  }
  const char* get(size_t index) const {
    return index < notes_.size() ? notes_[index].text.c_str() : nullptr;
  }
  int level(size_t index) const {
    return index < notes_.size() ? notes_[index].level : A2N_MESSAGES_NONE;
  }
  size_t size() const { return notes_.size(); }

 private:
  struct Note {
    std::string text;
    int level;
  };
  int most_ = A2N_MESSAGES_WARNING;
  std::unordered_set<std::string> seen_;
  std::deque<Note> notes_;  // elements never move
};

}  // namespace a2n

#endif  // A2N_NOTES_H
