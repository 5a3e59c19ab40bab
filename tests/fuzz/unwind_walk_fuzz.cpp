// SPDX-License-Identifier: MIT
// Unwinds any stack by any table. Input: the table's size in units of 8 bytes (2 bytes), the table,
// the registers, the stack, which is also the interrupted one.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include "amplification.h"
#include "walk/walk_stack.h"

namespace {

constexpr fuzz::Allowed allowed{1 << 20, 16, 1'000'000, 100};
constexpr uint64_t bias = 0x10000, code_bytes = 0x1000000;
constexpr unsigned rsi = 4;

// Moves count bytes from the front of data to where they are aligned; fewer if data is shorter.
std::vector<uint64_t> take(std::span<const uint8_t>& data, size_t count) {
  count = std::min(count, data.size());
  std::vector<uint64_t> words((count + 7) / 8);
  if (count != 0) std::memcpy(words.data(), data.data(), count);
  data = data.subspan(count);
  return words;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const fuzz::Amplification amplification(size, allowed);
  std::span data(bytes, size);
  const auto head = take(data, 2);
  const auto table_words = take(data, head.empty() ? 0 : (head[0] & 0xffff) * 8);
  const auto table = unwind::Table::check(std::as_bytes(std::span(table_words)));
  unwind::CapturedStack stack;
  const auto registers = take(data, sizeof stack.registers);
  std::copy(registers.begin(), registers.end(), stack.registers.begin());
  const auto words = take(data, data.size());
  stack.bytes = stack.interrupted = std::as_bytes(std::span(words));
  stack.interrupted_at = stack.registers[rsi];
  uint64_t frames[32];
  const auto walked = unwind::walk_stack(
      stack,
      [&](uint64_t address) -> unwind::Code {
        if (address - bias >= code_bytes) return {};
        return {true, table ? &*table : nullptr, bias};
      },
      frames);
  if (walked.frames > 32 || walked.by_table > walked.frames) std::abort();
  if (walked.end == unwind::End::whole && walked.by_table != walked.frames) std::abort();
  return 0;
}
