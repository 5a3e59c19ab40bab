// SPDX-License-Identifier: MIT
// The page: a summary of a trace that fits on one screen.
#include "report_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <sstream>

#include "analysis/waiting.h"
#include "page_facts.h"
#include "page_rows.h"
#include "path_rows.h"
#include "subject.h"
#include "text/columns.h"
#include "text/labels.h"
#include "text/short_name.h"
#include "text/text.h"

namespace post {
namespace {

constexpr size_t screen_lines = 23;  // of 24; the last one is for the shell's prompt
constexpr size_t wanted_rows = 6;    // for functions: the five hottest, and the others in one line
constexpr size_t fewest_rows = 5;    // also where the other lines fill the screen
constexpr size_t most_paths = 5;
constexpr double hot_percent = 10;
constexpr double small_percent =
    0.5;  // after the first eight functions, smaller ones share the last row
constexpr double hint_percent = 5;      // a hint is about more than this part of the page's ticks
constexpr uint64_t enough_ticks = 100;  // minimum to show tenths of a percent

// A percentage in five columns; with tenths from enough_ticks on.
std::string share_of(uint64_t part, uint64_t whole) {
  return whole < enough_ticks ? fmt::format("{:5.0f}", percent(part, whole))
                              : share_text(part, whole);
}

std::string share_word(uint64_t part, uint64_t whole) {
  const std::string text = share_of(part, whole);
  return text.substr(text.find_first_not_of(' ')) + " %";
}

class Page {
 public:
  Page(const Summary& summary, const PageStyle& style)
      : summary_(summary), style_(style), subject_(subject_of(summary)) {
    for (const Leaf& leaf : summary.tree.leaves()) {
      if (leaf.origin.pid == idle_pid) idle_ += leaf.ticks;
      if (subject_.contains(leaf.origin)) ticks_ += leaf.ticks;
    }
  }

  std::string text(const PageEnd* end) {
    add_head();
    const Hint* const hint = page_hint();
    std::vector<std::string> tail = tail_lines(end, hint ? hint->text : "");
    if (ticks_ == 0)
      add_nothing_sampled();
    else
      add_body(end, hint, tail);
    lines_.emplace_back();
    add(tail);
    return fmt::format("{}\n", fmt::join(lines_, "\n"));
  }

 private:
  static bool selects(const Summary& summary) {
    return !selection_texts(summary.options.selection).empty();
  }

  // The whole system if a selection has no tick of the process for which the trace was made.
  static Subject subject_of(const Summary& summary) {
    const Subject own(summary);
    if (own.is_system() || summary.options.subject || !selects(summary)) return own;
    bool others = false;
    for (const Leaf& leaf : summary.tree.leaves()) {
      if (leaf.ticks == 0) continue;
      if (own.contains(leaf.origin)) return own;
      others = others || leaf.origin.pid != idle_pid;
    }
    return others ? Subject::system(summary) : own;
  }

  static constexpr size_t end_lines = 3;  // the usual number of lines of PageEnd

  // The functions and the paths. Where there is not enough space for the hottest functions, the
  // hint is shortened, then there are fewer paths, no hint, and no paths.
  void add_body(const PageEnd* end, const Hint* hint, std::vector<std::string>& tail) {
    const std::vector<FunctionTicks> all = page_functions(summary_, subject_);
    std::vector<PathRow> paths = hot_paths();
    const auto space = [&] {
      // Above the tail there is a blank line.
      const size_t taken =
          lines_.size() + path_lines(paths).size() + 1 + tail.size() + (end ? 0 : end_lines);
      return taken < screen_lines ? screen_lines - taken : 0;
    };
    const size_t wanted = style_.rows ? 0 : std::min(wanted_rows, all.size());
    if (hint && space() < wanted) tail = tail_lines(end, hint->brief);
    while (paths.size() > 1 && space() < wanted) paths.pop_back();
    if (hint && space() < wanted) tail = tail_lines(end, {});
    if (space() < wanted) paths.clear();
    add_functions(all, rows_of(all, std::max(space(), fewest_rows)));
    add(path_lines(paths));
  }

