// SPDX-License-Identifier: MIT
// Writes Chrome's JSON of traces. The tracks of CPUs belong to a process with an id that Linux does
// not use.
#include <fmt/compile.h>

#include <iterator>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "json.h"
#include "timed.h"

namespace post {
namespace {

using Kind = RecordSum::Kind;

constexpr uint32_t cpus_pid = 0x7fffffff;

std::string quoted(const std::string& text) {
  return pi::Json(text).dump();
}

// Microseconds with all three decimals.
std::string micros(uint64_t ns) {
  return fmt::format(FMT_COMPILE("{}.{:03}"), ns / 1000, ns % 1000);
}

class ChromeWriter final : public TimedWriter {
 public:
  ChromeWriter(const TimedFacts& facts, Sink& sink)
      : names_(facts.names), begin_(facts.begin), sink_(sink) {
    sink_.write("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
    put_name("process_name", cpus_pid, 0, "CPUs");
  }

  void add(const RecordSum& record, const RecordsByTime& records) override {
    if (record.key.kind == Kind::tick)
      add_tick(record, records);
    else if (record.key.kind == Kind::running)
      add_run(record);
  }

  void finish(const RecordsByTime& records, const std::vector<std::string>& remarks) override {
    sink_.write("\n],\n\"stackFrames\":{");
    const char* separator = "\n";
    for (uint32_t stack = 0; stack < used_.size(); ++stack) {
      if (!used_[stack]) continue;
      const uint32_t caller = records.caller(stack);
      sink_.write(fmt::format(
          "{}\"{}\":{{\"name\":{}{}{}}}", separator, stack, name_of(stack, records),
          records.innermost(stack).guessed ? ",\"category\":\"guessed\"" : "",
          caller == RecordSum::no_stack ? "" : fmt::format(",\"parent\":\"{}\"", caller)));
      separator = ",\n";
    }
    sink_.write("\n},\n\"otherData\":{\"exporter\":\"post (pitrace)\"");
    for (size_t i = 0; i < remarks.size(); ++i)
      sink_.write(fmt::format(",\n\"remark {}\":{}", i + 1, quoted(remarks[i])));
    sink_.write("}}\n");
  }

 private:
  // Of the innermost function; most stacks occur often.
  const std::string& name_of(uint32_t stack, const RecordsByTime& records) {
    if (stack_names_.size() <= stack) stack_names_.resize(stack + 1);
    std::string& name = stack_names_[stack];
    if (name.empty()) name = quoted(records.frames_of(stack).folded_name(records.function(stack)));
    return name;
  }

  uint64_t since_begin(uint64_t time) const { return time > begin_ ? time - begin_ : 0; }

  void put(std::string_view event) {
    sink_.write(separator_);
    sink_.write(event);
    separator_ = ",\n";
  }

  void put_name(const char* what, uint32_t pid, uint32_t tid, const std::string& name) {
    put(fmt::format(
        "{{\"ph\":\"M\",\"pid\":{},\"tid\":{},\"name\":\"{}\",\"args\":{{\"name\":{}}}}}", pid, tid,
        what, quoted(name)));
  }

  void add_tick(const RecordSum& record, const RecordsByTime& records) {
    const auto& key = record.key;
    name_thread(key);
    // With its callers.
    for (uint32_t stack = key.stack; stack != RecordSum::no_stack; stack = records.caller(stack)) {
      if (used_.size() <= stack) used_.resize(stack + 1);
      if (used_[stack]) break;
      used_[stack] = true;
    }
    const uint64_t since = since_begin(record.time);
    tick_.clear();
    fmt::format_to(
        std::back_inserter(tick_),
        FMT_COMPILE("{{\"ph\":\"i\",\"s\":\"t\",\"name\":{},\"cat\":\"tick\",\"pid\":{},"
                    "\"tid\":{},\"ts\":{}.{:03},\"sf\":\"{}\",\"args\":{{\"cpu\":{}}}}}"),
        name_of(key.stack, records), key.pid, key.tid, since / 1000, since % 1000, key.stack,
        record.cpu);
    put(tick_);
  }

  void add_run(const RecordSum& record) {
    if (cpus_.insert(record.cpu).second)
      put_name("thread_name", cpus_pid, record.cpu, fmt::format("CPU {}", record.cpu));
    const auto& key = record.key;
    const std::string& name = key.thread == no_name ? unknown_ : names_.text(key.thread);
    // Not one event with its duration: readers that add up floating-point numbers would let it
    // overlap the next one.
    const std::string place = fmt::format("\"name\":{},\"cat\":\"run\",\"pid\":{},\"tid\":{}",
                                          quoted(name), cpus_pid, record.cpu);
    put(fmt::format("{{\"ph\":\"B\",{},\"ts\":{},\"args\":{{\"pid\":{},\"tid\":{}}}}}", place,
                    micros(since_begin(record.time - record.amount)), key.pid, key.tid));
    put(fmt::format("{{\"ph\":\"E\",{},\"ts\":{}}}", place, micros(since_begin(record.time))));
  }

  void name_thread(const RecordSum::Key& key) {
    if (set(process_names_, key.pid, key.process))
      put_name("process_name", key.pid, key.pid, names_.text(key.process));
    if (set(thread_names_, key.tid, key.thread))
      put_name("thread_name", key.pid, key.tid, names_.text(key.thread));
  }
  // True when the name is new.
  using Names = std::unordered_map<uint32_t, NameId>;
  static bool set(Names& names, uint32_t id, NameId name) {
    const auto [at, added] = names.try_emplace(id, name);
    if (!added && at->second == name) return false;
    at->second = name;
    return true;
  }

  const StringTable& names_;
  const uint64_t begin_;
  Sink& sink_;
  const std::string unknown_ = "[unknown]";
  std::string_view separator_;
  std::string tick_;  // the text of one
  Names process_names_, thread_names_;
  std::unordered_set<uint32_t> cpus_;  // that have a name
  std::vector<bool> used_;             // by stack
  std::vector<std::string> stack_names_;
};

}  // namespace

std::unique_ptr<TimedWriter> make_chrome_writer(const TimedFacts& facts, Sink& sink) {
  return std::make_unique<ChromeWriter>(facts, sink);
}

}  // namespace post
