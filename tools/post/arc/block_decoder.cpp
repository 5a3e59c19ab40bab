// SPDX-License-Identifier: MIT
// Decodes the code of a block of instructions.
#include "block_decoder.h"

#include <fmt/format.h>
#include <pi/hex.h>

#include <algorithm>

namespace post {
namespace {

// Longer than any straight-line code seen so far; a block that would be longer has an unknown
// beginning.
constexpr uint64_t longest_block = 64 << 10;

// Whether the instruction after it follows when no branch is taken.
bool goes_on(pi::Flow flow) {
  return flow == pi::Flow::next || flow == pi::Flow::conditional_jump || flow == pi::Flow::stop;
}

LineType type_of(pi::Flow flow) {
  switch (flow) {
    case pi::Flow::call:
      return LineType::call;
    case pi::Flow::ret:
      return LineType::ret;
    case pi::Flow::jump:
    case pi::Flow::conditional_jump:
      return LineType::jump;
    case pi::Flow::system_call:
      return LineType::system_call;
    case pi::Flow::interrupt:
      return LineType::interrupt;
    case pi::Flow::interrupt_return:
      return LineType::iret;
    case pi::Flow::next:
    case pi::Flow::stop:
      break;
  }
  return LineType::other;
}

}  // namespace

unsigned digit_of(LineType type) {
  switch (type) {
    case LineType::system_call:
    case LineType::vector:
      return 0;
    case LineType::vector_end:
      return static_cast<unsigned>(LineType::iret);
    case LineType::gap:
      return static_cast<unsigned>(LineType::other);
    default:
      return static_cast<unsigned>(type);
  }
}

std::string_view word_of(LineType type) {
  switch (type) {
    case LineType::interrupt:
      return "INTRPT";
    case LineType::call:
      return "CALL";
    case LineType::ret:
      return "RETURN";
    case LineType::jump:
      return "JUMP";
    case LineType::iret:
      return "IRET";
    case LineType::other:
      return "OTHER";
    case LineType::undefined:
      return "UNDEFD";
    case LineType::alloc:
      return "ALLOC";
    case LineType::system_call:
      return "SYSCALL";
    case LineType::vector:
    case LineType::vector_end:
      return "-vec-";
    case LineType::gap:
      return "-gap-";
  }
  return "UNDEFD";
}

std::span<const std::byte> BlockDecoder::read(const CodePlace& place, uint64_t address,
                                              size_t size) {
  if (buffer_.size() < size) buffer_.resize(size);
  const std::span out(buffer_.data(), size);
  size_t got = address >> 63 != 0 ? kernel_.read(address, out) : 0;
  if (got == 0) got = symbolizer_.read_code(place.time, place.pid, address, out);
  return out.first(std::min(got, size));
}

// Up to end; good: exactly there.
void BlockDecoder::walk(const pi::Disassembler& decoder, std::span<const std::byte> code,
                        uint64_t end, Walk& walk) {
  const uint64_t start = walk.at;
  while (walk.at < end) {
    const size_t inside = static_cast<size_t>(walk.at - start);
    if (inside >= code.size()) break;
    const pi::Instruction instruction = decoder.decode(code.subspan(inside), walk.at);
    if (!instruction.valid || !goes_on(instruction.flow)) break;
    walk.repeats = walk.repeats || instruction.repeats;
    walk.at += instruction.length;
    ++walk.instructions;
  }
  walk.good = walk.at == end;
}

BlockCode BlockDecoder::to_branch(const CodePlace& place, uint64_t start, uint64_t end) {
  BlockCode result;
  const bool sensible = start <= end && end - start <= longest_block;
  const uint64_t from = sensible ? start : end;
  const size_t before = static_cast<size_t>(end - from);
  const auto code = read(place, from, before + pi::Disassembler::longest);
  if (code.size() <= before) return result;
  const pi::Disassembler& decoder = disassembler(place);
  const pi::Instruction last = decoder.decode(code.subspan(before), end);
  result.known = true;
  if (!last.valid || last.flow == pi::Flow::next || last.flow == pi::Flow::stop) return result;
  result.type = type_of(last.flow);
  result.target = last.target;
  if (!sensible) return result;
  Walk way{start};
  walk(decoder, code, end, way);
  result.connected = way.good;
  result.repeats = way.repeats;
  result.instructions = way.instructions + 1;
  return result;
}

BlockCode BlockDecoder::to_cut(const CodePlace& place, uint64_t start, uint64_t end) {
  BlockCode result;
  if (start > end || end - start > longest_block) return result;
  const size_t size = static_cast<size_t>(end - start);
  const auto code = read(place, start, size + pi::Disassembler::longest);
  if (code.size() < size || code.empty()) return result;
  Walk way{start};
  walk(disassembler(place), code, end, way);
  result = {true, way.good, way.repeats, way.instructions, LineType::other, {}};
  // The interrupted instruction may be a string instruction with some iterations done.
  if (code.size() > size)
    result.repeats = result.repeats || disassembler(place).decode(code.subspan(size), end).repeats;
  return result;
}

BlockCode BlockDecoder::by_count(const CodePlace& place, uint64_t start, uint32_t count) {
  BlockCode result;
  const uint64_t most = std::min<uint64_t>(count, longest_block / pi::Disassembler::longest);
  const auto code = read(place, start, static_cast<size_t>(most) * pi::Disassembler::longest);
  if (code.empty()) return result;
  result.known = true;
  size_t at = 0;
  while (result.instructions < count && at < code.size()) {
    const pi::Instruction next = disassembler(place).decode(code.subspan(at), start + at);
    if (!next.valid) return result;
    at += next.length;
    ++result.instructions;
    result.repeats = result.repeats || next.repeats;
    const bool last = result.instructions == count;
    if (last)
      result.type = next.flow == pi::Flow::conditional_jump ? LineType::other : type_of(next.flow);
    if (!last && !goes_on(next.flow)) return result;
  }
  result.connected = result.instructions == count && !result.repeats;
  return result;
}

void BlockDecoder::put_lines(const CodePlace& place, uint64_t start, uint32_t instructions,
                             bool with_bytes, std::string& out) {
  const size_t size = static_cast<size_t>(
      std::min<uint64_t>(uint64_t{instructions} * pi::Disassembler::longest, longest_block + 1));
  const auto code = read(place, start, size);
  size_t at = 0;
  for (uint32_t i = 0; i < instructions && at < code.size(); ++i) {
    const auto rest = code.subspan(at);
    const size_t length = disassembler(place).decode(rest, start + at).length;
    out += fmt::format(" ss: {:#x} {} ", start + at, length);
    if (with_bytes) {
      out += pi::to_hex(rest.first(length));
      out += ' ';
    }
    out += disassembler(place).text(rest, start + at);
    out += '\n';
    at += length;
  }
}

}  // namespace post
