// SPDX-License-Identifier: MIT
// Descriptors for one process only: a child of fork() closes those that it inherits.
#include "process_fd.h"

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace pi::perfutil {
namespace {

// One bit for each descriptor. Other threads run while fork() copies the memory, so nothing larger
// than a word is consistent in the child. 2^20 is the kernel's default limit (fs.nr_open); a
// greater number is not closed in children.
constexpr size_t max_fds = size_t{1} << 20, word_bits = 64;

std::atomic<uint64_t> owned[max_fds / word_bits];
std::atomic<size_t> words_used;

struct Bit {
  std::atomic<uint64_t>& word;
  uint64_t mask;
};

bool has_bit(int fd) {
  return fd >= 0 && static_cast<size_t>(fd) < max_fds;
}

Bit bit_of(int fd) {
  const auto number = static_cast<size_t>(fd);
  return {owned[number / word_bits], uint64_t{1} << number % word_bits};
}

}  // namespace

void ProcessFdWatch::taken(int fd) {
  if (!has_bit(fd)) return;
  const size_t needed = static_cast<size_t>(fd) / word_bits + 1;
  size_t used = words_used.load();
  while (used < needed && !words_used.compare_exchange_weak(used, needed)) {
  }
  const Bit bit = bit_of(fd);
  bit.word.fetch_or(bit.mask);
}

bool ProcessFdWatch::left(int fd) {
  if (!has_bit(fd)) return true;
  const Bit bit = bit_of(fd);
  return (bit.word.fetch_and(~bit.mask) & bit.mask) != 0;
}

void close_inherited_fds() {
  const size_t used = words_used.load();
  for (size_t word = 0; word < used; ++word)
    for (uint64_t bits = owned[word].exchange(0); bits != 0; bits &= bits - 1)
      ::close(static_cast<int>(word * word_bits) + std::countr_zero(bits));
}

}  // namespace pi::perfutil
