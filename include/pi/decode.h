// SPDX-License-Identifier: MIT
// The only decoder of trace records but ITrace's (decode_itrace.h): takes a bounded byte range,
// returns values. No I/O, no state.
//
// The matching encoder is include/pitrace/encode.h. No byte is trusted: whatever the range
// contains, nothing outside of it is read. Views stay valid as long as the range they came from.
#ifndef PI_DECODE_H
#define PI_DECODE_H

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>

#include <pi/record_view.h>

namespace pi {

// The user's frames of a stack, from the recorder.
struct UserFrames {
  uint32_t id;
  uint32_t flags;         // PITRACE_STACK_USER_*
  uint32_t table_frames;  // the innermost ones
  RecordView record;
  uint32_t count;
  uint64_t frame(uint32_t index) const { return record.long_at(PITRACE_STACK_INTS + 2 * index); }
};

inline bool decode_user_frames(const RecordView& record, UserFrames& out) {
  if (record.major() != PITRACE_MAJOR_STACK || record.int_count() < PITRACE_STACK_INTS)
    return false;
  const uint32_t count = (record.int_count() - PITRACE_STACK_INTS) / 2;
  out = {record.minor(), record.int_at(0), std::min(record.int_at(1), count), record, count};
  return true;
}

// A copy of a thread's registers and stack, from the module.
struct StackCopy {
  uint32_t id, pid, tid;
  uint64_t registers[PITRACE_STACK_REGISTERS];
  std::span<const std::byte> stack;
  // Of the stack that a signal handler has interrupted; empty: there is none, or it is in stack.
  uint64_t interrupted_at;
  std::span<const std::byte> interrupted;
};

inline bool decode_stack_copy(const RecordView& record, StackCopy& out) {
  if (record.major() != PITRACE_MAJOR_STACK_COPY || record.int_count() < PITRACE_COPY_INTS)
    return false;
  out.id = record.minor();
  out.pid = record.int_at(0);
  out.tid = record.int_at(1);
  for (uint32_t i = 0; i < PITRACE_STACK_REGISTERS; ++i)
    out.registers[i] = record.long_at(2 + 2 * i);
  const uint32_t bytes = record.int_at(PITRACE_COPY_INTS - 1);
  out.stack = record.bytes().subspan(pitrace_size_ints(PITRACE_COPY_INTS));
  if (bytes > out.stack.size()) return false;
  out.interrupted = out.stack.subspan(bytes);
  out.stack = out.stack.first(bytes);
  out.interrupted_at = 0;
  if (bytes % 4 != 0 || out.interrupted.size() <= sizeof out.interrupted_at) {
    out.interrupted = {};
    return true;
  }
  out.interrupted_at = record.long_at(PITRACE_COPY_INTS + bytes / 4);
  out.interrupted = out.interrupted.subspan(sizeof out.interrupted_at);
  return true;
}

// The stack at the end of a record. Frames from the innermost, the kernel's first.
class StackView {
 public:
  StackView() = default;
  // The stack that begins at the record's int of that index; exists() is false when none does.
  StackView(const RecordView& record, uint32_t index) : record_(&record), first_(index + 1) {
    if (index >= record.int_count()) return;
    const uint32_t word = record.int_at(index);
    const uint32_t user = PITRACE_STACK_USER_FRAMES(word);
    const uint32_t ints = pitrace_stack_ints(word, PITRACE_STACK_KERNEL_FRAMES(word), user);
    const uint32_t left = record.int_count() - index;
    if (left < ints) return;
    UserPart part{word & PITRACE_STACK_USER_FLAGS, user, PITRACE_STACK_TABLE_FRAMES(word), 0};
    if ((word & PITRACE_STACK_USER_LONG) != 0 && !read_long(index + ints, left - ints, part))
      return;
    word_ = word;
    user_ = part;
    exists_ = true;
    find_own();
  }

  bool exists() const { return exists_; }
  // Of the STACK record with the further user frames; 0: there is none.
  uint32_t id() const {
    if ((word_ & PITRACE_STACK_USER_ID) == 0) return 0;
    return record_->int_at(first_ + 2 * counted_frames());
  }
  // Adds the frames of that record, which must outlive this; null: it is missing.
  void join(const UserFrames* more) {
    if (id() == 0) return;
    more_ = more;
    if (more == nullptr) user_.flags |= PITRACE_STACK_USER_BROKEN;
    find_own();
  }