  std::string mark() const { return style_.utf8 ? "…" : "..."; }
  std::string shown(const std::string& text) const { return style_.utf8 ? text : ascii_text(text); }
  std::string styled(const std::string& text, const char* style) const {
    return style_.colour ? fmt::format("\033[{}m{}\033[0m", style, text) : text;
  }

  // The name, shortened so that the text after it fits into the line.
  std::string limited(const std::string& name) const {
    return shortened(shown(name), std::max<size_t>(style_.width / 2, 10), mark());
  }

  // A paragraph as lines, the second and later ones indented; style: of each.
  std::vector<std::string> paragraph(const std::string& text, const char* style = nullptr) const {
    std::vector<std::string> lines = paragraph_lines(text, style_.width);
    if (style)
      for (std::string& each : lines) each = styled(each, style);
    return lines;
  }
  void add(const std::vector<std::string>& lines) {
    lines_.insert(lines_.end(), lines.begin(), lines.end());
  }

  std::string subject_text() const {
    if (subject_.is_system() && summary_.file.cpus != 0)
      return "The whole system, " + plural(summary_.file.cpus, "processor", "processors");
    std::string text = subject_.is_system() ? "The whole system" : limited(subject_.name());
    if (subject_.roots() > 1) text += fmt::format(" ({} processes had this id)", subject_.roots());
    if (subject_.descendants() != 0)
      text += " and " + plural(subject_.descendants(), "descendant", "descendants");
    return text;
  }

  // Empty where dispatches are not in the trace.
  std::string waiting_text() const {
    const auto* waiting = summary_.find<Waiting>();
    if (!waiting || waiting->times().dispatches() == 0) return {};
    ThreadTimes sum;
    for (uint32_t i = 0; i < waiting->times().threads(); ++i) {
      const OffCpu::Thread& thread = waiting->times().thread(i);
      if (thread.has_pid && subject_.contains({thread.process, thread.pid, thread.tid}))
        sum.add(thread.times);
    }
    // Without wake-ups a thread that could run again counts as blocked until it does.
    return fmt::format(
        "{} waiting ({}{} of it for a processor)", duration_text(sum.blocked + sum.runnable),
        waiting->times().wakeups() == 0 ? "at least " : "", duration_text(sum.runnable));
  }

  // "processes cc1* (--process); CPUs 0 (--cpus)"
  std::string selected_text() const {
    std::vector<std::string> texts = selection_texts(summary_.options.selection);
    for (std::string& text : texts) {
      text.resize(std::min(text.find(';'), text.size()));
      if (text.ends_with('.')) text.pop_back();
    }
    return shortened(shown(fmt::format("{}", fmt::join(texts, "; "))), 2 * style_.width, mark());
  }

  bool selected() const { return selects(summary_); }
  std::string event() const { return limited(event_name(summary_)); }

  // "12 ticks (samples)"; for event ticks also the number of events.
  std::string ticks_text() const {
    const uint64_t events = summary_.event_based() ? events_per_tick(summary_) : 0;
    const std::string which = selected() ? "selected " : "";
    if (events == 1) return fmt::format("{} {}{} (one tick each)", ticks_, which, event());
    if (events == 0) return plural(ticks_, which + "tick (sample)", which + "ticks (samples)");
    return fmt::format("about {} {} ({}, one every {})", ticks_ * events, event(),
                       plural(ticks_, which + "tick", which + "ticks"), events);
  }

