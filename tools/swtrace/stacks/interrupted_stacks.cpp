// SPDX-License-Identifier: MIT
// Reads the stacks that signal handlers on stacks of their own have interrupted.
#include "interrupted_stacks.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <pi/files.h>

namespace pi::swtrace {
namespace {

using Place = InterruptedStack::Place;
using Clock = MemoryThread::Clock;

// Each keeps a descriptor.
constexpr size_t max_memories = 64;
constexpr size_t bytes_a_stack = 32 << 10;
constexpr size_t max_used = 256, max_used_of_a_process = 64;
// A process can make each read slow, which all others wait for.
constexpr auto time_of_a_read = std::chrono::milliseconds(2);
constexpr auto most_time_over = std::chrono::milliseconds(200);

std::string directory_of(const std::string& proc, const Place& place) {
  return fmt::format("{}/{}/task/{}", proc, place.pid, place.tid);
}

// The signals that a thread blocks, from its status file.
std::optional<uint64_t> blocked_signals(const std::string& directory) {
  constexpr std::string_view title = "\nSigBlk:\t";
  constexpr size_t max_status = 1 << 14;
  const auto status = read_system_file(directory + "/status", max_status);
  const size_t at = status ? status->find(title) : std::string::npos;
  if (at == std::string::npos) return std::nullopt;
  uint64_t signals = 0;
  const char* const end = status->data() + status->size();
  if (std::from_chars(status->data() + at + title.size(), end, signals, 16).ec != std::errc{})
    return std::nullopt;
  return signals;
}

// While a handler runs, signals are blocked that its return will unblock. With SA_NODEFER there may
// be none: then it is not known.
bool is_in_handler(const std::string& directory, const Place& place) {
  uint64_t before;
  std::memcpy(&before, place.saved.data() + signal_frame_mask, sizeof before);
  const auto now = blocked_signals(directory);
  return now && *now != before && (*now & before) == before;
}

}  // namespace

std::shared_ptr<InterruptedStacks::Process> InterruptedStacks::process(const Place& place) {
  const auto known = processes_.find(place.pid);
  if (known != processes_.end()) return known->second;
  // Those that hang or are slow stay, so that they do not take more time.
  if (processes_.size() >= max_memories)
    std::erase_if(processes_, [](const auto& entry) {
      const Process& process = *entry.second;
      return entry.second.use_count() == 1 && !process.memory.hangs() &&
             process.over.load() < most_time_over;
    });
  if (processes_.size() >= max_memories) return nullptr;
  auto process = std::make_shared<Process>(directory_of(proc_, place) + "/mem");
  return processes_.emplace(place.pid, std::move(process)).first->second;
}

bool InterruptedStacks::has_space(std::vector<std::weak_ptr<const InterruptedStack>>& used,
                                  size_t most) {
  if (used.size() >= most) std::erase_if(used, [](const auto& stack) { return stack.expired(); });
  return used.size() < most;
}

// The stack first: if the thread is in the handler afterwards, it was then. Before the registers
// are read again, some handler must run: otherwise the next one can begin meanwhile, while those of
// the one that has returned are still there.
void InterruptedStacks::read(Process& process, InterruptedStack& stack, const std::string& proc) {
  const auto begun = Clock::now();
  std::vector<std::byte> bytes(bytes_a_stack);
  bytes.resize(process.memory.read(stack.place.address, bytes));
  bytes.shrink_to_fit();
  std::array<std::byte, signal_frame_bytes> saved;
  if (is_in_handler(directory_of(proc, stack.place), stack.place) &&
      process.memory.read(stack.place.signal_frame, saved) == saved.size() &&
      saved == stack.place.saved)
    stack.bytes = std::move(bytes);
  const auto over = process.over.load() + (Clock::now() - begun) - time_of_a_read;
  process.over = std::max<Clock::duration>(over, {});
}

std::shared_ptr<const InterruptedStack> InterruptedStacks::read(const Place& place) {
  if (!has_space(used_, max_used)) return nullptr;
  const auto owner = process(place);
  if (!owner || owner->memory.hangs() || owner->over.load() >= most_time_over ||
      !has_space(owner->used, max_used_of_a_process))
    return nullptr;
  auto stack = std::make_shared<InterruptedStack>(place);
  const bool added =
      owner->memory.add(thread_, owner, [stack, proc = proc_](Process& process, bool may_read) {
        if (may_read && process.over.load() < most_time_over) read(process, *stack, proc);
        stack->is_done = true;
      });
  if (!added) return nullptr;
  used_.push_back(stack);
  owner->used.push_back(stack);
  return stack;
}

}  // namespace pi::swtrace
