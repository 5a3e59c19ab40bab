// SPDX-License-Identifier: MIT
// Lists of records that grow at the same time: kept in an unnamed file, so that memory holds only
// the end of each list, and read back one list after the other.
#ifndef POST_SPOOL_H
#define POST_SPOOL_H

#include <pi/files.h>
#include <pi/new_file.h>
#include <pi/unique_fd.h>

#include <cerrno>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace post {

template <typename Record>
class Spool {
  static_assert(std::is_trivially_copyable_v<Record>);

 public:
  // The file is made in that directory when it is needed first.
  explicit Spool(std::string directory) : directory_(std::move(directory)) {}

  // Lists are numbered from 0 without gaps.
  void add(uint32_t list, const Record& record) {
    if (lists_.size() <= list) lists_.resize(list + 1);
    List& to = lists_[list];
    to.end.push_back(record);
    if (to.end.size() < block_records) return;
    to.blocks.push_back(write_block(to.end));
    to.end.clear();
  }

  // Calls take with each record of the list in order. Records are missing after an error.
  template <typename Take>
  void for_each(uint32_t list, const Take& take) {
    if (list >= lists_.size()) return;
    std::vector<Record> block(block_records);
    for (const uint64_t offset : lists_[list].blocks) {
      if (error_ != 0) return;
      const auto bytes = std::as_writable_bytes(std::span(block));
      const pi::Transferred got = pi::read_at(file_.get(), offset, bytes);
      if (got.bytes != bytes.size()) error_ = got.error != 0 ? got.error : EIO;
      if (error_ != 0) return;
      for (const Record& record : block) take(record);
    }
    for (const Record& record : lists_[list].end) take(record);
  }

  // Of writing or reading: an errno, or 0.
  int error() const { return error_; }

 private:
  static constexpr size_t block_records = 256;

  struct List {
    std::vector<uint64_t> blocks;  // offsets in the file
    std::vector<Record> end;
  };

  uint64_t write_block(const std::vector<Record>& block) {
    if (!file_ && error_ == 0) {
      file_ = pi::unnamed_file(directory_);
      if (!file_) error_ = errno;
    }
    const auto bytes = std::as_bytes(std::span(block));
    if (error_ == 0) error_ = pi::write_all_at(file_.get(), size_, bytes);
    const uint64_t offset = size_;
    size_ += bytes.size();
    return offset;
  }

  const std::string directory_;
  pi::UniqueFd file_;
  uint64_t size_ = 0;
  int error_ = 0;
  std::vector<List> lists_;
};

}  // namespace post

#endif  // POST_SPOOL_H
