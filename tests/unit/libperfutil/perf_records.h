// SPDX-License-Identifier: MIT
// Builds perf records byte by byte, as the kernel documents them.
#ifndef PI_TESTS_PERF_RECORDS_H
#define PI_TESTS_PERF_RECORDS_H

#include <linux/perf_event.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace pi::test {

constexpr uint64_t some_event = 77;  // an identifier

class PerfRecord {
 public:
  explicit PerfRecord(uint32_t type, uint16_t misc = 0) {
    perf_event_header header{};
    header.type = type;
    header.misc = misc;
    add(header);
  }
  template <class T>
  PerfRecord& add(T value) {
    const size_t at = bytes_.size();
    bytes_.resize(at + sizeof value);
    std::memcpy(bytes_.data() + at, &value, sizeof value);
    return *this;
  }
  PerfRecord& u32(uint32_t value) { return add(value); }
  PerfRecord& u64(uint64_t value) { return add(value); }
  // Appends a zero-terminated string, padded with zeros to 8 bytes as the kernel does.
  PerfRecord& text(std::string_view value) {
    for (const char each : value) bytes_.push_back(static_cast<std::byte>(each));
    bytes_.push_back({});
    while (bytes_.size() % 8 != 0) bytes_.push_back({});
    return *this;
  }
  // Appends the fields that sample_id_all adds: pid, tid, time, cpu, identifier.
  std::vector<std::byte> end(uint32_t pid, uint32_t tid, uint64_t time, uint32_t cpu = 0) {
    u32(pid).u32(tid).u64(time).u32(cpu).u32(0).u64(some_event);
    return end();
  }
  std::vector<std::byte> end() {
    const auto size = static_cast<uint16_t>(bytes_.size());
    std::memcpy(bytes_.data() + offsetof(perf_event_header, size), &size, sizeof size);
    return bytes_;
  }

 private:
  std::vector<std::byte> bytes_;
};

inline std::vector<std::byte> perf_sample(uint16_t mode, uint64_t ip, uint32_t pid, uint32_t tid,
                                          uint64_t time) {
  return PerfRecord(PERF_RECORD_SAMPLE, mode)
      .u64(some_event)
      .u64(ip)
      .u32(pid)
      .u32(tid)
      .u64(time)
      .u32(0)
      .u32(0)
      .end();
}

// A sample with a call chain; identifier: the event that the sample belongs to.
inline std::vector<std::byte> perf_chain(uint16_t mode, uint64_t ip, uint32_t tid, uint64_t time,
                                         const std::vector<uint64_t>& chain,
                                         uint64_t identifier = some_event) {
  PerfRecord record(PERF_RECORD_SAMPLE, mode);
  record.u64(identifier).u64(ip).u32(tid).u32(tid).u64(time).u32(0).u32(0).u64(chain.size());
  for (const uint64_t entry : chain) record.u64(entry);
  return record.end();
}

// PERF_RECORD_SWITCH_CPU_WIDE, with prev and next thread.
inline std::vector<std::byte> perf_switch(uint16_t misc, uint32_t tid, uint32_t other_tid,
                                          uint64_t time) {
  return PerfRecord(PERF_RECORD_SWITCH_CPU_WIDE, misc)
      .u32(other_tid)
      .u32(other_tid)
      .end(tid, tid, time);
}

inline std::vector<std::byte> perf_mmap2(uint32_t pid, uint64_t address, uint64_t size,
                                         uint64_t offset, uint64_t inode, uint32_t protection,
                                         std::string_view name, uint64_t time) {
  return PerfRecord(PERF_RECORD_MMAP2)
      .u32(pid)
      .u32(pid)
      .u64(address)
      .u64(size)
      .u64(offset)
      .u32(8)
      .u32(1)
      .u64(inode)
      .u64(0)
      .u32(protection)
      .u32(2)
      .text(name)
      .end(pid, pid, time);
}

inline std::vector<std::byte> perf_comm(uint32_t pid, uint32_t tid, std::string_view name,
                                        bool exec, uint64_t time) {
  return PerfRecord(PERF_RECORD_COMM, exec ? PERF_RECORD_MISC_COMM_EXEC : 0)
      .u32(pid)
      .u32(tid)
      .text(name)
      .end(pid, tid, time);
}

inline std::vector<std::byte> perf_task(uint32_t type, uint32_t pid, uint32_t parent, uint32_t tid,
                                        uint32_t parent_tid, uint64_t time) {
  return PerfRecord(type)
      .u32(pid)
      .u32(parent)
      .u32(tid)
      .u32(parent_tid)
      .u64(time)
      .end(pid, tid, time);
}

}  // namespace pi::test

#endif  // PI_TESTS_PERF_RECORDS_H
