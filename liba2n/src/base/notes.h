// SPDX-License-Identifier: MIT
// Messages for the reader of a report, in order of appearance, without duplicates.
#ifndef A2N_NOTES_H
#define A2N_NOTES_H

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <unordered_set>
#include <utility>

#include "a2n_context.h"

namespace a2n {

class Notes {
 public:
  // Later notes of a higher A2N_MESSAGES_ level are dropped.
  void set_max_level(int level) { max_level_ = level; }

  // Reports a part of a file that is missing or invalid, with its size in bytes.
  void add_damage(std::string note, uint64_t bytes) {
    add_note({std::move(note), A2N_MESSAGES_ERROR, bytes});
  }

  void add(std::string note, int level = A2N_MESSAGES_WARNING) {
    add_note({std::move(note), level, 0});
  }
  // Adds the notes of another list with their levels.
  void add_all(const Notes& others) {
    for (const Note& note : others.notes_) add_note(note);
  }
  const char* get(size_t index) const {
    return index < notes_.size() ? notes_[index].text.c_str() : nullptr;
  }
  int level(size_t index) const {
    return index < notes_.size() ? notes_[index].level : A2N_MESSAGES_NONE;
  }
  uint64_t bytes(size_t index) const { return index < notes_.size() ? notes_[index].bytes : 0; }
  size_t size() const { return notes_.size(); }

 private:
  struct Note {
    std::string text;
    int level;
    uint64_t bytes;
  };
  void add_note(Note note) {
    if (note.level <= max_level_ && seen_.insert(note.text).second)
      notes_.push_back(std::move(note));
  }

  int max_level_ = A2N_MESSAGES_WARNING;
  std::unordered_set<std::string> seen_;
  std::deque<Note> notes_;  // elements never move
};

}  // namespace a2n

#endif  // A2N_NOTES_H
