// SPDX-License-Identifier: MIT
// Parses JProf's options.
#include "options.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "option_table.h"

namespace pi::jprof {
namespace {

constexpr std::string_view commas = ",";
constexpr std::string_view config_separators = ", \t\r\n";
constexpr size_t name_part_max = 200;  // of LOGPREFIX and LOGSUFFIX; a file's name has 255 at most

char upper(char c) {
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}

std::string upper(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), [](char c) { return upper(c); });
  return result;
}

// The words of a blank-separated list, one after the other; empty at the end.
std::string_view next_of(std::string_view& list) {
  const size_t end = std::min(list.find(' '), list.size());
  const std::string_view word = list.substr(0, end);
  list.remove_prefix(std::min(end + 1, list.size()));
  return word;
}

const OptionWord* find_known(std::string_view name) {
  for (const auto& word : option_words())
    if (name == word.name || (!word.alias.empty() && name == word.alias)) return &word;
  return nullptr;
}

const RefusedWords* find_refused(std::string_view name) {
  for (const auto& group : refused_words())
    for (std::string_view rest = group.names; !rest.empty();)
      if (next_of(rest) == name) return &group;
  return nullptr;
}

bool is_name_part(std::string_view text) {
  return text.size() <= name_part_max && text.find('/') == std::string_view::npos;
}

// Prefixes of a switch's name; longer ones first.
struct Prefix {
  std::string_view text;
  bool on;
};
constexpr Prefix prefixes[] = {{"NO", false}, {"-", false}, {"ALL", true}, {"+", true}};

constexpr std::pair<std::string_view, bool> sources[] = {{"PROBES", false}, {"JVMTI", true}};
constexpr std::pair<std::string_view, SampleEvent> sample_events[] = {
    {"ALLOCATED_BYTES", SampleEvent::allocated_bytes},
    {"ALLOCATIONS", SampleEvent::allocations},
    {"MONITOR_WAIT", SampleEvent::monitor_wait},
    {"MONITOR_WAITED", SampleEvent::monitor_waited},
    {"MONITOR_CONTENDED_ENTER", SampleEvent::contended_enter},
    {"MONITOR_CONTENDED_ENTERED", SampleEvent::contended_entered},
    {"CLASS_LOAD", SampleEvent::class_load}};
constexpr std::pair<std::string_view, bool> walks[] = {{"ASYNC", false}, {"SAFEPOINT", true}};

class Parser {
 public:
  Parser(const ReadConfig& read, const Options& before) : read_(read), result_{before, {}} {}

