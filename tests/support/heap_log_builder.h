// SPDX-License-Identifier: MIT
// Logs of libheapit for tests.
#ifndef TESTS_SUPPORT_HEAP_LOG_BUILDER_H
#define TESTS_SUPPORT_HEAP_LOG_BUILDER_H

#include <pi/heap_log.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

namespace test_support {

// A log in memory.
class LogBuilder {
 public:
  LogBuilder() {
    pi::heap_log::Header header{};
    header.magic = pi::heap_log::magic;
    header.header_bytes = sizeof header;
    header.pid = 4711;
    std::memcpy(header.command, "app\0one", 8);
    header.command_bytes = 8;
    bytes_.assign(reinterpret_cast<const char*>(&header), sizeof header);
  }

  LogBuilder& map(uint64_t begin, uint64_t end, const std::string& path) {
    pi::heap_log::Mapping record{};
    record.record = {pi::heap_log::mapping, 0};
    record.begin = begin;
    record.end = end;
    return add(record, path + '\0');
  }

  LogBuilder& path(pi::heap_log::Kind kind, const std::vector<uint64_t>& frames,
                   const std::vector<uint64_t>& number,
                   pi::heap_log::PathEnd end = pi::heap_log::whole) {
    pi::heap_log::Path record{};
    record.record = {pi::heap_log::path, 0};
    record.kind = kind;
    record.end = static_cast<uint16_t>(end);
    record.frames = static_cast<uint16_t>(frames.size());
    std::copy(number.begin(), number.end(), record.number);
    return add(record, {reinterpret_cast<const char*>(frames.data()), frames.size() * 8});
  }

  pi::heap_log::Header& header() { return *reinterpret_cast<pi::heap_log::Header*>(bytes_.data()); }

  std::string bytes() {
    header().used_bytes = bytes_.size();
    return bytes_;
  }

 private:
  template <class T>
  LogBuilder& add(T record, const std::string& more) {
    constexpr size_t step = pi::heap_log::alignment;
    const size_t size = (sizeof record + more.size() + step - 1) / step * step;
    record.record.bytes = static_cast<uint32_t>(size);
    std::string text(reinterpret_cast<const char*>(&record), sizeof record);
    text += more;
    text.resize(size);
    bytes_ += text;
    return *this;
  }

  std::string bytes_;
};

inline LogBuilder two_paths() {
  LogBuilder log;
  log.map(0x1000, 0x2000, "/no/such/file");
  log.path(pi::heap_log::allocation, {0x1101, 0x1201}, {10, 1000, 4, 600, 700});
  log.path(pi::heap_log::allocation, {0x1101}, {1, 5, 1, 0, 5});
  log.path(pi::heap_log::mutex, {0x1101}, {3, 2'000'000'000, 1'000'000'000});
  log.path(pi::heap_log::condition, {}, {});
  return log;
}

}  // namespace test_support

#endif  // TESTS_SUPPORT_HEAP_LOG_BUILDER_H
