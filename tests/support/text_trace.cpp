// SPDX-License-Identifier: MIT
// Builds a trace file from readable text.
#include "text_trace.h"

#include <fmt/format.h>

#include <optional>
#include <sstream>
#include <stdexcept>

namespace test_support {
namespace {

// Words of one line, from left to right; throws std::invalid_argument with the error.
class Words {
 public:
  explicit Words(std::string line) : in_(std::move(line)) {}

  bool take(std::string& word) { return static_cast<bool>(in_ >> word); }

  std::string word() {
    std::string text;
    if (!take(text)) throw std::invalid_argument("a word is missing");
    return text;
  }

  static uint64_t number(const std::string& text) {
    size_t used = 0;
    const uint64_t value = std::stoull(text, &used, 0);
    if (used != text.size()) throw std::invalid_argument("not a number: " + text);
    return value;
  }
  uint64_t number() { return number(word()); }
  uint32_t small() { return static_cast<uint32_t>(number()); }

  // The rest of the line after one blank, with \xNN replaced.
  std::string rest() {
    std::string text;
    std::getline(in_ >> std::ws, text);
    std::string out;
    for (size_t i = 0; i < text.size(); ++i) {
      if (text.compare(i, 2, "\\x") == 0 && i + 4 <= text.size()) {
        out += static_cast<char>(std::stoi(text.substr(i + 2, 2), nullptr, 16));
        i += 3;
      } else {
        out += text[i];
      }
    }
    return out;
  }

 private:
  std::istringstream in_;
};

class TextTrace {
 public:
  void line(const std::string& text) {
    Words words(text);
    std::string first;
    if (!words.take(first) || first[0] == '#') return;
    if (first == "cpus")
      cpus_ = words.small();
    else if (first == "info")
      info_ += words.rest() + "\n";
    else if (first == "build-id")
      build_ids_ += words.rest() + "\n";
    else if (first == "frame-name")
      frame_names_ += words.rest() + "\n";
    else if (first == "kernel-code")
      add_kernel_code(words);
    else if (first == "kallsyms")
      kallsyms_ += words.rest() + "\n";
    else if (first == "section")
      begin_section(words);
    else if (!records_)
      throw std::invalid_argument("a record outside of a section");
    else if (first == "raw")
      add_raw(words);
    else
      add_record(Words::number(first), words);
  }

  Bytes finish() {
    end_section();
    if (!kernel_code_.empty()) trace_.section(pi::nrm2::section_kernel_code, {}, kernel_code_);
    if (!info_.empty()) trace_.text(pi::nrm2::section_info, info_);
    if (!build_ids_.empty()) trace_.text(pi::nrm2::section_build_ids, build_ids_);
    if (!frame_names_.empty()) trace_.text(pi::nrm2::section_frame_names, frame_names_);
    if (!kallsyms_.empty()) trace_.symbols(kallsyms_, "");
    return trace_.bytes();
  }

 private:
  void begin_section(Words& words) {
    end_section();
    const std::string type = words.word();
    type_ = type == "mte"      ? pi::nrm2::section_mte
            : type == "trace"  ? pi::nrm2::section_trace
            : type == "stacks" ? pi::nrm2::section_stacks
            : type == "final"  ? pi::nrm2::section_final_mte
                               : throw std::invalid_argument("no section type: " + type);
    facts_ = {words.small(), 0, cpus_, 0, 0};
    bool time_records = true;
    for (std::string option; words.take(option);) {
      const std::string value = option.substr(option.find('=') + 1);
      if (option == "no-time")
        time_records = false;
      else if (option.starts_with("start="))
        facts_.start_time = Words::number(value);
      else if (option.starts_with("flags="))
        facts_.flags = static_cast<uint32_t>(Words::number(value));
      else if (option.starts_with("lost="))
        facts_.lost = static_cast<uint32_t>(Words::number(value));
      else
        throw std::invalid_argument("no section option: " + option);
    }
    records_.emplace(time_records);
  }

  void end_section() {
    if (records_) trace_.section(type_, facts_, records_->bytes());
    records_.reset();
  }

  static Bytes take_bytes(Words& words) {
    Bytes bytes;
    for (std::string byte; words.take(byte);)
      bytes.push_back(static_cast<std::byte>(std::stoi(byte, nullptr, 16)));
    return bytes;
  }

  void add_raw(Words& words) { records_->raw(take_bytes(words)); }