  // The elapsed time is that of the whole subject; for a selection the page also has its length.
  void add_head() {
    std::vector<std::string> facts;
    if (subject_.elapsed()) facts.push_back(duration_text(*subject_.elapsed()) + " elapsed");
    std::string processor_time;
    if (const uint64_t distance = tick_distance(summary_); distance != 0)
      processor_time = duration_text(ticks_ * distance) + " of processor time";
    if (!selected() && !processor_time.empty()) facts.push_back(processor_time);
    if (const std::string waited = waiting_text(); !waited.empty()) facts.push_back(waited);
    std::string ticks = ticks_text();
    const TickTotals& all = summary_.ticks;
    if (const uint64_t range = all.last_time - all.first_time; selected() && range != 0)
      ticks += fmt::format(" within {}{}", duration_text(range),
                           subject_.elapsed() && *subject_.elapsed() >= range ? " of it" : "");
    facts.push_back(ticks);
    if (selected() && !processor_time.empty()) facts.push_back(processor_time + " in these");
    add(paragraph(fmt::format("{}: {}", subject_text(), fmt::join(facts, ", ")), "1"));
    if (selected()) add(paragraph("Selected: " + selected_text()));
    if (const Subject own(summary_); subject_.is_system() && !own.is_system())
      add(paragraph(fmt::format("None of the selected ticks fell on {}.", limited(own.name()))));
    if (const std::string processes = processes_text(); !processes.empty())
      lines_.push_back(processes);
    lines_.emplace_back();
  }

  // The names of the subject's processes if they differ: as many as fit into the line.
  std::string processes_text() const {
    if (subject_.is_system()) return {};
    const std::vector<NamedTicks> rows = page_processes(summary_, subject_, true);
    if (rows.size() < 2 || percent(rows[1].first, ticks_) < small_percent) return {};
    std::string text = "Processes: ";
    uint64_t rest = ticks_;
    for (const auto& [ticks, name] : rows) {
      const std::string more = fmt::format("{}{} {}", rest == ticks_ ? "" : ", ", limited(name),
                                           share_word(ticks, ticks_));
      const bool last = rest == ticks;
      const std::string others = ", others " + share_word(rest - ticks, ticks_);
      if (columns_of(text + more + (last ? "" : others)) > style_.width) break;
      text += more;
      rest -= ticks;
    }
    if (rest == ticks_) return {};
    return rest == 0 ? text : text + ", others " + share_word(rest, ticks_);
  }

  void add_nothing_sampled() {
    if (summary_.ticks.ticks != 0 && selected()) {
      add(
          paragraph(fmt::format("None of the selected ticks fell on it. {} on other processes: see "
                                "the reports in tprof.out.",
                                plural(summary_.ticks.ticks, "tick fell", "ticks fell"))));
      return;
    }
    if (summary_.event_based()) {
      const uint64_t events = events_per_tick(summary_);
      add(paragraph(events <= 1
                        ? fmt::format("It made no {}.", event())
                        : fmt::format("No tick fell on it: it made fewer than {} {}. What helps: a "
                                      "tick for fewer of them (run.tprof -c), a longer run.",
                                      events, event())));
      return;
    }
    const uint64_t distance = tick_distance(summary_);
    add(paragraph("No tick fell on it: " +
                  (distance != 0
                       ? fmt::format("its processor time is less than ticks are apart ({})",
                                     duration_text(distance))
                       : std::string("it took too little processor time")) +
                  (summary_.records.by_major[PITRACE_MAJOR_TPROF] == 0
                       ? ", or it waited, or ticks were not enabled."
                       : ", or it waited.")));
    const bool dispatches = summary_.records.by_major[PITRACE_MAJOR_DISPATCH] != 0;
    add(paragraph(fmt::format(
        "What helps: more ticks (run.tprof -c), a longer run. {}",
        dispatches ? "Where it waited, 'post -offcpu' shows."
                   : "Where it waited, a trace made with swtrace shows: 'swtrace enable dispatch' "
                     "before 'swtrace on', and then 'post -offcpu'.")));
  }

  // The number of functions to show on so many lines. Small ones are only shown if there are few
  // functions.
  size_t rows_of(const std::vector<FunctionTicks>& all, size_t lines) const {
    if (style_.rows) return std::min(*style_.rows, all.size());
    constexpr size_t few = 8;
    size_t large_enough = 0;
    while (large_enough < all.size() &&
           percent(all[large_enough].ticks, ticks_) >= (large_enough < few ? 0.05 : small_percent))
      ++large_enough;
    // All other functions share one line.
    return lines >= all.size() ? large_enough : std::min(large_enough, lines - 1);
  }

