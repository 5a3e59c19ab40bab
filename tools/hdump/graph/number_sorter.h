// SPDX-License-Identifier: MIT
// Sorts more numbers than fit into memory: parts of them are sorted and written to a work file, by
// a second thread, and merged when they are read.
#ifndef HDUMP_GRAPH_NUMBER_SORTER_H
#define HDUMP_GRAPH_NUMBER_SORTER_H

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "background.h"
#include "disk_array.h"

namespace hdump {

class NumberSorter {
 public:
  // part: how many numbers are sorted in memory.
  explicit NumberSorter(const DiskSpace& space, size_t part = 2 << 20);
  ~NumberSorter();

  void add(uint64_t number) {
    numbers_.push_back(number);
    if (numbers_.size() == part_) flush();
  }
  uint64_t size() const { return written_ + numbers_.size(); }

  // To be called once, after the last number.
  pi::Status finish();
  // The next numbers, lowest first; none at the end. Valid until the next call.
  pi::Result<std::span<const uint64_t>> next();

 private:
  // Numbers in order, in the file: the differences between them.
  struct Run {
    uint64_t begin = 0;
    uint64_t end = 0;
  };
  class Reader;

  void flush();
  void write_run(std::vector<uint64_t>& numbers);

  const DiskSpace& space_;
  size_t part_;
  std::vector<uint64_t> numbers_;
  uint64_t written_ = 0;
  // Of the second thread until finish().
  std::vector<uint64_t> sorting_;
  std::vector<uint64_t> spare_;
  std::vector<std::byte> packed_;
  std::vector<Run> runs_;
  uint64_t file_size_ = 0;
  pi::UniqueFd fd_;
  std::optional<pi::Error> error_;
  // The heap of readers: that of the lowest number is the first.
  std::vector<std::unique_ptr<Reader>> readers_;
  std::vector<uint64_t> merged_;
  bool given_ = false;  // what was never written has been returned
  Background background_;
};

}  // namespace hdump

#endif  // HDUMP_GRAPH_NUMBER_SORTER_H
