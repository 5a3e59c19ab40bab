// SPDX-License-Identifier: MIT
// Checks that a flow is possible on a processor: every block is decoded, instruction by
// instruction, from the target of the previous branch to its own branch.
#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include "disassembler.h"
#include "itracer.h"

namespace itracer {
namespace {

constexpr size_t page_size = 4096;

bool is_kernel(uint64_t address) {
  return address >> 63;
}

struct Thread {
  std::optional<uint64_t> at;  // start of the block
  bool cut = false;
};

struct Block {
  uint64_t instructions = 0;
  bool fits = false;
  bool repeats = false;  // contains a REP instruction: records count each iteration
};

class Checker {
 public:
  Checker(CodeReader* code, bool counted) : code_(code), counted_(counted) {}

  void take(const Record& record) {
    if (record.major == PITRACE_MAJOR_ITRACE_THREAD) {
      running_[record.cpu] = record.minor;
      return;
    }
    const auto found = running_.find(record.cpu);
    if (found == running_.end()) return say(record, "a record before the first thread record");
    tid_ = found->second;
    auto& thread = threads_[tid_];
    switch (record.major) {
      case PITRACE_MAJOR_ITRACE_START:
        ++totals.starts;
        thread.at = address(record, 5);
        break;
      case PITRACE_MAJOR_ITRACE_GAP:
        ++totals.gaps.at(record.minor & 15);
        count(thread, record.ints.at(0));
        totals.missing += record.ints.at(1);
        thread.at = address(record, 3);
        break;
      case PITRACE_MAJOR_CUT_KERNEL:
      case PITRACE_MAJOR_CUT_USER:
        ++totals.cuts;
        block(record, thread, address(record, 1), record.ints.at(0), false);
        thread.at.reset();
        break;
      case PITRACE_MAJOR_ITRACE_STOP:
        ++totals.stops.at(record.minor & 7);
        count(thread, record.ints.at(3));
        thread.at.reset();
        break;
      default:
        branch(record, thread);
    }
  }

  Totals totals;

 private:
  static uint64_t address(const Record& record, size_t low) {
    return uint64_t{record.ints.at(low + 1)} << 32 | record.ints.at(low);
  }

  void say(const Record& record, const std::string& what) {
    ++totals.broken;
    if (totals.first_broken.size() < 10)
      totals.first_broken.push_back(fmt::format("{} cpu {} tid {} major {:x} minor {:x}: {}",
                                                record.time, record.cpu, tid_, record.major,
                                                record.minor, what));
  }

  void count(const Thread& thread, uint64_t instructions) {
    if (thread.at) totals.instructions[is_kernel(*thread.at) ? 0 : 1] += instructions;
  }

  void branch(const Record& record, Thread& thread) {
    const bool user = record.major == PITRACE_MAJOR_BRANCH_USER;
    const uint64_t from = uint64_t{record.ints.at(0)} << 32 | record.minor;
    const uint64_t to = uint64_t{record.ints.at(2)} << 32 | record.ints.at(1);
    ++totals.branches[user ? 1 : 0];
    ++totals.threads[tid_];
    if (user == is_kernel(from)) say(record, "the ring of the record is not that of its address");
    block(record, thread, from, counted_ ? record.ints.at(3) : 0, true);
    thread.at = to;
  }

  // ends: the last instruction was executed; else the block ends before it.
  void block(const Record& record, const Thread& thread, uint64_t last, uint64_t instructions,
             bool ends) {
    if (!thread.at)
      return say(record, fmt::format("a branch at {:x} of a block without known start", last));
    count(thread, instructions);
    const uint64_t at = *thread.at;
    if (is_kernel(at) != is_kernel(last) || last < at || last - at > 1 << 20)
      return say(record, fmt::format("a block from {:x} to {:x}", at, last));
    const auto block = decode(at, last, ends);
    if (!block) {
      ++totals.undecoded;
      return;
    }
    ++totals.decoded;
    if (!block->fits)
      say(record, fmt::format("no instruction at {:x} in a block from {:x}", last, at));
    else if (counted_ && instructions != block->instructions &&
             !(block->repeats && instructions > block->instructions))
      say(record, fmt::format("{} instructions from {:x} to {:x}, counted {}:{}",
                              block->instructions, at, last, instructions, text(at, last)));
  }