  void add_kernel_code(Words& words) {
    const uint64_t address = words.number();
    const Bytes code = take_bytes(words);
    const uint64_t head[] = {address, code.size()};
    const auto head_bytes = std::as_bytes(std::span(head));
    kernel_code_.insert(kernel_code_.end(), head_bytes.begin(), head_bytes.end());
    kernel_code_.insert(kernel_code_.end(), code.begin(), code.end());
    kernel_code_.resize((kernel_code_.size() + 7) & ~size_t{7});
  }

  static bool take_ring(Words& words) {
    const std::string ring = words.word();
    if (ring != "user" && ring != "kernel")
      throw std::invalid_argument("user or kernel, not " + ring);
    return ring == "user";
  }

  // Returns false for other kinds of records.
  bool add_itrace(uint64_t time, const std::string& kind, Words& words) {
    if (kind == "branch") {
      const bool user = take_ring(words);
      const uint64_t from = words.number();
      const uint64_t to = words.number();
      std::string count;
      const bool counted = words.take(count);
      records_->branch(time, user, from, to, counted,
                       counted ? static_cast<uint32_t>(Words::number(count)) : 0);
    } else if (kind == "cut") {
      const bool user = take_ring(words);
      const uint32_t vector = words.small();
      const uint32_t count = words.small();
      const uint64_t address = words.number();
      std::string resumed;
      const uint32_t flag = words.take(resumed) && resumed == "resumed" ? PITRACE_CUT_RESUMED : 0;
      records_->cut(time, user, vector | flag, count, address);
    } else if (kind == "gap") {
      const uint32_t reason = words.small(), count = words.small(), missing = words.small();
      const uint32_t ns = words.small();
      records_->itrace_gap(time, reason, count, missing, ns, words.number());
    } else if (kind == "follow") {
      const uint32_t pid = words.small();
      records_->itrace_thread(time, pid, words.small());
    } else if (kind == "start") {
      const uint32_t pid = words.small(), tid = words.small(), flags = words.small();
      records_->itrace_start(time, pid, tid, flags, words.number());
    } else if (kind == "stop") {
      const uint32_t reason = words.small(), cpu = words.small(), branches = words.small();
      const uint32_t tid = words.small(), count = words.small();
      records_->itrace_stop(time, reason, cpu, branches, tid, count, words.number());
    } else {
      return false;
    }
    return true;
  }

  void add_record(uint64_t time, Words& words) {
    const std::string kind = words.word();
    if (add_itrace(time, kind, words)) return;
    if (kind == "tick") return add_tick(time, words);
    if (kind == "ints") return add_ints(time, words);
    if (kind == "dispatch") return add_dispatch(time, words);
    if (kind == "wakeup") return add_wakeup(time, words);
    if (kind == "lost") return void(records_->lost(time, words.number()));
    const uint32_t pid = words.small();
    if (kind == "name") return void(records_->name(time, pid, words.rest()));
    if (kind == "module") return add_module(time, pid, words);
    if (kind == "cgroup")
      return void(
          records_->string(time, PITRACE_MTE_CGROUP, {pid, PITRACE_CGROUP_V2}, words.rest()));
    if (kind == "exec") return void(records_->exec(time, pid));
    if (kind == "kill") return void(records_->kill(time, pid));
    const uint32_t other = words.small();
    if (kind == "thread") return void(records_->thread_name(time, pid, other, words.rest()));
    if (kind == "migrate") return void(records_->migrate(time, pid, other));
    if (kind == "born")
      return void(
          records_->mte(time, PITRACE_MTE_PARENT, {pid, other, PITRACE_PARENT_FORK, other}));
    if (kind == "fork") return void(records_->fork(time, pid, other));
    if (kind == "clone") return void(records_->clone(time, pid, other));
    if (kind == "existing") return void(records_->existing(time, pid, other));
    if (kind == "new-thread") return void(records_->new_thread(time, pid, other));
    if (kind == "end-thread")
      return void(records_->mte(time, PITRACE_MTE_KILL_THREAD, {pid, other}));
    throw std::invalid_argument("no record kind: " + kind);
  }

  void add_tick(uint64_t time, Words& words) {
    const bool user = take_ring(words);
    const uint32_t pid = words.small();
    const uint32_t tid = words.small();
    const uint64_t address = words.number();
    if (const auto stack = take_stack(words))
      records_->tick(time, user, pid, tid, address, *stack);
    else
      records_->tick(time, user, pid, tid, address);
  }

  void add_dispatch(uint64_t time, Words& words) {
    const uint32_t pid = words.small();
    const uint32_t tid = words.small();
    const uint32_t state = state_from(words.word());
    if (const auto stack = take_stack(words))
      records_->dispatch(time, pid, tid, state, *stack);
    else
      records_->dispatch(time, pid, tid, state);
  }

