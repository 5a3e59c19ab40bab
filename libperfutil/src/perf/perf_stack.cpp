// SPDX-License-Identifier: MIT
// Converts the call chain of a perf sample to the stack of a trace record.
#include "perf_stack.h"

#include <linux/perf_event.h>

#include <algorithm>
#include <cstring>

namespace pi::perfutil {
namespace {

constexpr size_t entry_bytes = sizeof(uint64_t);

uint64_t number_at(std::span<const std::byte> bytes, size_t offset) {
  uint64_t value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

void drop_first(std::vector<__u64>& frames) {
  if (!frames.empty()) frames.erase(frames.begin());
}

// True when there were more than depth.
bool cut(std::vector<__u64>& frames, uint32_t depth) {
  if (frames.size() <= depth) return false;
  frames.resize(depth);
  return true;
}

}  // namespace

std::optional<std::span<const std::byte>> PerfStack::entries_of(std::span<const std::byte> rest,
                                                                bool wanted) {
  if (!wanted) return std::span<const std::byte>();
  if (rest.size() < entry_bytes) return std::nullopt;
  const uint64_t count = number_at(rest, 0);
  rest = rest.subspan(entry_bytes);
  if (count > rest.size() / entry_bytes) return std::nullopt;
  return rest.first(count * entry_bytes);
}

void PerfStack::read(std::span<const std::byte> entries, const StackChoice& stacks,
                     uint32_t max_frames, Leaf leaf, const UnwoundTail& unwound) {
  exists_ = stacks.which != 0;
  flags_ = table_frames_ = 0;
  kernel_.clear();
  user_.clear();
  if (!exists_) return;
  std::vector<__u64>* side = nullptr;
  for (size_t at = 0; at < entries.size(); at += entry_bytes) {
    const uint64_t entry = number_at(entries, at);
    if (entry < static_cast<uint64_t>(PERF_CONTEXT_MAX)) {
      if (side != nullptr) side->push_back(entry);
      continue;
    }
    // Our stacks do not include the entries of a guest or a hypervisor.
    side = entry == static_cast<uint64_t>(PERF_CONTEXT_KERNEL) ? &kernel_
           : entry == static_cast<uint64_t>(PERF_CONTEXT_USER) ? &user_
                                                               : nullptr;
  }
  // The kernel's entries come first, so it is the end of the user's that does not fit.
  const size_t of_chain = kernel_.size() + (unwound.resolved != 0 ? 0 : user_.size());
  if (of_chain >= max_frames)
    flags_ |= unwound.resolved != 0 ? PITRACE_STACK_KERNEL_CUT
              : user_.empty()       ? PITRACE_STACK_KERNEL_CUT
                                    : PITRACE_STACK_USER_CUT;
  if (leaf == Leaf::in_kernel) drop_first(kernel_);
  if (leaf == Leaf::in_user) drop_first(user_);
  if (cut(kernel_, std::min<uint32_t>(stacks.depth, PITRACE_STACK_DEPTH_MAX)))
    flags_ |= PITRACE_STACK_KERNEL_CUT;
  const bool user_cut = cut(user_, stacks.depth);
  if (user_cut) flags_ |= PITRACE_STACK_USER_CUT;
  if (unwound.resolved != 0) take_unwound(unwound, leaf, user_cut);
}

// The tick's own address is no guess either, where it is a frame.
void PerfStack::take_unwound(const UnwoundTail& unwound, Leaf leaf, bool is_cut) {
  const auto own = leaf == Leaf::in_user ? 0u : 1u;
  table_frames_ = std::min(unwound.table_frames + own, static_cast<uint32_t>(user_.size()));
  uint32_t flags = unwound.flags;
  if (is_cut) flags &= ~static_cast<uint32_t>(PITRACE_STACK_USER_WHOLE);
  flags_ |= flags;
}

}  // namespace pi::perfutil