  void add_functions(const std::vector<FunctionTicks>& all, size_t count) {
    std::vector<FunctionTicks> shown_ones;
    for (const FunctionTicks& row : std::span(all).first(count))
      shown_ones.push_back({shown(row.name), shown(row.module), shown(row.process), row.ticks});
    Widths widths = widths_of(shown_ones, style_.width > 10 ? style_.width - 10 : 1);
    size_t longest = 0;
    for (FunctionTicks& row : shown_ones) {
      row.name = short_name(row.name, widths.name, mark());
      longest = std::max(longest, columns_of(row.name));
    }
    widths.name = longest;
    uint64_t rest = ticks_;
    for (const FunctionTicks& row : shown_ones) {
      rest -= row.ticks;
      lines_.push_back(share_column(row.ticks) + function_text(row, widths));
    }
    if (rest == 0) return;
    const std::string others =
        count == 0 ? plural(all.size(), "function", "functions")
                   : plural(all.size() - count, "other function", "other functions");
    lines_.push_back(share_column(rest) + "in " + others);
  }

  // "  59.0 %  "
  std::string share_column(uint64_t ticks) const {
    const std::string share = share_of(ticks, ticks_) + " %";
    const bool hot = percent(ticks, ticks_) >= hot_percent;
    return " " + (hot ? styled(share, "1;31") : share) + "  ";
  }

  struct Widths {
    size_t name = 0;
    size_t module = 0;
    size_t process = 0;
  };
  std::string function_text(const FunctionTicks& row, const Widths& widths) const {
    const std::string module = shortened(row.module, widths.module, mark());
    const std::string name = padded(row.name, widths.name);
    if (widths.process == 0) return fmt::format("{}  {}", name, module);
    return fmt::format("{}  {}  {}", name, padded(module, widths.module),
                       shortened(row.process, widths.process, mark()));
  }

  // If a row is too wide, modules are shortened to a third, processes to a quarter, names to the
  // rest.
  Widths widths_of(std::span<const FunctionTicks> rows, size_t columns) const {
    Widths widths;
    for (const FunctionTicks& row : rows) {
      widths.name = std::max(widths.name, columns_of(row.name));
      widths.module = std::max(widths.module, columns_of(row.module));
      if (subject_.is_system()) widths.process = std::max(widths.process, columns_of(row.process));
    }
    const size_t between = subject_.is_system() ? 4 : 2;
    const auto excess = [&] {
      const size_t taken = widths.name + widths.module + widths.process + between;
      return taken > columns ? taken - columns : 0;
    };
    const auto shrink = [&](size_t& width, size_t least) {
      if (width > least) width -= std::min(width - least, excess());
    };
    shrink(widths.module, std::max<size_t>(8, columns / 3));
    shrink(widths.process, std::max<size_t>(8, columns / 4));
    shrink(widths.name, 1);
    return widths;
  }

  std::vector<PathRow> hot_paths() {
    const auto* calls = summary_.find<CallTree>();
    if (!calls || calls->stacks().with() == 0) return {};
    std::vector<PathRow> rows =
        make_path_rows(*calls, summary_, most_paths,
                       [&](const Origin& process) { return subject_.contains(process); });
    // Paths without a caller only repeat the functions.
    if (std::ranges::none_of(rows, [](const PathRow& row) { return row.names.size() > 2; }) &&
        std::ranges::any_of(rows, is_broken) && std::ranges::all_of(rows, [](const PathRow& row) {
          return row.names.size() == 1 || is_broken(row);
        })) {
      all_broken_ = true;
      return {};
    }
    return rows;
  }

  static bool is_broken(const PathRow& path) { return path.names.front().starts_with("[broken]"); }