  // What names the address of the record itself, PITRACE_FRAME_NAMED(); 0: nothing does.
  uint64_t own_name() const { return own_ == 0 ? named(read_user(0)) : 0; }

  // PITRACE_STACK_*, without _USER_LONG.
  uint32_t flags() const {
    const uint32_t others =
        PITRACE_STACK_KERNEL_BROKEN | PITRACE_STACK_KERNEL_CUT | PITRACE_STACK_USER_ID;
    return (word_ & others) | user_.flags |
           (more_ != nullptr ? more_->flags & PITRACE_STACK_USER_FLAGS : 0);
  }
  uint32_t kernel_frames() const { return PITRACE_STACK_KERNEL_FRAMES(word_); }
  uint32_t user_frames() const { return stored_frames() - (has_own() ? 1 : 0); }
  // Of these, the innermost ones, which unwind tables have found. Where the thread has entered the
  // kernel is no guess either.
  uint32_t table_frames() const {
    const uint32_t found = stored_table_frames();
    return found - (has_own() && found > own_ ? 1 : 0);
  }
  // The return address of that frame, or PITRACE_FRAME_NAMED(). It must be below kernel_frames() +
  // user_frames().
  uint64_t frame(uint32_t index) const {
    const uint32_t kernel = kernel_frames();
    if (index < kernel) return record_->long_at(first_ + 2 * index);
    const uint32_t user = index - kernel;
    if (!has_own() || user + 1 < own_) return read_user(user);
    return user + 1 == own_ ? named(read_user(own_)) : read_user(user + 1);
  }

 private:
  static constexpr uint32_t no_own = UINT32_MAX;

  static uint64_t named(uint64_t own) { return PITRACE_FRAME_NAMED(PITRACE_FRAME_NUMBER(own)); }
  bool has_own() const { return own_ != no_own; }
  // Which of the user's frames is PITRACE_FRAME_OWN().
  void find_own() {
    own_ = no_own;
    const uint32_t stored = std::min(stored_frames(), 2u);
    for (uint32_t i = 0; i < stored && !has_own(); ++i)
      if (PITRACE_FRAME_IS_OWN(read_user(i))) own_ = i;
  }
  // The user's frames and that one.
  uint32_t stored_frames() const { return user_.frames + (more_ != nullptr ? more_->count : 0); }
  uint32_t stored_table_frames() const {
    if (more_ != nullptr) return user_.frames + more_->table_frames;
    if ((user_.flags & PITRACE_STACK_USER_TABLES) == 0) return 0;
    return std::min(user_.table_frames, user_.frames);
  }
  uint64_t read_user(uint32_t user) const {
    const uint32_t counted = PITRACE_STACK_USER_FRAMES(word_);
    if (user < counted) return record_->long_at(first_ + 2 * (kernel_frames() + user));
    return user < user_.frames ? record_->long_at(user_.others + 2 * (user - counted))
                               : more_->frame(user - user_.frames);
  }

  // Of the user's frames, those in the record itself.
  struct UserPart {
    uint32_t flags, frames, table_frames;
    uint32_t others;  // where the frames are that the first int does not count
  };

  // The frames that the first int counts.
  uint32_t counted_frames() const {
    return PITRACE_STACK_KERNEL_FRAMES(word_) + PITRACE_STACK_USER_FRAMES(word_);
  }
  // The rest of a user's part that is not all counted: at that index, where the record has so many
  // ints left. False: it is longer than them.
  bool read_long(uint32_t index, uint32_t left, UserPart& part) const {
    if (left < PITRACE_STACK_LONG_INTS) return false;
    const uint32_t counted = part.frames, frames = record_->int_at(index + 1);
    if (frames < counted || frames - counted > (left - PITRACE_STACK_LONG_INTS) / 2) return false;
    part = {record_->int_at(index) & PITRACE_STACK_USER_FLAGS, frames, record_->int_at(index + 2),
            index + PITRACE_STACK_LONG_INTS};
    return true;
  }

