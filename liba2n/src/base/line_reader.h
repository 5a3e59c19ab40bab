// SPDX-License-Identifier: MIT
// The lines of a large file, a piece of it in memory at a time.
#ifndef A2N_LINE_READER_H
#define A2N_LINE_READER_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace a2n {

class LineReader {
 public:
  static constexpr size_t max_length = 1 << 16;  // bytes; what is longer is skipped

  // Reads bytes of fd at most, which stays the caller's: what is appended meanwhile is not read.
  LineReader(int fd, uint64_t bytes) : fd_(fd), left_(bytes) {}

  // The next whole line without its end, valid until the next call; false at the end. What stands
  // behind the last line end is no whole line.
  bool next(std::string_view& line);

  size_t skipped() const { return skipped_; }                // lines too long
  uint64_t skipped_bytes() const { return skipped_bytes_; }  // of these lines
  // At the end: bytes behind the last line end.
  uint64_t cut_bytes() const { return text_.size() - at_; }
  int error() const { return error_; }  // errno, 0: none

 private:
  bool fill();

  int fd_;
  uint64_t left_;
  std::string text_;
  size_t at_ = 0;
  size_t skipped_ = 0;
  uint64_t skipped_bytes_ = 0;
  bool too_long_ = false;  // of what is read now the beginning was skipped
  int error_ = 0;
};

}  // namespace a2n

#endif  // A2N_LINE_READER_H
