// SPDX-License-Identifier: MIT
// Parses hookit's options: those of JProf that have a meaning without a JVM.
#include "options.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <span>

#include "option_table.h"

namespace pi::hookit {
namespace {

constexpr size_t name_part_max = 200;  // of LOGPREFIX and LOGSUFFIX; a file's name has 255 at most

std::string upper(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return result;
}

// Calls take for each part of a list.
void split(std::string_view list, char separator,
           const std::function<void(std::string_view)>& take) {
  while (!list.empty()) {
    const size_t end = std::min(list.find(separator), list.size());
    if (end > 0) take(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
}

struct Switch {
  std::string_view name;
  bool Options::*value;
};
constexpr Switch switches[] = {
    {"START", &Options::start},       {"BEGIN", &Options::start},
    {"PIDX", &Options::pid_in_names}, {"METHODTYPES", &Options::types},
    {"LEGEND", &Options::legend},     {"CALIBRATE", &Options::calibrate},
    {"JSON", &Options::json},         {"FOLDED", &Options::folded},
    {"VERBOSE", &Options::verbose},
};

struct TextOption {
  std::string_view name;
  std::string Options::*value;
  bool is_name_part;
};
constexpr TextOption text_options[] = {
    {"LOGPATH", &Options::log_path, false},
    {"LOGPREFIX", &Options::log_prefix, true},
    {"LOGSUFFIX", &Options::log_suffix, true},
    {"MINIMA", &Options::minima_file, false},
    {"SAVEMINIMA", &Options::save_minima_file, false},
    {"ENVMINIMA", &Options::environment_file, false},
};

bool contains_word(std::string_view list, std::string_view word) {
  bool found = false;
  split(list, ' ', [&](std::string_view item) { found |= item == word; });
  return found;
}

// Why an option of JProf is refused; nothing if JProf has no such option.
std::optional<std::string> refusal(std::string_view name) {
  for (const auto& word : jprof::option_words())
    if (name == word.name || (!word.alias.empty() && name == word.alias))
      return "is JProf's and has no meaning in a program without a Java virtual machine";
  for (const auto& group : jprof::refused_words())
    if (contains_word(group.names, name)) return std::string(group.why);
  return std::nullopt;
}

class Parser {
 public:
  void take(std::string_view item) {
    const size_t equals = item.find('=');
    const std::string name = upper(item.substr(0, equals));
    if (equals != std::string_view::npos)
      take_value(item, name, item.substr(equals + 1));
    else if (!take_word(name))
      refuse(item, name);
  }

  ParsedOptions finish() { return std::move(result_); }

 private:
  void fail(std::string sentence) { result_.errors.push_back(std::move(sentence)); }

  void refuse(std::string_view item, std::string_view name) {
    std::string_view plain = name;
    for (const std::string_view prefix : {"NO", "-", "ALL", "+"})
      if (!refusal(name) && name.starts_with(prefix)) plain = name.substr(prefix.size());
    const auto why = refusal(plain);
    const bool is_off = plain.data() != name.data() && (name[0] == 'N' || name[0] == '-');
    if (why && is_off) return;  // what hookit does not have is off
    fail("option '" + std::string(item) + "' " + why.value_or("does not exist"));
  }

  bool take_word(std::string_view name) {
    return take_report(name) || take_switch(name) || take_metric_word(name);
  }

  bool take_report(std::string_view name) {
    Options& options = result_.options;
    if (name == "CALLTREE") {
      set_report(false, {});
    } else if (name == "CALLFLOW") {
      set_report(false, {"PTT_INSTS", "PTT_CYCLES"});
    } else if (name == "CALLTRACE" || name == "GENERIC") {
      set_report(true, {"PTT_INSTS"});
    } else if (name == "NOMETRICS") {
      options.metrics.clear();
    } else if (name == "ALLMETRICS") {
      options.metrics = {{"PTT_INSTS"}, {"PTT_CYCLES"}, {"CPI"}};
    } else {
      return false;
    }
    return true;
  }

  void set_report(bool events, std::initializer_list<std::string_view> metrics) {
    Options& options = result_.options;
    options.events = events;
    if (!options.metrics_may_fail) return;  // METRICS= replaces the report's own
    options.metrics.clear();
    for (const auto name : metrics) options.metrics.push_back({std::string(name)});
  }

  bool take_switch(std::string_view name) {
    bool on = true;
    std::string_view plain = name;
    const auto find = [&] {
      return std::find_if(std::begin(switches), std::end(switches),
                          [&](const Switch& s) { return s.name == plain; });
    };
    auto found = find();
    for (const std::string_view prefix : {"NO", "-"})
      if (found == std::end(switches) && name.starts_with(prefix)) {
        plain = name.substr(prefix.size());
        on = false;
        found = find();
      }
    if (found == std::end(switches)) return false;
    result_.options.*found->value = on;
    return true;
  }

  bool take_metric_word(std::string_view name) {
    if (!jprof::is_metric_word(name)) return false;
    set_metrics(name);
    return true;
  }

  void take_value(std::string_view item, const std::string& name, std::string_view value) {
    Options& options = result_.options;
    if (value.empty()) return fail("'" + std::string(item) + "' has no value");
    if (name == "METRICS") return set_metrics(value);
    if (name == "THREADS") {
      options.threads.clear();
      return split(value, '+', [&](std::string_view part) { options.threads.emplace_back(part); });
    }
    for (const auto& option : text_options)
      if (option.name == name) return set_text(option, value);
    const auto why = refusal(name);
    fail("option '" + std::string(item) + "' " + why.value_or("does not exist"));
  }

  void set_text(const TextOption& option, std::string_view value) {
    const bool fits = value.size() <= name_part_max && value.find('/') == std::string_view::npos;
    if (option.is_name_part && !fits)
      return fail(std::string(option.name) + "=" + std::string(value) +
                  ": this is part of a file name and must have no '/' and at most " +
                  std::to_string(name_part_max) + " bytes");
    result_.options.*option.value = value;
  }

  void set_metrics(std::string_view list) {
    auto metrics = jprof::parse_metrics(list);
    if (!metrics) return fail(metrics.error().message);
    result_.options.metrics = std::move(*metrics);
    result_.options.metrics_may_fail = false;
  }

  ParsedOptions result_;
};

}  // namespace

ParsedOptions parse_options(std::string_view text) {
  Parser parser;
  split(text, ',', [&](std::string_view item) { parser.take(item); });
  return parser.finish();
}

bool selects(const std::vector<std::string>& list, std::string_view name) {
  bool selected = std::all_of(list.begin(), list.end(),
                              [](const std::string& item) { return item.starts_with('-'); });
  for (std::string_view item : list) {
    const bool includes = !item.starts_with('-');
    if (!includes) item.remove_prefix(1);
    const bool fits =
        item.ends_with('*') ? name.starts_with(item.substr(0, item.size() - 1)) : name == item;
    if (fits) selected = includes;
  }
  return selected;
}

}  // namespace pi::hookit