  const RecordView* record_ = nullptr;  // outlives this
  const UserFrames* more_ = nullptr;
  uint32_t first_ = 0;
  uint32_t word_ = 0;
  UserPart user_{};
  uint32_t own_ = no_own;
  bool exists_ = false;
};

struct TprofTick {
  uint32_t pid;
  uint32_t tid;
  uint64_t address;
  bool user;
};

inline bool decode_tprof(const RecordView& record, TprofTick& out) {
  if (record.major() != PITRACE_MAJOR_TPROF || record.int_count() < 4) return false;
  out = {record.int_at(0), record.int_at(1), record.long_at(2),
         (record.minor() & PITRACE_TPROF_LEVEL_MASK) != 0};
  return true;
}

inline StackView stack_of_tprof(const RecordView& record) {
  return {record, 4};
}

struct Dispatch {
  uint32_t pid;  // of the next thread; 0: the idle task
  uint32_t tid;
  uint32_t state;  // PITRACE_STATE_* of the previous thread
};

inline bool decode_dispatch(const RecordView& record, Dispatch& out) {
  if (record.major() != PITRACE_MAJOR_DISPATCH || (record.minor() & 0x80000000u) != 0 ||
      record.int_count() < 1)
    return false;
  out = {record.minor(), record.int_at(0),
         record.int_count() > 1 ? record.int_at(1) : PITRACE_STATE_OTHER};
  return true;
}

inline StackView stack_of_dispatch(const RecordView& record) {
  return {record, 2};
}

struct Wakeup {
  uint32_t tid;
  uint32_t waker;  // tid; 0: the idle task
  uint32_t cpu;    // of the woken thread
  bool by_interrupt;
};

inline bool decode_wakeup(const RecordView& record, Wakeup& out) {
  if (record.major() != PITRACE_MAJOR_DISPATCH || record.minor() != PITRACE_DISPATCH_WAKEUP ||
      record.int_count() < 3)
    return false;
  const uint32_t cpu = record.int_at(2);
  out = {record.int_at(0), record.int_at(1), cpu & ~PITRACE_WAKEUP_INTERRUPT,
         (cpu & PITRACE_WAKEUP_INTERRUPT) != 0};
  return true;
}

struct Migration {
  uint32_t tid;
  uint32_t cpu;  // the new one
};

inline bool decode_migration(const RecordView& record, Migration& out) {
  if (record.major() != PITRACE_MAJOR_DISPATCH || record.minor() != PITRACE_DISPATCH_MIGRATE ||
      record.int_count() < 2)
    return false;
  out = {record.int_at(0), record.int_at(1)};
  return true;
}

struct Running {
  uint32_t pid;
  uint32_t tid;  // 0: the idle task
};

inline bool decode_running(const RecordView& record, Running& out) {
  if (record.major() != PITRACE_MAJOR_DISPATCH || record.minor() != PITRACE_DISPATCH_RUNS ||
      record.int_count() < 2)
    return false;
  out = {record.int_at(0), record.int_at(1)};
  return true;
}

inline bool is_time(const RecordView& record) {
  return record.major() == PITRACE_MAJOR_TIME || record.major() == PITRACE_MAJOR_TIME_FAKE;
}

// The high half of the time of this record and the next ones, from a record that is_time().
inline bool decode_time(const RecordView& record, uint32_t& high) {
  if (!is_time(record) || record.int_count() < 1) return false;
  high = record.int_at(0);
  return true;
}

// Sets the number of records that the stream has lost so far, from a PITRACE_SYSTEM_LOST record.
inline bool decode_lost(const RecordView& record, uint64_t& lost) {
  if (record.major() != PITRACE_MAJOR_SYSTEM || record.minor() != PITRACE_SYSTEM_LOST ||
      record.int_count() < 2)
    return false;
  lost = record.long_at(0);
  return true;
}

// Records that the ring adds itself do not count as written.
inline bool is_counted(const RecordView& record) {
  return !is_time(record) &&
         (record.major() != PITRACE_MAJOR_SYSTEM || record.minor() != PITRACE_SYSTEM_LOST);
}

struct ModuleEntry {
  uint32_t pid;
  uint32_t stamp;  // 0 or PITRACE_STAMP_*
  uint64_t address;
  uint64_t size;
  uint64_t offset;  // into the file; 0 in traces of Performance Inspector
  uint64_t inode;   // 0: not known
  std::string_view name;
};

inline bool decode_module(const RecordView& record, ModuleEntry& out) {
  const uint32_t ints = record.int_count();
  if (record.major() != PITRACE_MAJOR_MTE || record.minor() != PITRACE_MTE_MODULE ||
      ints < PITRACE_MODULE_INTS_MIN || !record.string_at(0, out.name))
    return false;
  out.pid = record.int_at(PITRACE_MODULE_PID);
  out.stamp = record.int_at(PITRACE_MODULE_STAMP);
  out.address = record.long_at(PITRACE_MODULE_ADDR_HI);
  out.size = record.int_at(PITRACE_MODULE_SIZE);
  out.offset = 0;
  out.inode = 0;
  if (ints >= PITRACE_MODULE_INTS) {
    out.size |= static_cast<uint64_t>(record.int_at(PITRACE_MODULE_SIZE_HI)) << 32;
    out.offset = record.long_at(PITRACE_MODULE_OFFSET_HI);
    out.inode = record.long_at(PITRACE_MODULE_INODE_HI);
  }
  return true;
}

// PITRACE_MTE_NAME (tid is pid) and PITRACE_MTE_THREAD_NAME.
struct NameEntry {
  uint32_t pid;
  uint32_t tid;
  bool is_32_bit;
  std::string_view name;
};

inline bool decode_name(const RecordView& record, NameEntry& out) {
  const bool thread = record.minor() == PITRACE_MTE_THREAD_NAME;
  if (record.major() != PITRACE_MAJOR_MTE || (!thread && record.minor() != PITRACE_MTE_NAME) ||
      record.int_count() < (thread ? 2u : 1u) || !record.string_at(0, out.name))
    return false;
  out.pid = record.int_at(0);
  out.tid = thread ? record.int_at(1) : out.pid;
  out.is_32_bit = !thread && record.int_count() > 1 && record.int_at(1) == PITRACE_NAME_32;
  return true;
}

// The other MTE records of one to four ints.
struct LinkEntry {
  uint32_t pid;
  uint32_t other;    // parent pid or tid; 0 where the record has one int
  uint32_t flags;    // parent: PITRACE_PARENT_*
  uint32_t creator;  // parent and new thread: tid of the creating thread; 0: not known
};

inline bool decode_link(const RecordView& record, LinkEntry& out) {
  const uint32_t ints = record.int_count();
  if (record.major() != PITRACE_MAJOR_MTE || ints < 1) return false;
  const auto int_or_0 = [&](uint32_t index) { return index < ints ? record.int_at(index) : 0; };
  const bool thread = record.minor() == PITRACE_MTE_CREATE_THREAD;
  out = {int_or_0(0), int_or_0(1), thread ? 0 : int_or_0(2), int_or_0(thread ? 2 : 3)};
  return true;
}

// The ids of a task in its own pid namespace (NStgid, NSpid).
struct NamespaceIdsEntry {
  uint32_t pid;
  uint32_t tid;
  uint32_t pid_inside;  // 0: not known; the same for the next two
  uint32_t tid_inside;
  uint32_t pid_namespace;
};

inline bool decode_namespace_ids(const RecordView& record, NamespaceIdsEntry& out) {
  if (record.major() != PITRACE_MAJOR_MTE || record.minor() != PITRACE_MTE_NAMESPACE_IDS ||
      record.int_count() < PITRACE_NAMESPACE_IDS_INTS)
    return false;
  out = {record.int_at(PITRACE_NAMESPACE_IDS_PID), record.int_at(PITRACE_NAMESPACE_IDS_TID),
         record.int_at(PITRACE_NAMESPACE_IDS_PID_INSIDE),
         record.int_at(PITRACE_NAMESPACE_IDS_TID_INSIDE),
         record.int_at(PITRACE_NAMESPACE_IDS_INODE)};
  return true;
}

// The control group of a process.
struct CgroupEntry {
  uint32_t pid;
  uint32_t hierarchy;  // PITRACE_CGROUP_*
  std::string_view path;
};

inline bool decode_cgroup(const RecordView& record, CgroupEntry& out) {
  if (record.major() != PITRACE_MAJOR_MTE || record.minor() != PITRACE_MTE_CGROUP ||
      record.int_count() < 2 || !record.string_at(0, out.path))
    return false;
  out.pid = record.int_at(0);
  out.hierarchy = record.int_at(1);
  return true;
}

}  // namespace pi

#endif  // PI_DECODE_H
