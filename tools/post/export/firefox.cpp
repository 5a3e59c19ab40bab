// SPDX-License-Identifier: MIT
// Writes the Firefox Profiler's processed format.
#include <fmt/compile.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "json.h"
#include "text/deflate.h"
#include "text/spool.h"
#include "text/text.h"
#include "timed.h"

namespace post {
namespace {

using Kind = RecordSum::Kind;

enum Category : uint32_t { other, user, kernel, waiting };
enum Subcategory : uint32_t { no_guess, guess };  // of user

std::string quoted_text(const std::string& text) {
  return pi::Json(text).dump();
}

// Writes an array element by element.
class Array {
 public:
  explicit Array(Sink& sink) : sink_(sink) { sink_.write("["); }
  void add(std::string_view value) {
    sink_.write(separator_);
    sink_.write(value);
    separator_ = ",";
  }
  void add(uint64_t value) {
    const fmt::format_int digits(value);
    add(std::string_view(digits.data(), digits.size()));
  }
  void end() { sink_.write("]"); }

 private:
  Sink& sink_;
  std::string_view separator_;
};

class FirefoxWriter final : public TimedWriter {
 public:
  FirefoxWriter(const TimedFacts& facts, Sink& sink)
      : facts_(facts),
        names_(facts.names),
        file_(sink),
        sink_(sink, Container::gzip, DeflateWriter::quick),
        samples_(facts.scratch),
        markers_(facts.scratch) {}

  void add(const RecordSum& record, const RecordsByTime& records) override {
    const auto& key = record.key;
    if (key.kind != Kind::tick && key.pid == 0) return;  // not known
    const uint32_t thread = thread_of({key.pid, key.tid, key.process, key.thread});
    const uint32_t stack =
        key.stack == RecordSum::no_stack ? no_index : stack_of(key.stack, records);
    if (key.kind == Kind::tick)
      samples_.add(thread, {record.time, stack});
    else
      markers_.add(thread, {record.time - record.amount, record.time, stack, name_of(record),
                            key.kind, key.reason, key.kind == Kind::running ? record.cpu : 0});
    ++threads_[thread].records;
  }

  void add(const UserHook& event) override {
    if (!event.thread.exists()) return;
    const uint32_t thread = thread_of(event.thread);
    markers_.add(thread,
                 {event.time, event.time, no_index, strings_.intern(hook_name(event.record)),
                  Kind::tick, RecordSum::no_reason, event.cpu});
    ++threads_[thread].records;
  }

  uint64_t text_bytes() const override { return sink_.taken(); }

  void finish(const RecordsByTime& records, const std::vector<std::string>& remarks) override {
    put_meta(records, remarks);
    put_libraries();
    sink_.write(",\"threads\":[");
    const char* separator = "";
    for (const uint32_t thread : sorted_threads()) {
      sink_.write(separator);
      put_thread(thread);
      separator = ",\n";
    }
    sink_.write("]");
    put_shared();
    sink_.write("}\n");
    sink_.finish();
    for (const int error : {samples_.error(), markers_.error()})
      if (error != 0) file_.fail(error);
  }

 private:
  static constexpr uint32_t no_index = 0xffffffff;

  struct Thread {
    uint32_t pid = 0;
    uint32_t tid = 0;
    NameId process = no_name;
    NameId name = no_name;
    uint64_t records = 0;
  };
  struct Sample {
    uint64_t time = 0;
    uint32_t stack = 0;
  };
  struct Marker {
    uint64_t begin = 0;
    uint64_t end = 0;
    uint32_t stack = 0;
    uint32_t name = 0;       // in strings_
    Kind kind = Kind::tick;  // tick: a user hook
    LeaveReason reason = 0;
    uint32_t cpu = 0;
  };
  struct Function {
    uint32_t name = 0;            // in strings_
    uint32_t library = no_index;  // in libraries_
    Category category = Category::user;
    Subcategory subcategory = Subcategory::no_guess;
  };

  bool by_time() const { return facts_.event.empty() && facts_.period != 0; }

  std::string millis(uint64_t time) const {
    const uint64_t since = time > facts_.begin ? time - facts_.begin : 0;
    return fmt::format(FMT_COMPILE("{}.{:06}"), since / 1000000, since % 1000000);
  }

  uint32_t name_of(const RecordSum& record) {
    return strings_.intern(record.key.kind == Kind::running    ? "Running"
                           : record.key.kind == Kind::runnable ? "Waiting for a CPU"
                                                               : "Blocked");
  }

