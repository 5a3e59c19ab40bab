// SPDX-License-Identifier: MIT
// The call paths of the process's allocations, by the unwind tables of its files.
#include "callers.h"

#include <algorithm>
#include <cstring>
#include <thread>

#include <fmt/format.h>

#include "maps.h"
#include "stacks/table_compiler.h"

namespace heapwatch {
namespace {

namespace heap_log = pi::heap_log;
using namespace std::chrono_literals;

constexpr auto most_for_all_tables = 30s, most_for_a_table = 2s;
constexpr auto step = 1ms;
// Functions of the C library between a lock's and the system call, at most.
constexpr size_t most_frames_of_lock = 8;
// A process may jump to and fro in code that no file has.
constexpr auto between_reads = 100ms;

heap_log::PathEnd end_of(int end) {
  if (end == PI_STACK_WHOLE) return heap_log::whole;
  return end == PI_STACK_CUT ? heap_log::cut : heap_log::unknown;
}

}  // namespace

Callers::Callers(int pid)
    : pid_(static_cast<uint32_t>(pid)), resolver_(pi::swtrace::compile_by_child) {
  read_code();
}

void Callers::read_code() {
  std::vector<Mapped> now;
  pi::heapit::read_maps(
      fmt::format("/proc/{}/maps", pid_).c_str(),
      [](const pi::heapit::MapsLine& line, void* to) {
        if (line.executable)
          static_cast<std::vector<Mapped>*>(to)->push_back(
              {line.begin, line.end, line.offset, line.inode, std::string(line.path)});
        return true;
      },
      &now);
  read_ = Clock::now();
  is_old_ = false;
  // A process that has ended has no code any more.
  if (now.empty() || now == code_) return;
  for (const Mapped& old : code_)
    if (std::ranges::find(now, old) == now.end()) {
      ++generation_;
      break;
    }
  pi_process_change change{};
  change.pid = pid_;
  change.time = ++time_;
  change.kind = PI_PROCESS_EXECUTED;
  resolver_.change(change);
  change.kind = PI_PROCESS_MAPPED;
  for (const Mapped& mapped : now) {
    change.address = mapped.begin;
    change.bytes = mapped.end - mapped.begin;
    change.offset = mapped.offset;
    change.inode = mapped.inode;
    change.path = mapped.path.c_str();
    change.time = ++time_;
    resolver_.change(change);
  }
  code_ = std::move(now);
  logged_.assign(code_.size(), false);
}

const Callers::Mapped* Callers::mapped_at(uint64_t address) const {
  const auto after = std::ranges::upper_bound(code_, address, {}, &Mapped::begin);
  if (after == code_.begin() || address >= std::prev(after)->end) return nullptr;
  return &*std::prev(after);
}

void Callers::log_file_of(uint64_t address, pi::heapit::Log& log) {
  const Mapped* mapped = mapped_at(address);
  if (!mapped || mapped->path.empty()) return;
  const auto index = static_cast<size_t>(mapped - code_.data());
  if (logged_[index]) return;
  logged_[index] = true;
  auto* record = log.begin<heap_log::Mapping>(heap_log::mapping, mapped->path.size() + 1);
  if (!record) return pi::heapit::add(log.header().lost[heap_log::lost_mappings], 1);
  record->begin = mapped->begin;
  record->end = mapped->end;
  record->offset = mapped->offset;
  record->inode = mapped->inode;
  std::memcpy(record + 1, mapped->path.data(), mapped->path.size());
  log.finish(record->record);
}

void Callers::prepare() {
  const auto end = Clock::now() + most_for_all_tables;
  std::array<uint64_t, 1> addresses;
  pi_stack_frames frames{};
  for (bool is_last = false; !is_last;) {
    is_last = Clock::now() > end;
    size_t missing = 0;
    for (size_t i = 0; i < code_.size(); ++i) {
      pi_stack_copy copy{};
      copy.pid = pid_;
      copy.time = time_;
      copy.id = i;
      copy.registers[unwind::return_address] = code_[i].begin;
      if (!resolver_.resolve(copy, is_last, addresses, frames)) ++missing;
    }
    copies_ = code_.size();
    if (missing == 0) return;
    std::this_thread::sleep_for(step);
  }
}

void Callers::resolve(const pi_stack_copy& copy, pi::heapit::Stack& path) {
  pi_stack_frames frames{};
  // The innermost one is where the function has returned to.
  path.addresses[0] = copy.registers[unwind::return_address];
  const auto rest = std::span(path.addresses).subspan(1);
  const auto end = Clock::now() + most_for_a_table;
  while (!resolver_.resolve(copy, Clock::now() > end, rest, frames))
    std::this_thread::sleep_for(step);
  path.frames = 1 + frames.frames;
  path.end = end_of(frames.end);
}

heap_log::Kind Callers::take_lock(std::span<const LockFunction> locks,
                                  pi::heapit::Stack& path) const {
  for (size_t i = 0; i < std::min(path.frames, most_frames_of_lock); ++i) {
    const uint64_t address = path.addresses[i] - 1;
    const Mapped* mapped = mapped_at(address);
    if (!mapped) break;
    const uint64_t place = address - mapped->begin + mapped->offset;
    const auto lock = std::ranges::find_if(locks, [&](const LockFunction& function) {
      return function.inode == mapped->inode && place >= function.begin && place < function.end;
    });
    if (lock == locks.end()) continue;
    std::shift_left(path.addresses.begin(), path.addresses.begin() + path.frames, i + 1);
    path.frames -= i + 1;
    return lock->kind;
  }
  return heap_log::other_futex;
}

bool Callers::reaches_unknown_code(const pi::heapit::Stack& path) const {
  return path.end != heap_log::whole && !mapped_at(path.addresses[path.frames - 1] - 1);
}

void Callers::find(const Call& call, std::span<const std::byte> stack, pi::heapit::Stack& path) {
  if (is_old_) read_code();
  const auto& from = call.registers;
  pi_stack_copy copy{};
  copy.pid = pid_;
  copy.tid = call.thread;
  // By DWARF number.
  const std::array<UserRegister, unwind::register_count> order = {
      rax, rdx, rcx, rbx, rsi, rdi, rbp, rsp, r8, r9, r10, r11, r12, r13, r14, r15, rip};
  for (size_t i = 0; i < order.size(); ++i) copy.registers[i] = from[order[i]];
  const size_t skipped = std::min(from[rsp] % page_bytes, stack.size());
  copy.bytes = stack.data() + skipped;
  copy.length = stack.size() - skipped;
  copy.time = time_;
  copy.id = copies_++;
  resolve(copy, path);
  if (!reaches_unknown_code(path) || Clock::now() - read_ < between_reads) return;
  read_code();
  copy.time = time_;
  copy.id = copies_++;
  resolve(copy, path);
}

}  // namespace heapwatch
