// SPDX-License-Identifier: MIT
// Reads JProf's log of JIT-compiled code, log-jita2n (format: include/pi/jit_log.h).
#include "jit_log.h"

#include <pi/jit_log.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/budgets.h"
#include "base/line_reader.h"
#include "base/safe_file.h"
#include "base/words.h"

namespace a2n {
namespace {

namespace format = pi::jit_log;

constexpr uint64_t birth_error = 20'000'000;  // ns: the kernel reports start times in 10 ms units
constexpr uint64_t max_code_size = uint64_t{1} << 28;

struct Head {
  uint32_t version = 0;
  uint32_t pid = 0;
  uint32_t pid_namespace = 0;
  uint64_t started = 0;
  uint64_t begun = 0;
  bool late = false;
  bool other_clock = false;
};

Head parse_head(std::string_view line) {
  Head head;
  while (!line.empty()) {
    std::string_view value = take_word(line);
    const std::string_view key = take_word(value, '=');
    if (key == format::head::version) to_number(value, head.version, 10);
    if (key == format::head::pid) to_number(value, head.pid, 10);
    if (key == format::head::pid_ns) to_number(value, head.pid_namespace, 10);
    if (key == format::head::started) to_number(value, head.started, 16);
    if (key == format::head::begun) to_number(value, head.begun, 16);
    if (key == format::head::attached) head.late = value == "late";
    if (key == format::head::clock) head.other_clock = value != "CLOCK_MONOTONIC";
  }
  return head;
}

bool take_time(std::string_view& line, uint64_t& time) {
  uint32_t high = 0, low = 0;
  if (!to_number(take_word(line), high, 16) || !to_number(take_word(line), low, 16)) return false;
  time = static_cast<uint64_t>(high) << 32 | low;
  return true;
}

class Reader {
 public:
  Reader(const JitLogProcess& process, bool with_code, Interner& interner, JitCode& code)
      : process_(process), with_code_(with_code), interner_(interner), code_(code) {}

  // The reason why the log does not belong to the process; "" if none was found yet.
  const std::string& refusal() const { return refusal_; }
  size_t invalid() const { return invalid_; }
  uint64_t invalid_bytes() const { return invalid_bytes_; }
  uint64_t lost() const { return lost_; }
  bool other_clock() const { return other_clock_; }
  bool is_log() const { return titled_; }

  void line(std::string_view text) {
    if (!titled_) {
      titled_ = text == format::title;
      if (!titled_) refusal_ = "it is not a log-jita2n";
      return;
    }
    bool good = true;
    if (text.starts_with(format::addition))
      good = addition(text.substr(std::strlen(format::addition)));
    else if (text.starts_with(' '))
      good = classic_line(text);
    else if (!code_line(text))
      good = record(text);
    if (good) return;
    ++invalid_;
    invalid_bytes_ += text.size() + 1;
  }

  void finish() { flush(); }

 private:
  // Lines of the historical format: the head, and intervals, which the timestamps make redundant.
  bool classic_line(std::string_view text) {
    if (!text.starts_with(format::process)) return true;
    uint32_t pid = 0;
    if (!to_number(text.substr(std::strlen(format::process)), pid, 10)) return false;
    check_pid(pid);
    return true;
  }

  void check_pid(uint32_t pid) {
    if (process_.pid != 0 && pid != process_.pid)
      refusal_ = "it is of a process " + std::to_string(pid);
  }

  bool addition(std::string_view text) {
    const std::string_view word = take_word(text);
    if (word == format::head_word) return head(parse_head(text));
    if (version_ != format::version) return true;
    if (word == format::unload_word) return unload(text);
    if (word == format::method_word) return method(text);
    if (word == format::lines_word) return lines(text);
    if (word == format::frames_word) return frames(text);
    if (word == format::ranges_word) return ranges(text);
    if (word == format::lost_word) return lose(text);
    if (word == format::end_word) return end(text);
    return true;
  }