  uint32_t thread_of(const NamedThread& thread) {
    const auto [at, added] = thread_at_.try_emplace(uint64_t{thread.pid} << 32 | thread.tid,
                                                    static_cast<uint32_t>(threads_.size()));
    if (added) threads_.push_back({thread.pid, thread.tid});
    Thread& known = threads_[at->second];
    if (thread.process != no_name) known.process = thread.process;
    if (thread.thread != no_name) known.name = thread.thread;
    return at->second;
  }

  // Callers have lower numbers.
  uint32_t stack_of(uint32_t number, const RecordsByTime& records) {
    if (stack_at_.size() <= number) stack_at_.resize(number + 1, no_index);
    if (stack_at_[number] != no_index) return stack_at_[number];
    std::vector<uint32_t> added;
    for (uint32_t at = number; at != RecordSum::no_stack && stack_at_[at] == no_index;
         at = records.caller(at))
      added.push_back(at);
    for (size_t i = added.size(); i-- > 0;) {
      const uint32_t at = added[i];
      const uint32_t caller = records.caller(at);
      stack_at_[at] = static_cast<uint32_t>(stacks_.size());
      stacks_.push_back(
          {caller == RecordSum::no_stack ? no_index : stack_at_[caller], function_of(at, records)});
    }
    return stack_at_[number];
  }

  // The innermost function of a stack. Ticks and waits number functions by themselves.
  uint32_t function_of(uint32_t stack, const RecordsByTime& records) {
    const FrameId id = records.function(stack);
    const auto [at, added] = function_at_.try_emplace(uint64_t{id} << 1 | (stack & 1),
                                                      static_cast<uint32_t>(functions_.size()));
    if (!added) return at->second;
    const Frame& frame = records.innermost(stack);
    Function function{.name = strings_.intern(records.frames_of(stack).folded_name(id))};
    if (frame.marker || frame.found == Found::no_module)
      function.category = Category::other;
    else if (frame.kernel)
      function.category = Category::kernel;
    else if (frame.guessed)
      function.subcategory = Subcategory::guess;
    if (function.category != Category::other && frame.module != no_name)
      function.library =
          library_at_.try_emplace(frame.module, static_cast<uint32_t>(library_at_.size()))
              .first->second;
    functions_.push_back(function);
    return at->second;
  }

  void put_meta(const RecordsByTime& records, const std::vector<std::string>& remarks) {
    const double millis_of_tick = by_time() ? static_cast<double>(facts_.period) / 1e6 : 1;
    const uint64_t start = records.epoch() == 0 ? 0 : records.epoch() + facts_.begin;
    pi::Json entries = pi::Json::array();
    for (size_t i = 0; i < remarks.size(); ++i)
      entries.push_back({{"label", fmt::format("Remark {}", i + 1)},
                         {"format", "string"},
                         {"value", remarks[i]}});
    const auto category = [](const char* name, const char* color, pi::Json::Array subcategories) {
      return pi::Json{
          {"name", name}, {"color", color}, {"subcategories", std::move(subcategories)}};
    };
    const auto field = [](const char* key, const char* label, const char* format) {
      return pi::Json{{"key", key}, {"label", label}, {"format", format}};
    };
    const auto schema = [](const char* name, pi::Json fields) {
      return pi::Json{{"name", name},
                      {"tooltipLabel", "{marker.name}"},
                      {"tableLabel", "{marker.name}"},
                      {"chartLabel", "{marker.name}"},
                      {"display", {"marker-chart", "marker-table"}},
                      {"fields", std::move(fields)}};
    };
    const pi::Json meta = {
        {"interval", millis_of_tick},
        {"startTime", static_cast<double>(start) / 1e6},
        {"startTimeAsClockMonotonicNanosecondsSinceBoot", facts_.begin},
        {"processType", 0},
        {"product", "pitrace"},
        {"importedFrom", "pitrace"},
        {"stackwalk", 1},
        {"version", 31},
        {"preprocessedProfileVersion", 60},
        {"sampleUnits", {{"time", "ms"}, {"eventDelay", "ms"}, {"threadCPUDelta", "ns"}}},
        {"symbolicated", true},
        {"symbolicationNotSupported", true},
        {"usesOnlyOneStackType", true},
        {"sourceCodeIsNotOnSearchfox", true},
        {"platform", "Linux"},
        {"categories",
         {category("Other", "grey", {"Other"}), category("User", "yellow", {"Other", "Guessed"}),
          category("Kernel", "orange", {"Other"}),
          category("Without processor", "transparent", {"Other"})}},
        {"markerSchema",
         {schema("State", {field("cpu", "CPU", "integer"), field("reason", "Reason", "string")}),
          schema("Hook", {field("cpu", "CPU", "integer")})}},
        {"extra", {{{"label", "Of the trace"}, {"entries", std::move(entries)}}}},
    };
    sink_.write(fmt::format("{{\"meta\":{}", meta.dump()));
  }