  std::string text(uint64_t at, uint64_t last) const {
    std::string text;
    for (; at <= last && text.size() < 1000;) {
      const auto bytes = code_->at(at);
      if (bytes.empty()) break;
      text += " | " + disassembler_.text(bytes, at);
      at += disassembler_.decode(bytes, at).length;
    }
    return text;
  }

  std::optional<Block> decode(uint64_t at, uint64_t last, bool ends) {
    if (code_ == nullptr) return std::nullopt;
    Block block;
    while (at <= last) {
      const auto bytes = code_->at(at);
      if (bytes.empty()) return std::nullopt;
      const auto instruction = disassembler_.decode(bytes, at);
      if (at == last) {
        block.fits = true;
        block.instructions += ends ? 1 : 0;
        block.repeats |= !ends;  // a cut block may have had some iterations
        return block;
      }
      if (instruction.flow != pi::Flow::next && instruction.flow != pi::Flow::conditional_jump)
        return block;
      const auto first = static_cast<uint8_t>(bytes[0]);
      block.repeats |= first == 0xf2 || first == 0xf3;
      ++block.instructions;
      at += instruction.length;
    }
    return block;
  }

  CodeReader* code_;
  bool counted_;
  pi::Disassembler disassembler_;
  uint32_t tid_ = 0;
  std::map<uint32_t, uint32_t> running_;
  std::map<uint32_t, Thread> threads_;
};

}  // namespace

CodeReader::CodeReader(pid_t pid) {
  mem_ = ::open(fmt::format("/proc/{}/mem", pid).c_str(), O_RDONLY | O_CLOEXEC);
  kcore_ = ::open("/proc/kcore", O_RDONLY | O_CLOEXEC);
  look_at_kcore();
}

void CodeReader::look_at_kcore() {
  Elf64_Ehdr head{};
  if (kcore_ < 0 || ::pread(kcore_, &head, sizeof head, 0) != sizeof head) return;
  for (unsigned i = 0; i < head.e_phnum; ++i) {
    Elf64_Phdr segment{};
    if (::pread(kcore_, &segment, sizeof segment, off_t(head.e_phoff + i * sizeof segment)) !=
        sizeof segment)
      return;
    if (segment.p_type == PT_LOAD)
      segments_.push_back({segment.p_vaddr, segment.p_memsz, segment.p_offset});
  }
}

const std::vector<std::byte>& CodeReader::page(uint64_t number) {
  const auto [found, is_new] = pages_.try_emplace(number);
  if (!is_new) return found->second;
  auto& bytes = found->second;
  bytes.resize(page_size);
  const uint64_t address = number * page_size;
  ssize_t got = -1;
  if (!is_kernel(address)) {
    got = ::pread(mem_, bytes.data(), page_size, off_t(address));
  } else {
    for (const auto& segment : segments_)
      if (address >= segment.address && address - segment.address < segment.size)
        got = ::pread(kcore_, bytes.data(), page_size,
                      off_t(segment.offset + (address - segment.address)));
  }
  bytes.resize(got > 0 ? size_t(got) : 0);
  return bytes;
}

std::span<const std::byte> CodeReader::at(uint64_t address) {
  static std::array<std::byte, 15> buffer;
  size_t length = 0;
  for (; length < buffer.size(); ++length) {
    const auto& bytes = page((address + length) / page_size);
    const size_t place = (address + length) % page_size;
    if (place >= bytes.size()) break;
    buffer[length] = bytes[place];
  }
  return std::span(buffer).first(length);
}

Totals check_flow(std::vector<Record>& records, CodeReader* code, bool counted) {
  std::stable_sort(records.begin(), records.end(),
                   [](const Record& a, const Record& b) { return a.time < b.time; });
  Checker checker(code, counted);
  for (const auto& record : records) checker.take(record);
  return checker.totals;
}

}  // namespace itracer
