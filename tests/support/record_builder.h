// SPDX-License-Identifier: MIT
// Builds trace records and nrm2 files from values, for tests. The records are encoded by the
// product's encoders.
#ifndef TESTS_SUPPORT_RECORD_BUILDER_H
#define TESTS_SUPPORT_RECORD_BUILDER_H

#include <pi/nrm2.h>
#include <pitrace/encode.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace test_support {

using Bytes = std::vector<std::byte>;

// A call stack at the end of a record; each part begins with the innermost frame.
struct StackFrames {
  std::vector<__u64> kernel = {};
  std::vector<__u64> user = {};
  uint32_t flags = 0;  // PITRACE_STACK_*
  uint32_t id = 0;     // with PITRACE_STACK_USER_ID

  uint32_t table_frames = 0;  // of the user's

  uint32_t ints() const {
    return is_long() ? pitrace_long_stack_ints(of_kernel(), of_user())
                     : pitrace_stack_ints(flags, of_kernel(), of_user());
  }
  void put(uint32_t* data) const {
    if (is_long())
      pitrace_put_long_stack(data, flags, kernel.data(), of_kernel(), user.data(), of_user(),
                             table_frames);
    else
      pitrace_put_stack(data, flags | table_frames << 24, kernel.data(), of_kernel(), user.data(),
                        of_user(), id);
  }

 private:
  bool is_long() const { return user.size() > PITRACE_STACK_COUNTED_FRAMES; }
  uint32_t of_kernel() const { return static_cast<uint32_t>(kernel.size()); }
  uint32_t of_user() const { return static_cast<uint32_t>(user.size()); }
};

// The records of one stream. Times are in nanoseconds; a time record is inserted at the start and
// where the high half changes.
class RecordBuilder {
 public:
  explicit RecordBuilder(bool time_records = true) : time_records_(time_records) {}