  void put_libraries() {
    sink_.write(",\n\"libs\":[");
    std::vector<NameId> modules(library_at_.size());
    for (const auto& [module, at] : library_at_) modules[at] = module;
    const char* separator = "";
    for (const NameId module : modules) {
      const std::string& path = names_.text(module);
      const std::string name = path.substr(path.rfind('/') + 1);
      library_names_.push_back(strings_.intern(name));
      sink_.write(separator);
      sink_.write(pi::Json{
          {"arch", ""},
          {"name", name},
          {"path", path},
          {"debugName", name},
          {"debugPath", path},
          {"breakpadId", ""},
          {"codeId",
           nullptr}}.dump());
      separator = ",\n";
    }
    sink_.write("]");
  }

  std::vector<uint32_t> sorted_threads() const {
    std::vector<uint32_t> sorted;
    for (uint32_t i = 0; i < threads_.size(); ++i)
      if (threads_[i].records != 0) sorted.push_back(i);
    std::ranges::sort(sorted, {},
                      [this](uint32_t i) { return std::pair(threads_[i].pid, threads_[i].tid); });
    return sorted;
  }

  // Writes a column of an object: value() of each row.
  template <typename ForEach, typename Value>
  void put_column(const char* name, const ForEach& for_each, const Value& value) {
    sink_.write(fmt::format("\"{}\":", name));
    Array column(sink_);
    for_each([&](const auto& row) { column.add(value(row)); });
    column.end();
    sink_.write(",");
  }

  static std::string index(uint32_t number) {
    return number == no_index ? "null" : fmt::format_int(number).str();
  }

  void put_thread(uint32_t number) {
    const Thread& thread = threads_[number];
    const auto name = [this](NameId id) {
      return quoted_text(id == no_name ? "[unknown]" : names_.text(id));
    };
    sink_.write(fmt::format(
        "{{\"processType\":\"default\",\"processStartupTime\":0,\"processShutdownTime\":null,"
        "\"registerTime\":0,\"unregisterTime\":null,\"pausedRanges\":[],\"name\":{},"
        "\"isMainThread\":{},\"processName\":{},\"pid\":\"{}\",\"tid\":{},\"samples\":{{",
        name(thread.name), thread.pid == thread.tid, name(thread.process), thread.pid, thread.tid));
    uint64_t samples = 0;
    const auto each_sample = [&](const auto& take) { samples_.for_each(number, take); };
    put_column("stack", each_sample, [&](const Sample& row) {
      ++samples;
      return index(row.stack);
    });
    put_column("time", each_sample, [&](const Sample& row) { return millis(row.time); });
    // A tick stands for that much processor time; without this, the time between two ticks would.
    if (by_time()) put_constant("threadCPUDelta", fmt::format("{}", facts_.period), samples);
    sink_.write(fmt::format(
        "\"weight\":null,\"weightType\":\"samples\",\"length\":{}}},\"markers\":{{", samples));
    put_markers(number);
    sink_.write("}}");
  }

  void put_markers(uint32_t thread) {
    constexpr int instant = 0, interval = 1;  // phases
    uint64_t count = 0;
    const auto each = [&](const auto& take) { markers_.for_each(thread, take); };
    put_column("name", each, [&](const Marker& row) {
      ++count;
      return index(row.name);
    });
    put_column("startTime", each, [&](const Marker& row) { return millis(row.begin); });
    put_column("endTime", each, [&](const Marker& row) {
      return row.kind == Kind::tick ? "null" : millis(row.end);
    });
    put_column("phase", each, [&](const Marker& row) {
      return fmt::format("{}", row.kind == Kind::tick ? instant : interval);
    });
    put_column("category", each, [&](const Marker& row) {
      return fmt::format("{}", static_cast<uint32_t>(category_of(row.kind)));
    });
    put_column("data", each, [&](const Marker& row) { return data_of(row); });
    sink_.write(fmt::format("\"length\":{}", count));
  }

  static Category category_of(Kind kind) {
    if (kind == Kind::tick) return Category::other;
    return kind == Kind::running ? Category::user : Category::waiting;
  }