  void parse(std::string_view text, std::string_view separators) {
    while (!text.empty()) {
      const size_t end = std::min(text.find_first_of(separators), text.size());
      if (end > 0) take(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }

  ParsedOptions finish() {
    if (result_.options.detach && result_.options.records())
      fail("DETACH ends the logs: it cannot be used with options that write logs");
    if (result_.options.records_calls() && !result_.options.start && !result_.options.server)
      fail(
          "CALLTREE,NOSERVER records nothing without START: no command of rtdriver can start it "
          "later");
    if (result_.options.records_calls() && result_.options.records_locks())
      fail(
          "JLM and JLML cannot be used with CALLTREE, CALLFLOW or CALLTRACE: use one after the "
          "other");
    if (result_.options.samples() &&
        (result_.options.records_calls() || result_.options.records_locks()))
      fail(
          "SCS cannot be used with CALLTREE, CALLFLOW, CALLTRACE, JLM or JLML, whose probes it "
          "would "
          "sample: use one after the other");
    if (result_.options.object_info && !result_.options.records_calls())
      fail("OBJECTINFO needs CALLTREE or CALLTRACE, whose methods it counts for");
    if (result_.options.live_objects && result_.options.call_trace)
      fail("LIVEOBJECTS cannot be used with CALLTRACE: only log-rt has objects that are in use");
    if (result_.options.object_info && !result_.options.metrics_may_fail)
      fail("OBJECTINFO cannot be used with METRICS: use one after the other");
    if (result_.options.sampling.event != SampleEvent::time &&
        result_.options.sampling.at_safepoints)
      fail("SCS_WALK is for samples by time: events occur where the JVM knows the stack");
    if (const auto& sampling = result_.options.sampling;
        sampling.with_native &&
        (!sampling.on || sampling.at_safepoints || sampling.event != SampleEvent::time))
      fail("SCS_A2N needs SCS by time, and no other SCS_WALK than ASYNC");
    if (result_.options.samples() && !result_.options.start && !result_.options.server)
      fail("SCS,NOSERVER records nothing without START: no command of rtdriver can start it later");
    if (result_.options.records_locks() && result_.options.no_start && !result_.options.server)
      fail("JLM,NOSTART,NOSERVER counts nothing: no command of rtdriver can start it later");
    if (result_.options.heap_dump && result_.options.no_start && !result_.options.server)
      fail("HD,NOSTART,NOSERVER writes nothing: no command of rtdriver can start it later");
    if (result_.options.port != 0 && !result_.options.accepts_commands())
      fail(
          "PORT needs CALLTREE, CALLFLOW, CALLTRACE, JLM, JLML, SCS or HD: only these have "
          "commands at "
          "run time");
    if (result_.options.port != 0 && !result_.options.server)
      fail("PORT contradicts NOSERVER, which accepts no commands");
    return std::move(result_);
  }

 private:
  void fail(std::string sentence) { result_.errors.push_back(std::move(sentence)); }

  void take(std::string_view item) {
    const size_t equals = item.find('=');
    const std::string name = upper(item.substr(0, equals));
    std::optional<std::string_view> value;
    if (equals != std::string_view::npos) value = item.substr(equals + 1);
    if (take_word(item, name, value, true, false)) return;
    if (!value && is_metric_word(name)) return set_metrics(name);
    for (const auto& prefix : prefixes)
      if (name.starts_with(prefix.text) &&
          take_word(item, name.substr(prefix.text.size()), value, prefix.on, true))
        return;
    fail("there is no option '" + std::string(item) + "'");
  }

  // False when there is no such word.
  bool take_word(std::string_view item, const std::string& name,
                 std::optional<std::string_view> value, bool on, bool prefixed) {
    if (const OptionWord* known = find_known(name)) {
      if (prefixed && known->takes != Takes::no_value && known->takes != Takes::switch_or_value)
        return false;
      take_known(item, *known, value, on);
      return true;
    }
    const RefusedWords* refused = find_refused(name);
    if (refused && on) fail("option '" + std::string(item) + "' " + std::string(refused->why));
    return refused != nullptr;
  }

  void take_known(std::string_view item, const OptionWord& known,
                  std::optional<std::string_view> value, bool on) {
    const std::string name(known.name);
    if (known.takes == Takes::switch_or_value && value && on) {
      set_value(known, std::string(*value));
    } else if (known.takes != Takes::value) {
      if (value)
        fail("'" + std::string(item) + "': " + name + " takes no value");
      else
        set_switch(known.word, on);
    } else if (!value || value->empty()) {
      fail(name + " needs a value: " + name + "=" + std::string(known.value));
    } else {
      set_value(known, std::string(*value));
    }
  }

  void set_switch(Word word, bool on) {
    Options& options = result_.options;
    switch (word) {
      case Word::tprof:
        options.jita2n = options.code_bytes = options.thread_names = options.virtual_threads = on;
        break;
      case Word::jita2n:
        options.jita2n = on;
        options.code_bytes = on && options.code_bytes;
        break;
      case Word::code_bytes:
        options.code_bytes = on;
        options.jita2n = on || options.jita2n;
        break;
      case Word::thread_info:
        options.thread_names = on;
        options.virtual_threads = on && options.virtual_threads;
        break;
      case Word::virtual_threads:
        options.virtual_threads = on;
        options.thread_names = on || options.thread_names;
        break;
      case Word::call_tree:
        options.call_tree = on;
        break;
      case Word::call_flow:
        options.call_tree = on;
        set_own_metrics(on ? MetricOptions{{"PTT_INSTS"}, {"PTT_CYCLES"}} : MetricOptions{});
        break;
      case Word::call_trace:
        options.call_trace = on;
        if (on && options.metrics.empty()) set_own_metrics({{"PTT_INSTS"}});
        break;
      case Word::sampling:
        options.sampling.on = on;
        options.sampling.event = SampleEvent::time;
        break;
      case Word::sampling_native:
        options.sampling.with_native = on;
        break;
      case Word::object_info:
        options.object_info = on;
        options.live_objects = on && options.live_objects;
        break;
      case Word::live_objects:
        options.live_objects = on;
        options.object_info = on || options.object_info;
        break;
      case Word::no_metrics:
        set_metrics("NONE");
        break;
      case Word::all_metrics:
        set_metrics("PTT_INSTS+PTT_CYCLES+CPI");
        break;
      case Word::calibrate:
        options.calibrate = on;
        break;
      case Word::locks:
        options.locks = on ? Locks::counts_and_times : Locks::none;
        break;
      case Word::locks_lite:
        options.locks = on ? Locks::counts : Locks::none;
        break;
      case Word::heap_dump:
        options.heap_dump = on;
        break;
      case Word::start:
        options.start = on;
        options.no_start = !on;
        break;
      case Word::server:
        options.server = on;
        break;
      case Word::log_commands:
        options.log_commands = on;
        break;
      case Word::method_types:
        options.method_types = on;
        break;
      case Word::legend:
        options.legend = on;
        break;
      case Word::json:
        options.json = on;
        break;
      case Word::folded:
        options.folded = on;
        break;
      case Word::pid_in_names:
        options.pid_in_names = on;
        break;
      case Word::verbose:
        options.verbose = on;
        break;
      case Word::verbose_to_log:
        options.verbose_to_log = on;
        break;
      case Word::detach:
        options.detach = true;
        break;
      case Word::help:
        options.help = true;
        break;
      case Word::all_help:
        options.all_help = true;
        break;
      case Word::version:
        options.version = true;
        break;
      default:
        break;
    }
  }

  void set_value(const OptionWord& known, const std::string& value) {
    Options& options = result_.options;
    switch (known.word) {
      case Word::log_path:
        options.log_path = value;
        break;
      case Word::port:
        set_number(known, value, 1, 65535, options.port);
        break;
      case Word::minima:
        options.minima_file = value;
        break;
      case Word::save_minima:
        options.save_minima_file = value;
        break;
      case Word::environmental_minima:
        options.environment_file = value;
        break;
      case Word::log_prefix:
      case Word::log_suffix:
        if (!is_name_part(value))
          fail(std::string(known.name) + "=" + value +
               ": this is part of a file name and must have no '/' and at most " +
               std::to_string(name_part_max) + " bytes");
        else
          (known.word == Word::log_prefix ? options.log_prefix : options.log_suffix) = value;
        break;
      case Word::metrics:
        set_metrics(value);
        break;
      case Word::events:
        set_choice(known, value, options.method_events, sources);
        break;
      case Word::sampling:
        set_sample_event(known, value);
        break;
      case Word::sampling_rate:
        set_number(known, value, 1, 1000, options.sampling.rate);
        break;
      case Word::sampling_frames:
        set_number(known, value, 1, 16384, options.sampling.frames);
        break;
      case Word::sampling_walk:
        set_choice(known, value, options.sampling.at_safepoints, walks);
        break;
      case Word::path_and_prefix:
        set_path_and_prefix(value);
        break;
      case Word::config:
        read_config(value);
        break;
      default:
        break;
    }
  }

  // choices: pairs of a word and its value.
  template <class Value, size_t count>
  void set_choice(const OptionWord& known, const std::string& text, Value& result,
                  const std::pair<std::string_view, Value> (&choices)[count]) {
    std::string words;
    for (const auto& [word, value] : choices) {
      if (word == upper(text)) return void(result = value);
      words += (words.empty() ? "" : ", ") + std::string(word);
    }
    fail(std::string(known.name) + "=" + text + ": the values are " + words);
  }

  // Those of a report, which METRICS= replaces.
  void set_own_metrics(const MetricOptions& metrics) {
    if (result_.options.metrics_may_fail) result_.options.metrics = metrics;
  }

  void set_metrics(std::string_view list) {
    auto metrics = parse_metrics(list);
    if (!metrics) return fail(metrics.error().message);
    result_.options.metrics = std::move(*metrics);
    result_.options.metrics_may_fail = false;
  }

  // "EVENT", "EVENT=N", "ALLOCATIONS=N:BYTES"; and each with "+".
  void set_sample_event(const OptionWord& known, std::string value) {
    SamplingOptions chosen = result_.options.sampling;
    chosen.on = true;
    chosen.with_class = value.ends_with('+');
    if (chosen.with_class) value.pop_back();
    const size_t equals = std::min(value.find('='), value.size());
    const size_t errors = result_.errors.size();
    set_choice(known, value.substr(0, equals), chosen.event, sample_events);
    const bool two = chosen.event == SampleEvent::allocations;
    std::string_view numbers = std::string_view(value).substr(equals);
    chosen.every = chosen.every_bytes = 1;
    if (!numbers.empty()) numbers.remove_prefix(1);
    const size_t colon = two ? std::min(numbers.find(':'), numbers.size()) : numbers.size();
    bool good = equals == value.size() ? !two : set_count(numbers.substr(0, colon), chosen.every);
    if (two && good)
      good = colon < numbers.size() && set_count(numbers.substr(colon + 1), chosen.every_bytes);
    if (!good && result_.errors.size() == errors)
      fail("SCS=" + value + ": " +
           (two ? "ALLOCATIONS needs two numbers from 1 to 2147483647: ALLOCATIONS=N:BYTES"
                : "the value is EVENT=N, with a number from 1 to 2147483647"));
    if (result_.errors.size() == errors) result_.options.sampling = chosen;
  }

  static bool set_count(std::string_view text, uint64_t& result) {
    constexpr uint64_t most = INT32_MAX;  // of JVMTI
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), result);
    return error == std::errc() && end == text.data() + text.size() && result >= 1 &&
           result <= most;
  }

