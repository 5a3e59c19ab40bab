// SPDX-License-Identifier: MIT
// Collects messages on the damage of a trace file, or of files that belong to it: the first
// messages, and counts of all.
#ifndef POST_DAMAGE_LOG_H
#define POST_DAMAGE_LOG_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace post {

class DamageLog {
 public:
  static constexpr size_t kept_messages = 20;

  // bytes: the number of bytes of the file that could not be used because of it.
  void add(std::string message, uint64_t bytes);
  // The same for another file than the trace; the message names it.
  void add_of_another_file(std::string message, uint64_t bytes) {
    add(std::move(message), bytes);
    in_other_files_ = true;
  }

  bool any() const { return places_ != 0; }
  uint64_t places() const { return places_; }
  uint64_t bytes() const { return bytes_; }
  bool in_other_files() const { return in_other_files_; }
  // The first ones, in the order found.
  const std::vector<std::string>& messages() const { return messages_; }

 private:
  uint64_t places_ = 0;
  uint64_t bytes_ = 0;
  bool in_other_files_ = false;
  std::vector<std::string> messages_;
};

}  // namespace post

#endif  // POST_DAMAGE_LOG_H