  std::string data_of(const Marker& marker) const {
    if (marker.kind == Kind::tick)
      return fmt::format("{{\"type\":\"Hook\",\"cpu\":{}}}", marker.cpu);
    std::string data = "{\"type\":\"State\"";
    if (marker.kind == Kind::running) data += fmt::format(",\"cpu\":{}", marker.cpu);
    if (marker.reason != RecordSum::no_reason)
      data += fmt::format(",\"reason\":\"{}\"", reason_word(marker.reason));
    if (marker.stack != no_index)
      data += fmt::format(",\"cause\":{{\"time\":{},\"stack\":{}}}", millis(marker.begin),
                          marker.stack);
    return data + "}";
  }

  // Writes a column with the same value in each row.
  void put_constant(const char* name, std::string_view value, size_t rows) {
    sink_.write(fmt::format("\"{}\":", name));
    Array column(sink_);
    for (size_t i = 0; i < rows; ++i) column.add(value);
    column.end();
    sink_.write(",");
  }

  void put_length(size_t rows) { sink_.write(fmt::format("\"length\":{}}}", rows)); }

  void put_shared() {
    const auto each_stack = [this](const auto& take) { std::ranges::for_each(stacks_, take); };
    const auto each_function = [this](const auto& take) {
      std::ranges::for_each(functions_, take);
    };
    sink_.write(",\n\"shared\":{\"stackTable\":{");
    put_column("frame", each_stack, [](const auto& row) { return index(row.second); });
    put_column("prefix", each_stack, [](const auto& row) { return index(row.first); });
    put_length(stacks_.size());
    const size_t rows = functions_.size();
    sink_.write(",\n\"frameTable\":{");
    put_column("category", each_function, [](const Function& row) {
      return fmt::format("{}", static_cast<uint32_t>(row.category));
    });
    uint32_t next = 0;  // a frame for each function
    put_column("func", each_function, [&](const Function&) { return index(next++); });
    put_constant("address", "-1", rows);
    put_column("subcategory", each_function, [](const Function& row) {
      return fmt::format("{}", static_cast<uint32_t>(row.subcategory));
    });
    for (const char* column : {"inlineDepth", "innerWindowID"}) put_constant(column, "0", rows);
    for (const char* column : {"nativeSymbol", "line", "column"})
      put_constant(column, "null", rows);
    put_length(rows);
    sink_.write(",\n\"funcTable\":{");
    put_column("name", each_function, [](const Function& row) { return index(row.name); });
    put_column("resource", each_function, [](const Function& row) {
      return row.library == no_index ? "-1" : index(row.library);
    });
    for (const char* column : {"isJS", "relevantForJS"}) put_constant(column, "false", rows);
    for (const char* column : {"source", "lineNumber", "columnNumber"})
      put_constant(column, "null", rows);
    put_length(rows);
    put_resources();
    sink_.write(
        ",\n\"nativeSymbols\":{\"libIndex\":[],\"address\":[],\"name\":[],\"functionSize\":[],"
        "\"length\":0},\n\"sources\":{\"uuid\":[],\"filename\":[],\"length\":0},\n"
        "\"stringArray\":");
    Array strings(sink_);
    for (uint32_t i = 0; i < strings_.size(); ++i) strings.add(quoted_text(strings_.text(i)));
    strings.end();
    sink_.write("}");
  }

  // One for each library, with the same number.
  void put_resources() {
    sink_.write(",\n\"resourceTable\":{");
    const auto each = [this](const auto& take) { std::ranges::for_each(library_names_, take); };
    uint32_t next = 0;
    put_column("lib", each, [&](NameId) { return index(next++); });
    put_column("name", each, [](NameId name) { return index(name); });
    put_constant("host", "null", library_names_.size());
    put_constant("type", "1", library_names_.size());  // a library
    put_length(library_names_.size());
  }

  const TimedFacts facts_;
  const StringTable& names_;
  Sink& file_;
  DeflateWriter sink_;
  StringTable strings_;
  std::vector<Thread> threads_;
  std::unordered_map<uint64_t, uint32_t> thread_at_;   // by pid and tid
  std::vector<uint32_t> stack_at_;                     // by number of RecordsByTime
  std::vector<std::pair<uint32_t, uint32_t>> stacks_;  // caller, function
  std::vector<Function> functions_;
  std::unordered_map<uint64_t, uint32_t> function_at_;
  std::map<NameId, uint32_t> library_at_;  // by module
  std::vector<NameId> library_names_;      // in strings_
  Spool<Sample> samples_;                  // a list for each thread, as markers_
  Spool<Marker> markers_;
};

}  // namespace

std::unique_ptr<TimedWriter> make_firefox_writer(const TimedFacts& facts, Sink& sink) {
  return std::make_unique<FirefoxWriter>(facts, sink);
}

}  // namespace post
