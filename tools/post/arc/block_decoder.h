// SPDX-License-Identifier: MIT
// Decodes the code of a block of instructions: whether it leads from its start to its end, the
// number of instructions, and how the block ends.
#ifndef POST_BLOCK_DECODER_H
#define POST_BLOCK_DECODER_H

#include <disassembler.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "read/kernel_code.h"
#include "state/symbolizer.h"

namespace post {

// How a line of an arc ends. The first eight have their digits' values.
enum class LineType : uint8_t {
  interrupt,
  call,
  ret,
  jump,
  iret,
  other,
  undefined,
  alloc,
  system_call,
  vector,      // a separate line: an exception or interrupt begins
  vector_end,  // ... the interrupted code continues
  gap,         // a separate line
};

unsigned digit_of(LineType type);
std::string_view word_of(LineType type);

// The process and time for which code is read.
struct CodePlace {
  uint64_t time = 0;
  uint32_t pid = 0;
  bool narrow = false;  // code of 32 bits
};

struct BlockCode {
  bool known = false;      // there is code
  bool connected = false;  // ... and it leads from the start to the end
  bool repeats = false;    // with instructions that may be executed several times
  uint32_t instructions = 0;
  LineType type = LineType::undefined;
  std::optional<uint64_t> target;  // where the branch at the end always goes
};

class BlockDecoder {
 public:
  // Both must outlive this.
  BlockDecoder(Symbolizer& symbolizer, const KernelCode& kernel)
      : symbolizer_(symbolizer), kernel_(kernel) {}

  // From start to the branch at end. Known but not connected: there is no branch at end, or the
  // code from start does not lead there.
  BlockCode to_branch(const CodePlace& place, uint64_t start, uint64_t end);
  // From start to before end.
  BlockCode to_cut(const CodePlace& place, uint64_t start, uint64_t end);
  // count instructions from start on, of which none may be one that repeats.
  BlockCode by_count(const CodePlace& place, uint64_t start, uint32_t count);

  // " ss: ADDRESS LENGTH [BYTES] MNEMONIC" for each instruction of a block that is connected.
  void put_lines(const CodePlace& place, uint64_t start, uint32_t instructions, bool with_bytes,
                 std::string& out);

 private:
  struct Walk {
    uint64_t at;
    uint32_t instructions = 0;
    bool repeats = false;
    bool good = true;
  };

  const pi::Disassembler& disassembler(const CodePlace& place) const {
    return place.narrow ? narrow_ : wide_;
  }
  std::span<const std::byte> read(const CodePlace& place, uint64_t address, size_t size);
  static void walk(const pi::Disassembler& decoder, std::span<const std::byte> code, uint64_t end,
                   Walk& walk);

  Symbolizer& symbolizer_;
  const KernelCode& kernel_;
  const pi::Disassembler wide_{true};
  const pi::Disassembler narrow_{false};
  std::vector<std::byte> buffer_;
};

}  // namespace post

#endif  // POST_BLOCK_DECODER_H
