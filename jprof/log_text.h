// SPDX-License-Identifier: MIT
// The lines of log-jita2n and log-jtnm (pi/jit_log.h): values in, text out.
#ifndef PI_JPROF_LOG_TEXT_H
#define PI_JPROF_LOG_TEXT_H

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pi::jprof {

// The contents of a "# head" line.
struct LogHead {
  std::string agent;
  bool clock_is_exact = true;
  int64_t clock_offset = 0;
  uint32_t pid = 0;
  uint64_t pid_namespace = 0;
  uint64_t started = 0;
  uint64_t begun = 0;
  bool late = false;
  std::string jvm;
};

// One frame of a compiled method's tree of inlining. method is an index into Inlining::methods;
// append_inlining() replaces it by the method's number.
struct InlineFrame {
  uint32_t parent = 0;  // number of a frame, counted from 1; 0: none
  uint32_t method = 0;
  int32_t bci = -1;  // negative: unknown to the JVM
};

struct InlineRange {
  uint32_t end = 0;    // offset in the code, bytes
  uint32_t frame = 0;  // number of the innermost one
};

// Bytecode index and source line.
using LineTable = std::vector<std::pair<uint32_t, uint32_t>>;

// Each of these appends whole lines. Names are the JVM's own: modified UTF-8.
void append_jita2n_beginning(std::string& text, uint32_t pid);
void append_head(std::string& text, const LogHead& head);
void append_code(std::string& text, uint64_t time, uint64_t address, uint32_t size, uint32_t flags,
                 std::string_view name, std::span<const uint8_t> bytes);
void append_unload(std::string& text, uint64_t time, uint64_t address);
void append_method(std::string& text, uint32_t number, std::string_view file, std::string_view name,
                   const LineTable& lines);
void append_inlining(std::string& text, std::span<const InlineFrame> frames,
                     std::span<const InlineRange> ranges, std::span<const uint32_t> numbers);
void append_interval(std::string& text, uint32_t interval);
void append_lost(std::string& text, uint64_t count, uint64_t first, uint64_t last);
void append_end(std::string& text, uint64_t time, std::string_view reason);
void append_thread(std::string& text, uint64_t time, uint32_t tid, std::string_view name,
                   bool starts);

void append_mount(std::string& text, uint64_t time, uint32_t tid, std::string_view name);
void append_unmount(std::string& text, uint64_t time, uint32_t tid);

// A name as it is in the logs: UTF-8, blanks and control characters replaced, truncated where it is
// too long. In names of threads quotes are replaced as well.
std::string log_name(std::string_view modified_utf8);
std::string thread_log_name(std::string_view modified_utf8);

}  // namespace pi::jprof

#endif  // PI_JPROF_LOG_TEXT_H
