// SPDX-License-Identifier: MIT
// What the kernel's programs have in common.
#include "record_program.h"

#include <vector>

namespace heapwatch {
namespace {

constexpr int32_t wake_bytes = 4 << 20;

}  // namespace

void put_key(BpfProgram& program) {
  program.call(BPF_FUNC_get_current_pid_tgid);
  program.store(frame, key_place, result);
  program.copy(second, frame);
  program.plus(second, key_place);
}

void exit_program(BpfProgram& program) {
  program.set(result, 0);
  program.exit();
}

void end_unless_on(BpfProgram& program, int control) {
  program.map_value(shared, control);
  program.load(first, shared, offsetof(Control, on));
  const auto is_off = program.jump_if_equal(first, 0);
  program.load(first, shared, offsetof(Control, ended));
  const auto goes_on = program.jump_if_equal(first, 0);
  program.here(is_off);
  exit_program(program);
  program.here(goes_on);
}

void begin_record(BpfProgram& program, int ring, size_t most_pages_of_stack) {
  program.map(first, ring);
  program.set(second, static_cast<int32_t>(sizeof(Call) + most_pages_of_stack * page_bytes));
  program.set(third, 0);
  program.call(BPF_FUNC_ringbuf_reserve);
  const auto has_space = program.jump_unless_equal(result, 0);
  program.set(first, 1);
  program.add_atomically(shared, offsetof(Control, lost), first);
  exit_program(program);
  program.here(has_space);
  program.copy(record, result);
}

void fill_record(BpfProgram& program, uint32_t probe) {
  program.store_half(record, offsetof(Call, probe), static_cast<int32_t>(probe));
  program.store_half(record, offsetof(Call, pages), 0);
  program.call(BPF_FUNC_get_current_pid_tgid);
  program.store_half(record, offsetof(Call, thread), result);
  program.load(first, shared, offsetof(Control, lost));
  program.store(record, offsetof(Call, lost), first);
  for (size_t i = 0; i < user_registers; ++i) {
    // The kernel does not let every program read them, and nobody needs them.
    if (i == cs || i == ss) continue;
    const auto at = static_cast<ptrdiff_t>(i * sizeof(uint64_t));
    program.load(first, context, at);
    program.store(record, ptrdiff_t{offsetof(Call, registers)} + at, first);
  }
}

void copy_stack(BpfProgram& program) {
  std::vector<BpfProgram::Jump> ends;
  program.load(first, record, offsetof(Call, value));
  ends.push_back(program.jump_if_equal(first, 0));
  program.load(kept, context, place_of(rsp));
  program.mask(kept, -static_cast<int32_t>(page_bytes));
  for (size_t page = 0; page < max_pages; ++page) {
    program.copy(first, record);
    program.plus(first, static_cast<int32_t>(sizeof(Call) + page * page_bytes));
    program.set(second, page_bytes);
    program.copy(third, kept);
    program.call(BPF_FUNC_probe_read_user);
    ends.push_back(program.jump_unless_equal(result, 0));
    program.store_half(record, offsetof(Call, pages), static_cast<int32_t>(page + 1));
    program.plus(kept, page_bytes);
  }
  for (const auto end : ends) program.here(end);
}

void submit(BpfProgram& program, int ring) {
  program.map(first, ring);
  program.set(second, BPF_RB_AVAIL_DATA);
  program.call(BPF_FUNC_ringbuf_query);
  program.set(second, BPF_RB_NO_WAKEUP);
  const auto is_low = program.jump_if_less(result, wake_bytes);
  program.set(second, BPF_RB_FORCE_WAKEUP);
  program.here(is_low);
  program.copy(first, record);
  program.call(BPF_FUNC_ringbuf_submit);
}

}  // namespace heapwatch