  bool head(const Head& head) {
    flush();
    methods_.clear();
    version_ = head.version;
    check_pid(head.pid);
    if (process_.pid_namespace != 0 && head.pid_namespace != 0 &&
        head.pid_namespace != process_.pid_namespace)
      refusal_ = "it is of a process of another pid namespace";
    if (!is_birth(head.started)) refusal_ = "it is of an earlier process that had the same id";
    other_clock_ = other_clock_ || head.other_clock;
    code_.begin_late(head.late ? head.begun : head.started);
    return head.version != 0;
  }

  bool is_birth(uint64_t started) const {
    if (started == 0) return true;
    if (process_.born != 0)
      return started <= process_.born + birth_error && process_.born <= started + birth_error;
    return process_.seen == 0 || started <= process_.seen + birth_error;
  }

  // TIMEHIGH TIMELOW ADDRESS SIZE FLAGS NAME
  bool record(std::string_view text) {
    flush();
    JitMethod method;
    uint32_t flags = 0;
    if (!take_time(text, method.time) || !to_number(take_word(text), method.address, 16) ||
        !to_number(take_word(text), method.size, 16) || !to_number(take_word(text), flags, 16) ||
        text.empty() || method.size == 0 || method.size > UINT64_MAX - method.address)
      return false;
    method.name = interner_.add(text);
    method.dynamic = (flags & format::flag_dynamic) != 0;
    if ((flags & format::flag_code) != 0 && method.size <= max_code_size) code_left_ = method.size;
    current_ = std::move(method);
    return true;
  }

  // False if the line does not continue the bytes of code. The line is then read as another kind,
  // and incomplete code is dropped.
  bool code_line(std::string_view text) {
    const uint64_t here = std::min<uint64_t>(code_left_, format::code_bytes_per_line);
    if (here == 0 || text.size() != 2 * here ||
        text.find_first_not_of("0123456789abcdefABCDEF") != text.npos)
      return false;
    code_left_ -= here;
    if (with_code_) take_code(text);
    return true;
  }

  void take_code(std::string_view digits) {
    for (size_t at = 0; at < digits.size(); at += 2) {
      uint8_t byte = 0;
      to_number(digits.substr(at, 2), byte, 16);
      bytes_.push_back(static_cast<char>(byte));
    }
  }

  bool unload(std::string_view text) {
    uint64_t time = 0, address = 0;
    if (!take_time(text, time) || !to_number(text, address, 16)) return false;
    flush();
    code_.unload(time, address);
    return true;
  }

  // ID FILE NAME
  bool method(std::string_view text) {
    uint32_t id = 0;
    if (!to_number(take_word(text), id, 16)) return false;
    const std::string_view file = take_word(text);
    if (file.empty() || text.empty()) return false;
    auto& known = methods_[id];
    known = std::make_shared<BytecodeMethod>();
    known->name = interner_.add(text);
    if (file != "-") known->file = interner_.add(file);
    return true;
  }

  // ID BCI:LINE ...
  bool lines(std::string_view text) {
    uint32_t id = 0;
    if (!to_number(take_word(text), id, 16)) return false;
    const auto known = methods_.find(id);
    if (known == methods_.end()) return false;
    bool good = true;
    while (!text.empty()) {
      std::string_view line = take_word(text);
      uint32_t index = 0, number = 0;
      if (to_number(take_word(line, ':'), index, 16) && to_number(line, number, 10))
        known->second->lines[index] = number;
      else
        good = false;
    }
    return good;
  }

  // PARENT:METHOD:BCI ... Stops at the first invalid frame: skipping it would renumber the ones
  // after it.
  bool frames(std::string_view text) {
    if (!current_) return false;
    while (!text.empty() && !bad_source_) {
      std::string_view frame = take_word(text);
      uint32_t parent = 0, id = 0, index = JitSource::unknown_index;
      bool good = to_number(take_word(frame, ':'), parent, 16) &&
                  to_number(take_word(frame, ':'), id, 16) &&
                  (frame == format::unknown_bci || to_number(frame, index, 16));
      const auto known = methods_.find(id);
      good = good && known != methods_.end() && source_.add_frame(parent, known->second, index);
      bad_source_ = !good;
    }
    return !bad_source_;
  }

