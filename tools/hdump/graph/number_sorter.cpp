// SPDX-License-Identifier: MIT
#include "number_sorter.h"

#include <pi/files.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "varint.h"

namespace hdump {
namespace {

constexpr unsigned digit = 11;             // bits by which numbers are sorted at a time
constexpr size_t few = 1024;               // numbers for which that is not worth it
constexpr size_t most_merged = 4096;       // numbers that next() returns
constexpr size_t read_at_once = 64 << 10;  // bytes of a run
constexpr size_t least_read = 4 << 10;     // with many runs
constexpr size_t all_readers = 16 << 20;   // bytes of all runs' buffers, if that suffices

void sort(std::vector<uint64_t>& numbers, std::vector<uint64_t>& spare) {
  if (std::ranges::is_sorted(numbers)) return;
  if (numbers.size() <= few) {
    std::ranges::sort(numbers);
    return;
  }
  spare.resize(numbers.size());
  uint64_t differ = 0;  // the bits that are not the same in all numbers
  for (const uint64_t number : numbers) differ |= number ^ numbers[0];
  for (unsigned shift = 0; shift < 64 && differ >> shift != 0; shift += digit) {
    constexpr uint64_t mask = (1 << digit) - 1;
    if ((differ >> shift & mask) == 0) continue;
    std::array<size_t, mask + 1> at{};
    for (const uint64_t number : numbers) ++at[number >> shift & mask];
    size_t sum = 0;
    for (size_t& count : at) sum += std::exchange(count, sum);
    for (const uint64_t number : numbers) spare[at[number >> shift & mask]++] = number;
    numbers.swap(spare);
  }
}

}  // namespace

// The numbers of a run, one after the other.
class NumberSorter::Reader {
 public:
  Reader(int fd, Run run, size_t bytes) : fd_(fd), run_(run), buffer_(bytes) {}

  uint64_t number() const { return number_; }
  int error() const { return error_; }
  // Goes to the next number; false after the last.
  bool next() {
    if (end_ - at_ < ptrdiff_t{longest_varint} && run_.begin != run_.end && !refill()) return false;
    if (at_ == end_) return false;
    number_ += take_varint(at_);
    return true;
  }

 private:
  bool refill() {
    const auto left = static_cast<size_t>(end_ - at_);
    if (left != 0) std::memmove(buffer_.data(), at_, left);
    const auto more =
        static_cast<size_t>(std::min<uint64_t>(buffer_.size() - left, run_.end - run_.begin));
    const pi::Transferred got =
        pi::read_at(fd_, run_.begin, std::span(buffer_).subspan(left, more));
    error_ = got.error != 0 ? got.error : got.bytes == more ? 0 : EIO;
    run_.begin += more;
    at_ = buffer_.data();
    end_ = at_ + left + more;
    return error_ == 0;
  }

  int fd_;
  Run run_;
  std::vector<std::byte> buffer_;
  const std::byte* at_ = nullptr;
  const std::byte* end_ = nullptr;
  uint64_t number_ = 0;
  int error_ = 0;
};

NumberSorter::NumberSorter(const DiskSpace& space, size_t part) : space_(space), part_(part) {}

NumberSorter::~NumberSorter() = default;

namespace {

// Of readers: that of the lowest number is first in a heap.
constexpr auto by_number = [](const auto& a, const auto& b) { return a->number() > b->number(); };

}  // namespace

void NumberSorter::flush() {
  background_.wait();
  written_ += numbers_.size();
  sorting_.swap(numbers_);
  numbers_.clear();
  numbers_.reserve(part_);
  background_.add([this] { write_run(sorting_); });
}

void NumberSorter::write_run(std::vector<uint64_t>& numbers) {
  if (error_) return;
  if (!fd_) {
    auto fd = space_.file(0);
    if (!fd) {
      error_ = fd.error();
      return;
    }
    fd_ = std::move(*fd);
  }
  sort(numbers, spare_);
  packed_.resize(numbers.size() * longest_varint);
  std::byte* at = packed_.data();
  uint64_t before = 0;
  for (const uint64_t number : numbers) {
    at = put_varint(at, number - before);
    before = number;
  }
  const auto bytes = static_cast<size_t>(at - packed_.data());
  if (const int error = append(fd_.get(), std::span(packed_).first(bytes)))
    error_ = work_file_error(error);
  runs_.push_back({file_size_, file_size_ + bytes});
  file_size_ += bytes;
}

pi::Status NumberSorter::finish() {
  background_.wait();
  if (written_ == 0) {
    sort(numbers_, spare_);
    return {};
  }
  if (!numbers_.empty()) flush();
  background_.wait();
  for (std::vector<uint64_t>* memory : {&numbers_, &sorting_, &spare_}) *memory = {};
  packed_ = {};
  if (error_) return *error_;
  const size_t bytes = std::clamp(all_readers / runs_.size(), least_read, read_at_once);
  for (const Run& run : runs_) {
    readers_.push_back(std::make_unique<Reader>(fd_.get(), run, bytes));
    if (!readers_.back()->next()) return work_file_error(readers_.back()->error());
  }
  std::ranges::make_heap(readers_, by_number);
  return {};
}

pi::Result<std::span<const uint64_t>> NumberSorter::next() {
  if (written_ == 0)
    return std::exchange(given_, true) ? std::span<const uint64_t>() : std::span(numbers_);
  merged_.clear();
  while (merged_.size() < most_merged && !readers_.empty()) {
    std::ranges::pop_heap(readers_, by_number);
    Reader& lowest = *readers_.back();
    // Several in a row mostly come from one run.
    const uint64_t limit = readers_.size() == 1 ? UINT64_MAX : readers_.front()->number();
    bool left = true;
    while (left && lowest.number() <= limit && merged_.size() < most_merged) {
      merged_.push_back(lowest.number());
      left = lowest.next();
    }
    if (left) {
      std::ranges::push_heap(readers_, by_number);
      continue;
    }
    if (lowest.error() != 0) return work_file_error(lowest.error());
    readers_.pop_back();
  }
  return std::span<const uint64_t>(merged_);
}

}  // namespace hdump