  // With a blank line and a heading above them.
  std::vector<std::string> path_lines(const std::vector<PathRow>& paths) const {
    if (all_broken_) {
      std::vector<std::string> lines = paragraph(
          "No callers are known: the stacks are broken, as in code that was compiled without frame "
          "pointers (gcc: -fno-omit-frame-pointer).");
      lines.insert(lines.begin(), "");
      return lines;
    }
    if (paths.empty()) return {};
    const bool broken = std::ranges::any_of(paths, is_broken);
    std::vector<std::string> lines =
        paragraph(fmt::format("Hottest paths, outermost caller first{}:",
                              broken ? " ([broken]: no frame pointers there)" : ""));
    lines.insert(lines.begin(), "");
    for (const PathRow& path : paths)
      lines.push_back(share_column(path.ticks) +
                      path_text(path, style_.width > 10 ? style_.width - 10 : 1));
    return lines;
  }

  // The functions' names in the longest forms that let the path fit.
  std::string path_text(const PathRow& path, size_t columns) const {
    std::vector<std::vector<std::string>> forms;
    size_t shortest = 0;
    for (const std::string& name : path.names) {
      forms.push_back(name_forms(shown(name)));
      shortest = std::max(shortest, forms.back().size() - 1);
    }
    for (size_t form = 0;; ++form) {
      std::vector<std::string> names;
      for (const auto& each : forms) names.push_back(each[std::min(form, each.size() - 1)]);
      const std::string text = fmt::format("{}", fmt::join(names, " > "));
      if (columns_of(text) <= columns || form == shortest) return shortened(text, columns, mark());
    }
  }

  // hint: empty for none.
  std::vector<std::string> tail_lines(const PageEnd* end, const std::string& hint) const {
    std::vector<std::string> tail;
    const auto add_to_tail = [&](const std::vector<std::string>& lines) {
      tail.insert(tail.end(), lines.begin(), lines.end());
    };
    // With a tick for each event nothing is estimated.
    const bool sampled = !summary_.event_based() || events_per_tick(summary_) != 1;
    if (sampled && ticks_ != 0 && ticks_ < enough_ticks) add_to_tail(paragraph(few_ticks_text()));
    // A selection by name may contain ticks of the subject only.
    if (summary_.file.info.scope != "process" && summary_.ticks.ticks != 0 &&
        (!summary_.options.selection.by_name() || summary_.ticks.ticks != ticks_))
      add_to_tail(paragraph(rest_text()));
    if (!hint.empty()) add_to_tail(paragraph("Hint: " + with_short_words(shown(hint)), "33"));
    const std::string lost = lost_text(summary_);
    const std::string seen = not_seen_text();
    add_to_tail(paragraph((lost.empty() ? nothing_lost_text(summary_) : lost) + seen,
                          lost.empty() ? nullptr : "33"));
    if (!end) return tail;
    add_to_tail(paragraph(files_text(*end)));
    if (ticks_ != 0) add_to_tail(next_lines(*end));
    return tail;
  }

  // A suggested next command, in one line of any length, so that it can be copied.
  std::vector<std::string> next_lines(const PageEnd& end) const {
    const auto* calls = summary_.find<CallTree>();
    const auto* waiting = summary_.find<Waiting>();
    const bool waits = waiting && waiting->times().dispatches() != 0;
    const bool shown = calls && calls->stacks().with() != 0;
    const char* const callers = shown ? ""
                                : summary_.file.info.stacks.empty()
                                    ? "run.tprof -g shows callers; "
                                    : "run.tprof -p -g shows callers; ";
    std::vector<std::string> lines = paragraph(
        fmt::format("Next: {}{}", callers,
                    waits ? "for waits, in tprof.offcpu:" : "to browse, down to instructions:"));
    lines.push_back("  " + (waits
                                ? next_command(end, "-offcpu")
                                : top_command(end, subject_.is_system() ? std::optional<uint32_t>()
                                                                        : subject_.pid())));
    return lines;
  }