  void add_wakeup(uint64_t time, Words& words) {
    const uint32_t tid = words.small();
    const uint32_t waker = words.small();
    const uint32_t cpu = words.small();
    std::string word;
    const bool interrupt = words.take(word) && word == "interrupt";
    records_->wakeup(time, tid, waker, cpu | (interrupt ? PITRACE_WAKEUP_INTERRUPT : 0));
  }

  static uint32_t state_from(const std::string& word) {
    constexpr std::pair<std::string_view, uint32_t> states[] = {
        {"runnable", PITRACE_STATE_RUNNABLE},
        {"preempted", PITRACE_STATE_RUNNABLE | PITRACE_STATE_PREEMPTED},
        {"sleeping", PITRACE_STATE_SLEEPING},
        {"uninterruptible", PITRACE_STATE_UNINTERRUPTIBLE},
        {"stopped", PITRACE_STATE_STOPPED},
        {"dead", PITRACE_STATE_DEAD},
        {"parked", PITRACE_STATE_PARKED},
        {"idle", PITRACE_STATE_IDLE},
        {"other", PITRACE_STATE_OTHER},
        {"blocked", PITRACE_STATE_BLOCKED}};
    for (const auto& [name, state] : states)
      if (word == name) return state;
    return static_cast<uint32_t>(Words::number(word));
  }

  static std::optional<StackFrames> take_stack(Words& words) {
    constexpr std::pair<std::string_view, uint32_t> flags[] = {
        {"kernel-broken", PITRACE_STACK_KERNEL_BROKEN},
        {"user-broken", PITRACE_STACK_USER_BROKEN},
        {"kernel-cut", PITRACE_STACK_KERNEL_CUT},
        {"user-cut", PITRACE_STACK_USER_CUT},
        {"user-whole", PITRACE_STACK_USER_WHOLE}};
    std::string word;
    if (!words.take(word)) return {};
    if (word != "stack") throw std::invalid_argument("stack, not " + word);
    StackFrames stack;
    std::vector<__u64>* frames = nullptr;
    while (words.take(word)) {
      uint32_t flag = 0;
      for (const auto& [name, value] : flags)
        if (word == name) flag = value;
      stack.flags |= flag;
      if (word == "id") {
        flag = PITRACE_STACK_USER_ID;
        stack.flags |= flag;
        stack.id = words.small();
      }
      if (word.starts_with("tables-")) {
        flag = PITRACE_STACK_USER_TABLES;
        stack.flags |= flag;
        stack.table_frames = static_cast<uint32_t>(Words::number(word.substr(7)));
      }
      if (frames && !frames->empty() && word.starts_with("times-")) {
        frames->resize(frames->size() + Words::number(word.substr(6)) - 1, frames->back());
        continue;
      }
      if (word == "kernel" || word == "user")
        frames = word == "kernel" ? &stack.kernel : &stack.user;
      else if (flag == 0 && !frames)
        throw std::invalid_argument("kernel or user, not " + word);
      else if (flag == 0)
        frames->push_back(Words::number(word));
    }
    return stack;
  }

  void add_ints(uint64_t time, Words& words) {
    const uint32_t major = words.small();
    const uint32_t minor = words.small();
    std::vector<uint32_t> values;
    for (std::string value; words.take(value);)
      values.push_back(static_cast<uint32_t>(Words::number(value)));
    records_->ints(time, major, minor, values);
  }

  void add_module(uint64_t time, uint32_t pid, Words& words) {
    pitrace_module module{};
    module.pid = pid;
    module.address = words.number();
    module.size = words.number();
    module.offset = words.number();
    records_->module(time, module, words.rest());
  }

  TraceBuilder trace_;
  uint32_t cpus_ = 1;
  uint32_t type_ = 0;
  SectionFacts facts_;
  std::optional<RecordBuilder> records_;
  std::string info_;
  std::string build_ids_;
  std::string frame_names_;
  Bytes kernel_code_;
  std::string kallsyms_;
};

}  // namespace

pi::Result<Bytes> trace_from_text(std::string_view text) {
  TextTrace trace;
  std::istringstream in{std::string(text)};
  size_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    try {
      trace.line(line);
    } catch (const std::exception& problem) {
      return pi::Error{-1,
                       fmt::format("line {} of the trace ({}): {}", number, line, problem.what())};
    }
  }
  return trace.finish();
}

}  // namespace test_support