  void set_number(const OptionWord& known, const std::string& value, unsigned least, unsigned most,
                  unsigned& result) {
    unsigned number = 0;
    const char* const last = value.data() + value.size();
    const auto [end, error] = std::from_chars(value.data(), last, number);
    if (error != std::errc() || end != last || number < least || number > most)
      return fail(std::string(known.name) + "=" + value + ": the value is a number from " +
                  std::to_string(least) + " to " + std::to_string(most));
    result = number;
  }

  void set_path_and_prefix(const std::string& value) {
    const size_t slash = value.rfind('/');
    const std::string prefix = slash == std::string::npos ? value : value.substr(slash + 1);
    if (prefix.empty() || !is_name_part(prefix))
      return fail("FNM=" + value + " does not end with a prefix for the names of logs");
    result_.options.log_prefix = prefix;
    if (slash != std::string::npos)
      result_.options.log_path = slash == 0 ? "/" : value.substr(0, slash);
  }

  void read_config(const std::string& path) {
    if (in_config_) return fail("CONFIG=" + path + " cannot be used in a file of options");
    const auto text = read_(path);
    if (!text) return fail(text.error().message);
    in_config_ = true;
    for (std::string_view rest = *text; !rest.empty();) {
      const size_t end = std::min(rest.find('\n'), rest.size());
      const std::string_view line = rest.substr(0, end);
      const size_t first = std::min(line.find_first_not_of(config_separators), line.size());
      if (!line.substr(first).starts_with("//")) parse(line, config_separators);
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    in_config_ = false;
  }

  const ReadConfig& read_;
  ParsedOptions result_;
  bool in_config_ = false;
};

void add_padded(std::string& text, std::string_view word, size_t width) {
  text += "  ";
  text += word;
  text.append(word.size() < width ? width - word.size() : 0, ' ');
}

}  // namespace