  // The 95 % error of a share p of n ticks is 1.96 * sqrt(p * (1 - p) / n); its maximum is at p =
  // 0.5.
  std::string few_ticks_text() const {
    const double points = std::ceil(98 / std::sqrt(static_cast<double>(ticks_)));
    const char* what_helps = summary_.event_based()
                                 ? "A longer run, or a tick for fewer events (run.tprof -c), helps."
                                 : "A longer run, or more ticks (run.tprof -c), helps.";
    return fmt::format("Only {}: shares are right to about {}{:.0f} points. {}",
                       plural(ticks_, "tick", "ticks"), style_.utf8 ? "±" : "+-", points,
                       what_helps);
  }

  // The other processes with the most ticks, as many as fit into the line.
  std::string rest_text() const {
    const uint64_t all = summary_.ticks.ticks;
    const std::string of_what = selected()               ? "of the selected ticks"
                                : summary_.event_based() ? "of all " + event()
                                                         : "of all processor time";
    // An idle processor may have fewer ticks than its time.
    const bool throttled = summary_.file.info.throttled != 0;
    const std::string idle =
        fmt::format("{}{}", throttled ? "at least " : "", share_word(idle_, all));
    if (subject_.is_system()) return fmt::format("Idle: {} {}.", idle, of_what);
    const std::string rest = share_word(all - idle_ - ticks_, all);
    const std::string lead =
        fmt::format("Rest of the system: {}{}", throttled ? "at most " : "", rest);
    std::string shares;
    for (const auto& [ticks, name] : page_processes(summary_, subject_, false)) {
      const std::string more =
          fmt::format("{}{} {}", shares.empty() ? "" : ", ", shown(name), share_word(ticks, all));
      if (percent(ticks, all) < 0.05 ||
          columns_of(lead + of_what + shares + more + idle) + 12 > style_.width)
        break;
      shares += more;
    }
    return fmt::format("{} {}{}; idle {}.", lead, of_what,
                       shares.empty() ? "" : " (" + shares + ")", idle);
  }

  // The text; words that are wider than a line are shortened.
  std::string with_short_words(const std::string& text) const {
    std::istringstream words(text);
    std::vector<std::string> parts;
    for (std::string word; words >> word;)
      parts.push_back(shortened(word, style_.width > 12 ? style_.width - 2 : 10, mark()));
    return fmt::format("{}", fmt::join(parts, " "));
  }

  // The hint on the program of the subject with the most ticks without a name; nullptr if these are
  // few, or none.
  const Hint* page_hint() const {
    std::map<std::string, uint64_t> ticks_of;  // in the subject
    for (const Leaf& leaf : summary_.tree.leaves())
      if (subject_.contains(leaf.origin)) ticks_of[process_name(leaf, summary_)] += leaf.ticks;
    // The hint is about all processes of that name; few of its ticks may be the subject's.
    for (const Hint& hint : summary_.hints)
      if (const auto of = ticks_of.find(hint.program);
          of != ticks_of.end() &&
          percent(std::min(hint.unnamed, of->second), ticks_) > hint_percent)
        return &hint;
    return nullptr;
  }

  std::string not_seen_text() const {
    std::vector<std::string> parts;
    for (const std::string& part : not_seen(summary_.file.info))
      parts.push_back(shortened(shown(part), std::max<size_t>(style_.width, 10), mark()));
    if (parts.empty()) return {};
    return fmt::format(" Not seen: {}{}.", fmt::join(parts, ", "),
                       summary_.ticks.ticks == 0 ? "" : " (see tprof.out)");
  }

  const Summary& summary_;
  const PageStyle style_;
  const Subject subject_;
  uint64_t ticks_ = 0;  // of the subject
  uint64_t idle_ = 0;
  bool all_broken_ = false;  // no hot path has a caller
  std::vector<std::string> lines_;
};

}  // namespace

std::string page_text(const Summary& summary, const PageStyle& style, const PageEnd* end) {
  return Page(summary, style).text(end);
}

std::unique_ptr<Subscriber> make_waiting(const ReportContext& context, Sink*) {
  return std::make_unique<Waiting>(context.processes, context.symbolizer, context.names);
}

}  // namespace post
