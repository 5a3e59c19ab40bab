// SPDX-License-Identifier: MIT
// Reads the stacks that signal handlers on stacks of their own have interrupted.
#include "interrupted_stacks.h"

#include <fmt/format.h>

namespace pi::swtrace {
namespace {

// Each keeps a descriptor.
constexpr size_t max_memories = 64;
constexpr size_t bytes_a_stack = 32 << 10;
constexpr size_t max_used = 256;

}  // namespace

std::shared_ptr<InterruptedStacks::Process> InterruptedStacks::process(uint32_t pid) {
  const auto known = processes_.find(pid);
  if (known != processes_.end()) return known->second;
  // Those that hang stay, so that they do not hang again.
  if (processes_.size() >= max_memories)
    std::erase_if(processes_, [](const auto& entry) {
      return entry.second.use_count() == 1 && !entry.second->memory.hangs();
    });
  if (processes_.size() >= max_memories) return nullptr;
  auto process = std::make_shared<Process>(fmt::format("{}/{}/mem", proc_, pid));
  return processes_.emplace(pid, std::move(process)).first->second;
}

bool InterruptedStacks::may_read() {
  if (used_.size() >= max_used)
    std::erase_if(used_, [](const auto& stack) { return stack.expired(); });
  return used_.size() < max_used;
}

std::shared_ptr<const InterruptedStack> InterruptedStacks::read(uint32_t pid, uint64_t address) {
  if (!may_read()) return nullptr;
  const auto owner = process(pid);
  if (!owner || owner->memory.hangs()) return nullptr;
  auto stack = std::make_shared<InterruptedStack>(address);
  const bool added = owner->memory.add(thread_, owner, [stack](Process& process, bool may_read) {
    if (may_read) {
      std::vector<std::byte> bytes(bytes_a_stack);
      bytes.resize(process.memory.read(stack->address, bytes));
      bytes.shrink_to_fit();
      stack->bytes = std::move(bytes);
    }
    stack->is_done = true;
  });
  if (!added) return nullptr;
  used_.push_back(stack);
  return stack;
}

}  // namespace pi::swtrace
