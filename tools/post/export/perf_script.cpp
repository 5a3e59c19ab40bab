// SPDX-License-Identifier: MIT
// Writes the text of perf script. Its readers divide lines at spaces and know no quotes: what they
// would take for another field is escaped.
#include <fmt/compile.h>

#include <iterator>

#include "text/text.h"
#include "timed.h"

namespace post {
namespace {

std::string escaped(char c) {
  return fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
}

std::string without_spaces(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == ' ' ? escaped(c) : std::string(1, c);
  return out;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// The name that begins a sample: a number after a space would be its process, and # begins a
// remark.
std::string command(const std::string& name, uint32_t tid) {
  if (name.empty()) return fmt::format(":{}", tid);
  std::string out;
  for (size_t i = 0; i < name.size(); ++i) {
    const bool last = i + 1 == name.size();
    const bool unsafe =
        name[i] == ' ' ? i == 0 || last || is_digit(name[i + 1]) : name[i] == '#' && i == 0;
    out += unsafe ? escaped(name[i]) : std::string(1, name[i]);
  }
  return out;
}

// Readers cut an offset of the form +0x12 from the end of a name.
std::string symbol(std::string name) {
  const size_t plus = name.rfind("+0x");
  if (plus != std::string::npos && plus + 3 < name.size() &&
      name.find_first_not_of("0123456789abcdef", plus + 3) == std::string::npos)
    name.replace(plus, 1, escaped('+'));
  return name;
}

class PerfScriptWriter final : public TimedWriter {
 public:
  PerfScriptWriter(const TimedFacts& facts, Sink& sink)
      : names_(facts.names),
        sink_(sink),
        event_(fmt::format("{} {}:", facts.period == 0 ? 1 : facts.period,
                           facts.event.empty() ? "cpu-clock" : without_spaces(facts.event))) {}

  void add(const RecordSum& record, const RecordsByTime& records) override {
    if (record.key.kind != RecordSum::Kind::tick) return;
    const auto& key = record.key;
    text_.clear();
    // Two spaces: some readers need a command of two characters.
    fmt::format_to(std::back_inserter(text_), FMT_COMPILE("{}  {}/{} [{:03}] {}.{:09}: {}\n"),
                   command_of(key.thread, key.tid), key.pid, key.tid, record.cpu,
                   record.time / 1'000'000'000, record.time % 1'000'000'000, event_);
    const Frames& frames = records.frames_of(key.stack);
    for (uint32_t stack = key.stack; stack != RecordSum::no_stack; stack = records.caller(stack))
      text_ += line(frames, records.function(stack));
    text_ += '\n';
    sink_.write(text_);
  }

  void finish(const RecordsByTime&, const std::vector<std::string>& remarks) override {
    for (const std::string& remark : remarks) sink_.write("# " + remark + "\n");
  }

 private:
  // Threads without a name are called by their id.
  const std::string& command_of(NameId thread, uint32_t tid) {
    if (commands_.size() <= thread) commands_.resize(thread + 1);
    std::string& known = commands_[thread];
    if (known.empty() || thread == no_name) known = command(names_.text(thread), tid);
    return known;
  }

  const std::string& line(const Frames& frames, FrameId id) {
    if (lines_.size() <= id) lines_.resize(id + 1);
    if (lines_[id].empty()) {
      const Frame& frame = frames.frame(id);
      const bool known = !frame.marker && frame.found != Found::no_module;
      lines_[id] = fmt::format(
          "\t0 {} ({})\n", symbol(frames.folded_name(id)),
          known ? without_spaces(printable(names_.text(frame.module))) : std::string("[unknown]"));
    }
    return lines_[id];
  }

  const StringTable& names_;
  Sink& sink_;
  const std::string event_;            // with the period, as in each sample
  std::vector<std::string> lines_;     // by frame
  std::vector<std::string> commands_;  // by name of the thread
  std::string text_;                   // of one sample
};

}  // namespace

std::unique_ptr<TimedWriter> make_perf_script_writer(const TimedFacts& facts, Sink& sink) {
  return std::make_unique<PerfScriptWriter>(facts, sink);
}

}  // namespace post
