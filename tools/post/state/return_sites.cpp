// SPDX-License-Identifier: MIT
// Tests by the code around it whether an address on a user stack can be a return address.
#include "return_sites.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "stack_starts.h"

namespace post {
namespace {

constexpr size_t max_bytes_after = 16;  // bytes examined after an address
constexpr std::byte hlt{0xf4};

bool begins_with(std::span<const std::byte> code, std::string_view bytes) {
  return code.size() >= bytes.size() && std::memcmp(code.data(), bytes.data(), bytes.size()) == 0;
}

// A signal handler returns to code that calls sigreturn, which no call precedes: of 64 bits, of 32
// and of x32.
bool is_signal_trampoline(std::span<const std::byte> code) {
  using namespace std::string_view_literals;
  constexpr std::string_view forms[] = {
      "\x48\xc7\xc0\x0f\x00\x00\x00\x0f\x05"sv,  // mov $15, %rax; syscall
      "\xb8\x0f\x00\x00\x00\x0f\x05"sv,          // mov $15, %eax; syscall
      "\xb8\x01\x02\x00\x40\x0f\x05"sv,          // mov $0x40000201, %eax; syscall
      "\x58\xb8\x77\x00\x00\x00\xcd\x80"sv,      // pop %eax; mov $119, %eax; int $0x80
      "\xb8\xad\x00\x00\x00\xcd\x80"sv,          // mov $173, %eax; int $0x80
  };
  return std::ranges::any_of(forms, [&](std::string_view form) { return begins_with(code, form); });
}

// Go's goexit(); a goroutine returns to its second instruction: nop; call; nop.
bool is_goexit(std::span<const std::byte> code_before, std::span<const std::byte> code) {
  constexpr std::byte nop{0x90}, call{0xe8};
  return !code_before.empty() && code_before.back() == nop && code.size() > 5 && code[0] == call &&
         code[5] == nop;
}

// movslq or nothing, then a store of the result into the thread's own memory: start_thread().
bool keeps_result_in_thread(std::span<const std::byte> code) {
  if (begins_with(code, "\x48\x98")) code = code.subspan(2);
  return begins_with(code, "\x64\x48\x89\x04\x25");
}

}  // namespace

ReturnSites::ReturnSites(Symbolizer& symbolizer, size_t cache_entries)
    : symbolizer_(symbolizer), known_(cache_entries) {}

ReturnSite ReturnSites::at(const Process& process, const ReturnPlace& place, uint64_t address,
                           uint64_t time) {
  const uint32_t version = *process.maps_version;
  const uint64_t hash =
      (address ^ static_cast<uint64_t>(version) << 44) * 0x9e3779b97f4a7c15ull >> 32;
  if (const Known& known = known_.at(hash);
      known.maps_version == version && known.address == address)
    return known.site;
  Known& known = known_.after_miss(hash);
  known = {address, version, judge(process.pid, place, address, time)};
  return known.site;
}

ReturnSite ReturnSites::judge(uint32_t pid, const ReturnPlace& place, uint64_t address,
                              uint64_t time) const {
  if (place.found == Found::no_module || address >> 63 != 0) return ReturnSite::invalid;
  // Runtimes also put addresses on the stack themselves: an interpreter's returns, deoptimisation.
  if (place.jitted) return ReturnSite::valid;
  std::array<std::byte, pi::Disassembler::longest + max_bytes_after> bytes;
  const pi::Disassembler& disassembler = place.narrow ? narrow_ : wide_;
  // A mapping can begin within the requested bytes.
  size_t before = std::min<uint64_t>(pi::Disassembler::longest, address);
  size_t known = 0;
  for (; before != 0; --before) {
    known = symbolizer_.read_code(time, pid, address - before,
                                  std::span(bytes).first(before + max_bytes_after));
    if (known >= before) break;
  }
  if (before == 0) return ReturnSite::valid;
  const auto ahead = std::span(bytes).first(before);
  const auto after = std::span(bytes).subspan(before, known - before);
  // Some bytes can be decoded as several instructions that end there: one call is enough.
  bool is_call = false, is_indirect = false;
  for (size_t length = 2; length <= before; ++length) {
    const auto code = ahead.last(length);
    const pi::Instruction instruction = disassembler.decode(code, address - length);
    if (!instruction.valid || instruction.length != length || instruction.flow != pi::Flow::call)
      continue;
    is_call = true;
    if (!instruction.target) is_indirect = true;
  }
  if (!is_call)
    return is_signal_trampoline(after) || is_goexit(ahead, after) ? ReturnSite::valid
                                                                  : ReturnSite::invalid;
  // Identifies the code by its name, except for names that programs also use for their own
  // functions.
  const bool named = place.found == Found::symbol;
  if (named && place.symbol != "start_thread") return ReturnSite::valid;
  // The call in _start() must not return: a hlt follows it.
  if (!named && !after.empty() && after.front() == hlt) return ReturnSite::thread_start;
  if (is_indirect && (named || is_c_library(place.module)) &&
      (starts_thread(pid, after, address, time) || calls_exit(pid, after, address, time)))
    return ReturnSite::thread_start;
  return ReturnSite::valid;
}

// The result of a thread's function is stored there, or at the target of a jump.
bool ReturnSites::starts_thread(uint32_t pid, std::span<const std::byte> code, uint64_t address,
                                uint64_t time) const {
  if (code.empty()) return false;
  const pi::Instruction first = wide_.decode(code, address);
  if (first.flow != pi::Flow::jump || !first.target) return keeps_result_in_thread(code);
  std::array<std::byte, max_bytes_after> bytes;
  const size_t known = symbolizer_.read_code(time, pid, *first.target, bytes);
  return keeps_result_in_thread(std::span<const std::byte>(bytes).first(known));
}

// mov %eax, %edi; call exit: what __libc_start_main() does with main()'s result.
bool ReturnSites::calls_exit(uint32_t pid, std::span<const std::byte> code, uint64_t address,
                             uint64_t time) const {
  if (!begins_with(code, "\x89\xc7") || code.size() == 2) return false;
  const pi::Instruction instruction = wide_.decode(code.subspan(2), address + 2);
  return instruction.flow == pi::Flow::call && instruction.target &&
         symbolizer_.lookup(time, pid, *instruction.target).symbol == "exit";
}

}  // namespace post