  RecordBuilder& tick(uint64_t time, bool user, uint32_t pid, uint32_t tid, uint64_t address) {
    pitrace_encode_tprof(reserve(time, PITRACE_TPROF_SIZE), low(time), user, pid, tid, address, 0);
    return *this;
  }
  RecordBuilder& tick(uint64_t time, bool user, uint32_t pid, uint32_t tid, uint64_t address,
                      const StackFrames& stack) {
    const uint32_t extra = stack.ints();
    stack.put(pitrace_encode_tprof(reserve(time, PITRACE_TPROF_SIZE + 4 * extra), low(time), user,
                                   pid, tid, address, extra));
    return *this;
  }
  // state, stack: of the previous thread.
  RecordBuilder& dispatch(uint64_t time, uint32_t pid, uint32_t tid, uint32_t state) {
    pitrace_encode_dispatch(reserve(time, PITRACE_DISPATCH_SIZE), low(time), pid, tid, state, 0);
    return *this;
  }
  RecordBuilder& dispatch(uint64_t time, uint32_t pid, uint32_t tid, uint32_t state,
                          const StackFrames& stack) {
    const uint32_t extra = stack.ints();
    stack.put(pitrace_encode_dispatch(reserve(time, PITRACE_DISPATCH_SIZE + 4 * extra), low(time),
                                      pid, tid, state, extra));
    return *this;
  }
  RecordBuilder& wakeup(uint64_t time, uint32_t tid, uint32_t waker, uint32_t cpu) {
    return ints(time, PITRACE_MAJOR_DISPATCH, PITRACE_DISPATCH_WAKEUP, {tid, waker, cpu});
  }
  RecordBuilder& migrate(uint64_t time, uint32_t tid, uint32_t cpu) {
    return ints(time, PITRACE_MAJOR_DISPATCH, PITRACE_DISPATCH_MIGRATE, {tid, cpu});
  }
  RecordBuilder& running(uint64_t time, uint32_t pid, uint32_t tid) {
    return ints(time, PITRACE_MAJOR_DISPATCH, PITRACE_DISPATCH_RUNS, {pid, tid});
  }
  // lost: lost records of the stream so far.
  RecordBuilder& lost(uint64_t time, uint64_t lost) {
    pitrace_encode_lost(reserve(time, PITRACE_LOST_SIZE), low(time), lost);
    return *this;
  }
  RecordBuilder& ints(uint64_t time, uint32_t major, uint32_t minor,
                      std::span<const uint32_t> values) {
    const uint32_t count = static_cast<uint32_t>(values.size());
    pitrace_encode_ints(reserve(time, pitrace_size_ints(count)), low(time), major, minor,
                        values.data(), count);
    return *this;
  }
  RecordBuilder& ints(uint64_t time, uint32_t major, uint32_t minor,
                      std::initializer_list<uint32_t> values) {
    return ints(time, major, minor, std::span(values.begin(), values.size()));
  }
  // ITrace records. count: instructions, stored if counted.
  RecordBuilder& branch(uint64_t time, bool user, uint64_t from, uint64_t to, bool counted,
                        uint32_t count) {
    pitrace_encode_branch(reserve(time, pitrace_size_branch(counted)), low(time), user, from, to,
                          counted, count);
    return *this;
  }
  RecordBuilder& itrace_thread(uint64_t time, uint32_t pid, uint32_t tid) {
    return ints(time, PITRACE_MAJOR_ITRACE_THREAD, tid, {0, pid});
  }
  RecordBuilder& itrace_start(uint64_t time, uint32_t pid, uint32_t tid, uint32_t flags,
                              uint64_t address) {
    uint32_t values[PITRACE_ITRACE_START_INTS];
    pitrace_put_itrace_start(values, pid, tid, flags, address);
    return ints(time, PITRACE_MAJOR_ITRACE_START, 0, values);
  }
  RecordBuilder& itrace_stop(uint64_t time, uint32_t reason, uint32_t cpu, uint32_t branches,
                             uint32_t tid, uint32_t count, uint64_t address) {
    uint32_t values[PITRACE_ITRACE_STOP_INTS];
    pitrace_put_itrace_stop(values, cpu, branches, tid, count, address);
    return ints(time, PITRACE_MAJOR_ITRACE_STOP, reason, values);
  }
  RecordBuilder& cut(uint64_t time, bool user, uint32_t vector, uint32_t count, uint64_t address) {
    uint32_t values[PITRACE_CUT_INTS];
    pitrace_put_cut(values, count, address);
    return ints(time, user ? PITRACE_MAJOR_CUT_USER : PITRACE_MAJOR_CUT_KERNEL, vector, values);
  }
  RecordBuilder& itrace_gap(uint64_t time, uint32_t reason, uint32_t count, uint32_t missing,
                            uint32_t ns, uint64_t to) {
    uint32_t values[PITRACE_GAP_INTS];
    pitrace_put_gap(values, count, missing, ns, to);
    return ints(time, PITRACE_MAJOR_ITRACE_GAP, reason, values);
  }
  RecordBuilder& mte(uint64_t time, uint32_t minor, std::initializer_list<uint32_t> values) {
    return ints(time, PITRACE_MAJOR_MTE, minor, values);
  }
  RecordBuilder& name(uint64_t time, uint32_t pid, std::string_view name) {
    return string(time, PITRACE_MTE_NAME, {pid, PITRACE_NAME_64}, name);
  }
  RecordBuilder& thread_name(uint64_t time, uint32_t pid, uint32_t tid, std::string_view name) {
    return string(time, PITRACE_MTE_THREAD_NAME, {pid, tid}, name);
  }
  RecordBuilder& module(uint64_t time, const pitrace_module& module, std::string_view name) {
    const uint32_t size = static_cast<uint32_t>(name.size());
    pitrace_encode_module(reserve(time, pitrace_size_module(size)), low(time), &module, name.data(),
                          size);
    return *this;
  }
  RecordBuilder& fork(uint64_t time, uint32_t pid, uint32_t parent) {
    return mte(time, PITRACE_MTE_PARENT, {pid, parent, PITRACE_PARENT_FORK});
  }
  RecordBuilder& clone(uint64_t time, uint32_t pid, uint32_t parent) {
    return mte(time, PITRACE_MTE_PARENT, {pid, parent, PITRACE_PARENT_CLONE});
  }
  RecordBuilder& existing(uint64_t time, uint32_t pid, uint32_t parent) {
    return mte(time, PITRACE_MTE_PARENT, {pid, parent, PITRACE_PARENT_EXISTING});
  }
  RecordBuilder& exec(uint64_t time, uint32_t pid) { return mte(time, PITRACE_MTE_CREATE, {pid}); }
  RecordBuilder& kill(uint64_t time, uint32_t pid) { return mte(time, PITRACE_MTE_KILL, {pid}); }
  RecordBuilder& new_thread(uint64_t time, uint32_t pid, uint32_t tid) {
    return mte(time, PITRACE_MTE_CREATE_THREAD, {pid, tid});
  }

