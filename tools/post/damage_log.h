// SPDX-License-Identifier: MIT
// What was wrong with a trace file: a message for each of the first places, counts for all.
#ifndef POST_DAMAGE_LOG_H
#define POST_DAMAGE_LOG_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace post {

class DamageLog {
 public:
  static constexpr size_t kept_messages = 20;

  // bytes: how many of the file could not be used because of it.
  void add(std::string message, uint64_t bytes);

  bool any() const { return places_ != 0; }
  uint64_t places() const { return places_; }
  uint64_t bytes() const { return bytes_; }
  // The first ones, in the order found.
  const std::vector<std::string>& messages() const { return messages_; }

 private:
  uint64_t places_ = 0;
  uint64_t bytes_ = 0;
  std::vector<std::string> messages_;
};

}  // namespace post

#endif  // POST_DAMAGE_LOG_H