ParsedOptions parse_options(const std::vector<std::string_view>& texts, const ReadConfig& read,
                            const Options& before) {
  Parser parser(read, before);
  for (const auto text : texts) parser.parse(text, commas);
  return parser.finish();
}

std::string options_help(bool all) {
  constexpr size_t width = 21;
  std::string text =
      "JProf logs the names of JIT-compiled code and of Java threads. post reads the logs for\n"
      "sampling profiles (tprof) and branch traces (ITrace). It also counts and measures calls.\n"
      "\n"
      "  java -agentpath:DIR/libjprof.so=OPTION,... or -agentlib:jprof=OPTION,...\n"
      "  pitrace-attach PID DIR/libjprof.so OPTION,...\n"
      "\n"
      "When a JVM starts, JProf also reads options from the environment variable JPROFOPTS.\n"
      "Upper and lower case are the same. NO or - before a switch turns it off.\n"
      "\n";
  for (const auto& known : option_words()) {
    std::string word(known.name);
    if (!known.alias.empty()) word += " | " + std::string(known.alias);
    if (known.takes == Takes::value) word += "=" + std::string(known.value);
    if (known.takes == Takes::switch_or_value) word += "[=" + std::string(known.value) + "]";
    add_padded(text, word, width);
    text += std::string(known.help) + "\n";
  }
  if (!all) return text + "\nALLHELP also lists the refused options. See jprof(7).\n";
  text += "\nOptions of Performance Inspector that are refused, and why:\n";
  for (const auto& group : refused_words()) {
    text += "\n";
    std::string line = " ";
    for (std::string_view rest = group.names; !rest.empty();) {
      const std::string_view word = next_of(rest);
      if (line.size() + word.size() > 90) {
        text += line + "\n";
        line = " ";
      }
      line += " " + std::string(word);
    }
    text += line + "\n    " + std::string(group.why) + "\n";
  }
  return text;
}

}  // namespace pi::jprof