  RecordBuilder& string(uint64_t time, uint32_t minor, std::initializer_list<uint32_t> values,
                        std::string_view text) {
    const uint32_t count = static_cast<uint32_t>(values.size());
    const uint32_t size = static_cast<uint32_t>(text.size());
    pitrace_encode_string(reserve(time, pitrace_size_string(count, size)), low(time),
                          PITRACE_MAJOR_MTE, minor, values.begin(), count, text.data(), size);
    return *this;
  }

  // Raw bytes, for damage.
  RecordBuilder& raw(std::span<const std::byte> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return *this;
  }

  const Bytes& bytes() const { return bytes_; }
  Bytes& bytes() { return bytes_; }

 private:
  static uint32_t low(uint64_t time) { return static_cast<uint32_t>(time); }

  void* reserve(uint64_t time, uint32_t size) {
    if (time_records_ && (!started_ || high_ != time >> 32)) {
      started_ = true;
      high_ = time >> 32;
      pitrace_encode_time(append(pitrace_size_ints(1)), time);
    }
    return append(size);
  }
  void* append(uint32_t size) {
    bytes_.resize(bytes_.size() + size);
    return bytes_.data() + bytes_.size() - size;
  }

  const bool time_records_;
  bool started_ = false;
  uint64_t high_ = 0;
  Bytes bytes_;
};

// Values of a section's header besides its type and size.
struct SectionFacts {
  uint32_t cpu = 0;
  uint64_t start_time = 0;
  uint32_t cpus = 1;
  uint32_t flags = 0;
  uint32_t lost = 0;
};

// An nrm2 file. symbols() must be the last call.
class TraceBuilder {
 public:
  TraceBuilder& section(uint32_t type, const SectionFacts& facts, std::span<const std::byte> data) {
    using namespace pi::nrm2;
    const size_t at = bytes_.size();
    bytes_.resize(at + header_size);
    std::memcpy(bytes_.data() + at + offset::magic, magic, sizeof magic);
    put(at + offset::endian, endian_mark);
    bytes_[at + offset::cr] = std::byte{10};
    put(at + offset::header_size, static_cast<uint32_t>(header_size));
    put(at + offset::data_size, static_cast<uint32_t>(data.size()));
    put(at + offset::cpu, facts.cpu);
    put(at + offset::start_time, facts.start_time);
    put(at + offset::metric_count, uint32_t{1});
    put(at + offset::flags, facts.flags);
    put(at + offset::num_cpus, facts.cpus);
    put(at + offset::os_type, os_type_64);
    put(at + offset::lost_count, facts.lost);
    put(at + offset::section_type, type);
    put(at + offset::version, version);
    append(data);
    return *this;
  }
  TraceBuilder& text(uint32_t type, const std::string& text) {
    return section(type, {}, std::as_bytes(std::span(text)));
  }
  TraceBuilder& symbols(const std::string& kallsyms, const std::string& modules) {
    using namespace pi::nrm2;
    append_text(offset::kallsyms_offset, offset::kallsyms_size, kallsyms);
    append_text(offset::modules_offset, offset::modules_size, modules);
    return *this;
  }

  // Puts the checksums into all headers. Symbols follow the last section.
  TraceBuilder& seal() {
    using namespace pi::nrm2;
    const auto number = [this](size_t at, auto value) {
      std::memcpy(&value, bytes_.data() + at, sizeof value);
      return value;
    };
    uint64_t end = number(offset::kallsyms_offset, uint64_t{0});
    if (end == 0) end = bytes_.size();
    for (size_t at = 0; at < end;) {
      const auto size = number(at + offset::data_size, uint32_t{0});
      put(at + offset::flags, number(at + offset::flags, uint32_t{0}) | flag_sum);
      put(at + offset::sum, sum_of(bytes_.data() + at + header_size, size));
      put(at + offset::header_sum, uint64_t{0});
      put(at + offset::header_sum, sum_of(bytes_.data() + at, header_size));
      at += header_size + size;
    }
    return *this;
  }

  const Bytes& bytes() const { return bytes_; }
  Bytes& bytes() { return bytes_; }

  // Overwrites a little-endian number.
  template <class Number>
  void put(size_t at, Number value) {
    std::memcpy(bytes_.data() + at, &value, sizeof value);
  }

 private:
  void append(std::span<const std::byte> data) {
    for (const std::byte byte : data) bytes_.push_back(byte);
  }
  void append_text(size_t offset_at, size_t size_at, const std::string& text) {
    put(offset_at, static_cast<uint64_t>(bytes_.size()));
    put(size_at, static_cast<uint64_t>(text.size()));
    append(std::as_bytes(std::span(text)));
  }

  Bytes bytes_;
};

}  // namespace test_support

#endif  // TESTS_SUPPORT_RECORD_BUILDER_H
