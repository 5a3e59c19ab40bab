// SPDX-License-Identifier: MIT
// Reads a large file line by line, with only a part of it in memory.
#ifndef A2N_LINE_READER_H
#define A2N_LINE_READER_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace a2n {

class LineReader {
 public:
  static constexpr size_t max_length = 1 << 16;  // bytes; longer lines are skipped

  // Reads at most bytes from fd, so data appended meanwhile is not read. The caller keeps fd open.
  LineReader(int fd, uint64_t bytes) : fd_(fd), left_(bytes) {}

  // The next complete line without its newline, valid until the next call; false at the end. Text
  // after the last newline is not a complete line.
  bool next(std::string_view& line);

  size_t skipped() const { return skipped_; }                // number of lines too long
  uint64_t skipped_bytes() const { return skipped_bytes_; }  // bytes in these lines
  // Bytes after the last newline; call it when next() has returned false.
  uint64_t cut_bytes() const { return text_.size() - at_; }
  int error() const { return error_; }  // errno of the last read, or 0

 private:
  bool fill();

  int fd_;
  uint64_t left_;
  std::string text_;
  size_t at_ = 0;
  size_t skipped_ = 0;
  uint64_t skipped_bytes_ = 0;
  bool too_long_ = false;  // the beginning of the current line was already skipped
  int error_ = 0;
};

}  // namespace a2n

#endif  // A2N_LINE_READER_H