  // END:FRAME ...
  bool ranges(std::string_view text) {
    if (!current_) return false;
    while (!text.empty() && !bad_source_) {
      std::string_view range = take_word(text);
      uint32_t end = 0, frame = 0;
      bad_source_ = !to_number(take_word(range, ':'), end, 16) || !to_number(range, frame, 16) ||
                    !source_.add_range(end, frame);
    }
    return !bad_source_;
  }

  bool lose(std::string_view text) {
    uint64_t number = 0, first = 0;
    if (!to_number(take_word(text), number, 10) || !take_time(text, first)) return false;
    flush();
    lost_ += number;
    code_.lose(first);
    return true;
  }

  bool end(std::string_view text) {
    uint64_t time = 0;
    if (!take_time(text, time)) return false;
    flush();
    if (text == format::end_detach) code_.stop(time);
    return true;
  }

  void flush() {
    if (current_) {
      if (!bad_source_ && !source_.empty())
        current_->source = std::make_shared<const JitSource>(std::move(source_));
      if (code_left_ == 0 && !bytes_.empty())
        current_->code = std::make_shared<const std::string>(std::move(bytes_));
      code_.load(std::move(*current_));
    }
    current_.reset();
    source_ = {};
    bytes_ = {};
    bad_source_ = false;
    code_left_ = 0;
  }

  const JitLogProcess& process_;
  const bool with_code_;
  Interner& interner_;
  JitCode& code_;
  bool titled_ = false;
  uint32_t version_ = 0;
  std::string refusal_;
  bool other_clock_ = false;
  uint64_t lost_ = 0;
  size_t invalid_ = 0;
  uint64_t invalid_bytes_ = 0;
  std::unordered_map<uint32_t, std::shared_ptr<BytecodeMethod>> methods_;
  std::optional<JitMethod> current_;  // the method that the following lines describe
  JitSource source_;                  // its frames so far
  std::string bytes_;                 // its code so far
  uint64_t code_left_ = 0;            // bytes of its code still to be read
  bool bad_source_ = false;           // its frames are invalid
};

}  // namespace

pi::Status read_jit_log(int fd, const std::string& name, const JitLogProcess& process,
                        bool with_code, Interner& interner, Notes& notes, JitCode& code) {
  const auto size = size_within(fd, name, budgets::jit_log);
  if (!size) return size.error();
  JitCode read;
  Reader reader(process, with_code, interner, read);
  LineReader lines(fd, *size);
  for (std::string_view line; reader.refusal().empty() && lines.next(line);) reader.line(line);
  reader.finish();
  if (lines.error() != 0)
    return pi::Error{lines.error(), name + ": " + std::strerror(lines.error())};
  if (!reader.refusal().empty()) return pi::Error{EINVAL, name + ": " + reader.refusal()};
  if (!reader.is_log()) return pi::Error{EINVAL, name + ": it is empty, or not a log-jita2n"};
  if (const size_t bad = reader.invalid() + lines.skipped(); bad != 0) {
    const uint64_t bytes = reader.invalid_bytes() + lines.skipped_bytes();
    notes.add_damage(name + ": " + std::to_string(bad) + " lines (" + std::to_string(bytes) +
                         " bytes) make no sense and are ignored",
                     bytes);
  }
  // The process was killed while writing, or is still writing.
  if (const uint64_t bytes = lines.cut_bytes(); bytes != 0)
    notes.add(name + ": the last line is cut off; " + std::to_string(bytes) +
              " bytes of it are not used");
  if (reader.lost() != 0)
    notes.add(name + ": JProf could not write " + std::to_string(reader.lost()) +
              " events; from there on code that was there before has no name");
  if (reader.other_clock()) {
    read.ignore_times();
    notes.add(name +
              ": its times are of a time namespace and cannot be compared with the trace's; where "
              "code took the place of other code its names may be wrong");
  }
  code = std::move(read);
  return {};
}

}  // namespace a2n
