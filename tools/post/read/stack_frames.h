// SPDX-License-Identifier: MIT
// Keeps the user's frames of the newest stacks, for the records that have their ids.
#ifndef POST_STACK_FRAMES_H
#define POST_STACK_FRAMES_H

#include <pi/decode.h>

#include <array>
#include <cstdint>
#include <map>
#include <vector>

namespace post {

// A record has the id of the newest stack of its CPU, or, when an interrupt has come between, of
// one that is a few older.
class StackFrames {
 public:
  // A record of a stream of stacks. False: it is none of frames.
  bool take(uint32_t cpu, const pi::RecordView& record);
  // Of the record's stack; null: it has no id, or the frames are not there. Valid until take().
  const pi::UserFrames* find(uint32_t cpu, const pi::RecordView& record) const;

 private:
  struct Kept {
    std::vector<std::byte> bytes;
    pi::UserFrames frames{0, 0, 0, pi::RecordView({}), 0};
  };
  static constexpr size_t newest = 16;
  std::map<uint32_t, std::array<Kept, newest>> cpus_;  // by CPU, then id modulo newest
};

}  // namespace post

#endif  // POST_STACK_FRAMES_H
