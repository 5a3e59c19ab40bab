// SPDX-License-Identifier: MIT
// Writes records of a recording of perf as those of our own perf events are, for PerfConverter.
#include "normal_form.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include <pi/hex.h>

#include "events/user_registers_x86.h"
#include "perf/perf_copy.h"
#include "perf_file.h"

namespace pi::perfutil {
namespace {

namespace map {  // both kinds begin with pid, tid, address, length, offset
constexpr size_t pid = header_bytes, page_offset = pid + 24, common = page_offset + 8;
// then PERF_RECORD_MMAP has the path, PERF_RECORD_MMAP2 the file or its build-id
constexpr size_t file = common, file_bytes = 24, protection = file + file_bytes,
                 path2 = protection + 8;
constexpr size_t id_size = file, id = file + 4, max_id = 20;
}  // namespace map

perf_event_header header_of(Bytes record) {
  return number_at<perf_event_header>(record, 0);
}

bool is_second_kind(Bytes record) {
  return header_of(record).type == PERF_RECORD_MMAP2;
}

bool has_build_id(Bytes record) {
  return is_second_kind(record) && (header_of(record).misc & PERF_RECORD_MISC_MMAP_BUILD_ID) != 0;
}

size_t path_offset(Bytes record) {
  return is_second_kind(record) ? map::path2 : map::common;
}

}  // namespace

void NormalForm::begin(uint32_t type, uint16_t misc) {
  bytes_.clear();
  add(perf_event_header{type, misc, 0});
}

Bytes NormalForm::end() {
  const auto size = static_cast<uint16_t>(std::min<size_t>(bytes_.size(), UINT16_MAX));
  const auto place = bytes_.begin() + offsetof(perf_event_header, size);
  const Bytes number = std::as_bytes(std::span(&size, 1));
  std::copy(number.begin(), number.end(), place);
  return bytes_;
}

// The fields of side_band_sample_type (events/perf_events.h). The time is 24 bytes before the end.
Bytes NormalForm::end_other(const RecordFields& fields) {
  add(fields.pid);
  add(fields.tid);
  add(fields.time);
  add(uint64_t{fields.cpu});
  add(uint64_t{0});
  return end();
}

// The fields of tick_sample_type.
void NormalForm::add_sample(Bytes record, const RecordFields& fields) {
  begin(PERF_RECORD_SAMPLE, header_of(record).misc);
  add(fields.identifier);
  add(fields.ip);
  add(fields.pid);
  add(fields.tid);
  add(fields.time);
  add(uint64_t{fields.cpu});
}

void NormalForm::add_chain(Bytes chain) {
  add(uint64_t{chain.size() / sizeof(uint64_t)});
  add_bytes(chain);
}

Bytes NormalForm::sample(Bytes record, const RecordFields& fields, bool chain) {
  add_sample(record, fields);
  if (chain) add_chain(fields.chain);
  return end();
}

Bytes NormalForm::cut_sample(Bytes record, const RecordFields& fields) {
  add_sample(record, fields);
  add_chain(fields.chain);
  add(UnwoundTail{1, PITRACE_STACK_USER_TABLES | PITRACE_STACK_USER_CUT, 0});
  return end();
}

bool NormalForm::can_be_unwound(const UserCopy& copy, uint64_t mask) {
  return copy.abi == PERF_SAMPLE_REGS_ABI_64 && (mask & user_register_mask) == user_register_mask &&
         !copy.stack.empty();
}

// The registers of user_register_mask, in the order of perf's numbers.
Bytes NormalForm::sample_with_copy(Bytes record, const RecordFields& fields, uint64_t mask) {
  const UserCopy& copy = fields.copy;
  add_sample(record, fields);
  add_chain(fields.chain);
  add(copy.abi);
  size_t at = 0;
  for (uint64_t rest = mask; rest != 0; rest &= rest - 1, at += sizeof(uint64_t)) {
    const uint64_t lowest = rest & (~rest + 1);
    if ((lowest & user_register_mask) != 0) add(number_at<uint64_t>(copy.registers, at));
  }
  add(uint64_t{copy.stack.size()});
  add_bytes(copy.stack);
  add(uint64_t{copy.stack.size()});
  return end();
}

Bytes NormalForm::other(Bytes record, const RecordFields& fields) {
  const perf_event_header header = header_of(record);
  begin(header.type, header.misc);
  add_bytes(record.subspan(header_bytes, fields.body - header_bytes));
  return end_other(fields);
}

Bytes NormalForm::own(std::initializer_list<uint32_t> numbers, const RecordFields& fields) {
  begin(0, 0);
  for (const uint32_t number : numbers) add(number);
  return end_other(fields);
}

Bytes NormalForm::map(Bytes record, const RecordFields& fields) {
  const size_t path = path_offset(record);
  if (fields.body < path) return {};
  const bool of_file = is_second_kind(record) && !has_build_id(record);
  begin(PERF_RECORD_MMAP2, header_of(record).misc & PERF_RECORD_MISC_CPUMODE_MASK);
  add_bytes(record.subspan(map::pid, map::common - map::pid));
  const std::byte no_file[map::file_bytes] = {};
  add_bytes(of_file ? record.subspan(map::file, map::file_bytes) : Bytes(no_file));
  add(uint32_t{PROT_READ | PROT_EXEC});
  add(uint32_t{0});
  add_bytes(record.subspan(path, fields.body - path));
  return end_other(fields);
}

std::pair<uint32_t, uint32_t> NormalForm::thread_of_sample(Bytes record) {
  constexpr size_t pid = header_bytes + 16, tid = pid + 4;
  if (header_of(record).type != PERF_RECORD_SAMPLE) return {};
  return {number_at<uint32_t>(record, pid), number_at<uint32_t>(record, tid)};
}

void NormalForm::set_time(std::span<std::byte> record, uint64_t time) {
  constexpr size_t in_sample = header_bytes + 24, from_end = 24;
  const bool is_sample = header_of(record).type == PERF_RECORD_SAMPLE;
  const size_t at = is_sample ? in_sample : record.size() - from_end;
  std::memcpy(record.data() + at, &time, sizeof time);
}

MapRecord NormalForm::content_of_map(Bytes record, const RecordFields& fields) {
  MapRecord content;
  const size_t path = path_offset(record);
  if (fields.body < path) return content;
  const uint16_t misc = header_of(record).misc;
  content.pid = number_at<uint32_t>(record, map::pid);
  content.offset = number_at<uint64_t>(record, map::page_offset);
  content.of_kernel = (misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
  content.executable = is_second_kind(record)
                           ? (number_at<uint32_t>(record, map::protection) & PROT_EXEC) != 0
                           : (misc & PERF_RECORD_MISC_MMAP_DATA) == 0;
  content.path = text_at(record.first(fields.body), path);
  constexpr size_t inode = map::file + 8;  // behind the device's two numbers
  if (is_second_kind(record) && !has_build_id(record))
    content.inode = number_at<uint64_t>(record, inode);
  if (has_build_id(record)) {
    const size_t size = std::min<size_t>(number_at<uint8_t>(record, map::id_size), map::max_id);
    content.build_id = to_hex(record.subspan(map::id, size));
  }
  return content;
}

}  // namespace pi::perfutil
