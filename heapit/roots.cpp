// SPDX-License-Identifier: MIT
// The memory from which a process reaches its blocks.
#include "roots.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "system.h"

namespace pi::heapit {
namespace {

using heap_log::Search;
using heap_log::searched;

// Further arenas of glibc's allocator are at multiples of this, which is also their largest size.
constexpr uint64_t arena_bytes = 64 << 20;
// The C library's data of a thread are at the end of its stack: the most that they may have.
constexpr uint64_t most_control_bytes = 32 << 10;
// Below the stack pointer, a function may use this much.
constexpr uint64_t red_zone = 128;

uint64_t round_up(uint64_t address, uint64_t step) {
  return (address + step - 1) / step * step;
}

bool is_device(std::string_view path) {
  return path.starts_with("/dev/") && !path.starts_with("/dev/shm/") && path != "/dev/zero";
}

// Where the process's data segment, which brk() moves, begins. 0: not known.
uint64_t begin_of_heap(const char* stat) {
  const Descriptor file(stat, O_RDONLY);
  std::array<char, 2048> buffer;
  const long bytes = file ? ::syscall(SYS_read, file.number(), buffer.data(), buffer.size()) : 0;
  if (bytes <= 0) return 0;
  std::string_view text(buffer.data(), static_cast<size_t>(bytes));
  text.remove_prefix(std::min(text.rfind(')') + 1, text.size()));
  // The field behind the name is the third one.
  for (int field = 3; field < 47 && !text.empty(); ++field)
    text.remove_prefix(std::min(text.find(' ', 1), text.size()));
  uint64_t begin = 0;
  std::from_chars(text.data() + !text.empty(), text.data() + text.size(), begin);
  return begin;
}

}  // namespace

size_t Roots::count(const char* maps) {
  size_t count = 0;
  read_maps(
      maps,
      [](const MapsLine&, void* number) {
        ++*static_cast<size_t*>(number);
        return true;
      },
      &count);
  return count;
}

bool Roots::read(const char* maps) {
  struct Context {
    List<Vma>& vmas;
    bool has_space = true;
  } context{vmas_};
  const bool is_read = read_maps(
      maps,
      [](const MapsLine& line, void* data) {
        auto& to = *static_cast<Context*>(data);
        // What the kernel itself has mapped, [vvar] for instance, refers to no block.
        const bool of_kernel = line.path.starts_with("[v");
        to.has_space =
            to.vmas.push({line.begin, line.end, line.readable, line.shared, line.path == "[stack]",
                          of_kernel || is_device(line.path) || (line.shared && !line.writable)});
        return to.has_space;
      },
      &context);
  return is_read && context.has_space;
}

const Vma* Roots::vma_with(uint64_t address) const {
  const Vma* after = std::upper_bound(
      vmas_.begin(), vmas_.end(), address,
      [](uint64_t searched_address, const Vma& vma) { return searched_address < vma.begin; });
  return after != vmas_.begin() && address < (after - 1)->end ? after - 1 : nullptr;
}

// The mapping directly below that nobody may touch, as at the end of a stack.
const Vma* Roots::guard_of(const Vma& vma) const {
  if (&vma == vmas_.begin()) return nullptr;
  const Vma* below = &vma - 1;
  return below->end == vma.begin && !below->readable ? below : nullptr;
}

bool Roots::leave_out_heap(const char* stat) {
  const uint64_t begin = begin_of_heap(stat);
  const Vma* vma = begin == 0 ? nullptr : vma_with(begin);
  return !vma || leave_out({begin, vma->end});
}

// An arena consists of pieces that begin with the address of its data, which are in the first one.
uint64_t Roots::end_of_arena(uint64_t address) {
  struct {
    uint64_t arena, before, bytes, writable_bytes;
  } head{};
  if (memory_.read(address, std::as_writable_bytes(std::span(&head, 1))) != sizeof head) return 0;
  const uint64_t first = head.arena & ~(arena_bytes - 1);
  uint64_t arena_of_first = 0;
  const bool is_arena = head.bytes != 0 && head.bytes % page_bytes == 0 &&
                        head.bytes <= head.writable_bytes && head.writable_bytes <= arena_bytes &&
                        head.before % arena_bytes == 0 &&
                        (head.before == 0) == (first == address) &&
                        head.arena - first >= sizeof head && head.arena - first < 256 &&
                        memory_.read_word(first, arena_of_first) && arena_of_first == head.arena;
  return is_arena ? address + head.writable_bytes : 0;
}

bool Roots::leave_out_arenas(const Vma& vma) {
  for (uint64_t at = round_up(vma.begin, arena_bytes); at < vma.end; at += arena_bytes)
    if (const uint64_t end = end_of_arena(at); end != 0 && !leave_out({at, std::min(end, vma.end)}))
      return false;
  return true;
}

// What is below the stack pointer is out of use where it is known that nothing else is there: in
// the main thread's stack, and in those that the C library has made.
bool Roots::leave_out_stack(const ThreadPlace& thread, std::span<const ThreadPlace> threads) {
  const Vma* vma = vma_with(thread.stack_pointer);
  if (!vma) return true;
  const bool is_made = guard_of(*vma) && thread.control_block > thread.stack_pointer &&
                       thread.control_block < vma->end &&
                       vma->end - thread.control_block <= most_control_bytes;
  if (!vma->main_stack && !is_made) return true;
  const auto is_in_it = [&](const ThreadPlace& other) {
    return other.stack_pointer >= vma->begin && other.stack_pointer < vma->end;
  };
  if (std::ranges::count_if(threads, is_in_it) != 1) return true;
  return leave_out({vma->begin, std::max(thread.stack_pointer - red_zone, vma->begin)});
}

// The C library keeps stacks of threads that have ended, and uses its data of the thread again.
bool Roots::leave_out_old_stack(const Vma& vma, std::span<const ThreadPlace> threads) {
  if (!guard_of(vma) || vma.end - vma.begin < most_control_bytes) return true;
  for (const ThreadPlace& thread : threads)
    for (const uint64_t address : {thread.stack_pointer, thread.control_block})
      if (address >= vma.begin && address < vma.end) return true;
  std::array<uint64_t, most_control_bytes / sizeof(uint64_t)> words;
  const uint64_t begin = vma.end - most_control_bytes;
  if (memory_.read(begin, std::as_writable_bytes(std::span(words))) != most_control_bytes)
    return true;
  // Two words of them contain their own address.
  for (size_t i = words.size() - 3; i-- != 0;) {
    const uint64_t address = begin + i * sizeof(uint64_t);
    if (address % 64 != 0 || words[i] != address || words[i + 2] != address) continue;
    return leave_out({vma.begin, address});
  }
  return true;
}

Search Roots::find(const Process& process, std::span<const ThreadPlace> threads) {
  if (!read(process.maps)) return heap_log::not_readable;
  bool has_space = true;
  for (const ThreadPlace& thread : threads) has_space &= leave_out_stack(thread, threads);
  for (const Vma& vma : vmas_) {
    if (!vma.readable || vma.shared) continue;
    has_space &= leave_out_old_stack(vma, threads);
    if (process.without_freed) has_space &= leave_out_arenas(vma);
  }
  if (process.without_freed) has_space &= leave_out_heap(process.stat);
  std::ranges::sort(ranges_, {}, &Range::begin);
  return has_space ? searched : heap_log::no_memory;
}

void Roots::look_at(Reach& reach) {
  const Range* left_out = ranges_.begin();
  for (const Vma& vma : vmas_) {
    if (!vma.readable || vma.of_others) continue;
    const auto pages = vma.shared ? ForeignMemory::Pages::present : ForeignMemory::Pages::written;
    uint64_t at = vma.begin;
    for (; left_out != ranges_.end() && left_out->begin < vma.end; ++left_out) {
      if (left_out->begin > at) reach.look_at(at, left_out->begin, pages);
      at = std::max(at, left_out->end);
      if (at >= vma.end) break;
    }
    if (at < vma.end) reach.look_at(at, vma.end, pages);
  }
}

}  // namespace pi::heapit
