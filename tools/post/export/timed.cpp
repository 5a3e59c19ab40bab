// SPDX-License-Identifier: MIT
// Names that the formats with an axis of time share.
#include "timed.h"

#include <fmt/format.h>

#include "text/name_limit.h"
#include "text/text.h"

namespace post {

std::string hook_name(const pi::RecordView& record) {
  if (std::string_view text; record.string_at(0, text) && !text.empty())
    return printable(limited_name(text));
  return fmt::format("hook 0x{:x}.0x{:x}", record.major(), record.minor());
}

std::string thread_name(const NamedThread& thread, const StringTable& names) {
  if (thread.tid == 0) return "swapper";
  if (!thread.exists()) return "[unknown]";
  return thread.thread == no_name ? fmt::format("[tid {}]", thread.tid) : names.text(thread.thread);
}

uint64_t kernel_state(LeaveReason reason) {
  switch (reason) {
    case PITRACE_STATE_RUNNABLE:
    case RecordSum::no_reason:
      return 0;
    case preempted:
      return 0x100;
    case PITRACE_STATE_UNINTERRUPTIBLE:
      return 2;
    case PITRACE_STATE_STOPPED:
      return 4;
    case PITRACE_STATE_DEAD:
      return 0x10;
    case PITRACE_STATE_PARKED:
      return 0x40;
    case PITRACE_STATE_IDLE:
      return 0x80;
    default:
      return 1;
  }
}

}  // namespace post
