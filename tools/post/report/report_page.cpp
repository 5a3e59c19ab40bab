// SPDX-License-Identifier: MIT
// The page: a summary of a trace that fits on one screen.
#include "report_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <span>

#include "analysis/waiting.h"
#include "page_facts.h"
#include "page_format.h"
#include "page_rows.h"
#include "page_tail.h"
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
constexpr double hint_percent = 5;  // a hint is about more than this part of the page's ticks

class Page {
 public:
  Page(const Summary& summary, const PageStyle& style)
      : summary_(summary), rows_(style.rows), format_(style), subject_(subject_of(summary)) {
    for (const Leaf& leaf : summary.tree.leaves()) {
      if (leaf.origin.pid == idle_pid) idle_ += leaf.ticks;
      if (subject_.contains(leaf.origin)) ticks_ += leaf.ticks;
    }
  }

  std::string text(const PageEnd* end) {
    add_head();
    const Hint* const hint = page_hint();
    std::vector<std::string> tail = make_tail(end, hint ? hint->text : "");
    if (ticks_ == 0)
      add_nothing_sampled();
    else
      add_body(end, hint, tail);
    lines_.emplace_back();
    add(tail);
    return fmt::format("{}\n", fmt::join(lines_, "\n"));
  }

 private:
  // The whole system if a selection has no tick of the process for which the trace was made.
  static Subject subject_of(const Summary& summary) {
    const Subject own(summary);
    if (own.is_system() || summary.options.subject || !is_selection(summary)) return own;
    bool others = false;
    for (const Leaf& leaf : summary.tree.leaves()) {
      if (leaf.ticks == 0) continue;
      if (own.contains(leaf.origin)) return own;
      others = others || leaf.origin.pid != idle_pid;
    }
    return others ? Subject::system(summary) : own;
  }

  std::vector<std::string> make_tail(const PageEnd* end, const std::string& hint) const {
    return page_tail(summary_, format_, subject_, {ticks_, idle_}, end, hint);
  }

  static constexpr size_t end_lines = 3;  // the usual number of lines of PageEnd

  // The functions and the paths. Where there is not enough space for the hottest functions, the
  // hint is shortened, then there are fewer paths, no hint, and no paths.
  void add_body(const PageEnd* end, const Hint* hint, std::vector<std::string>& tail) {
    const FunctionsWithMost all = page_functions(summary_, subject_, most_rows());
    std::vector<PathRow> paths = hot_paths();
    const auto space = [&] {
      // Above the tail there is a blank line.
      const size_t taken = lines_.size() + path_lines(paths).size() + 1 + tail.size() +
                           (end ? format_.wraps(tail.back()) : end_lines);
      return taken < screen_lines ? screen_lines - taken : 0;
    };
    const size_t wanted = rows_ ? 0 : std::min(wanted_rows, all.all);
    if (hint && space() < wanted) tail = make_tail(end, hint->brief);
    while (paths.size() > 1 && space() < wanted) paths.pop_back();
    if (hint && space() < wanted) tail = make_tail(end, {});
    if (space() < wanted) paths.clear();
    add_functions(all, rows_of(all, std::max(space(), fewest_rows)));
    add(path_lines(paths));
  }

  void add(const std::vector<std::string>& lines) {
    lines_.insert(lines_.end(), lines.begin(), lines.end());
  }

  std::string subject_text() const {
    const char* const all =
        summary_.file.info.has_all_processes() ? "The whole system" : "The recorded processes";
    if (subject_.is_system() && summary_.file.cpus != 0)
      return fmt::format("{}, {}", all, plural(summary_.file.cpus, "processor", "processors"));
    std::string text = subject_.is_system() ? all : format_.limited(subject_.name());
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
    return shortened(format_.shown(fmt::format("{}", fmt::join(texts, "; "))), 2 * format_.width(),
                     format_.mark());
  }

  // "12 ticks (samples)"; for event ticks also the number of events.
  std::string ticks_text() const {
    const uint64_t events = summary_.event_based() ? events_per_tick(summary_) : 0;
    const std::string which = is_selection(summary_) ? "selected " : "";
    if (events == 1)
      return fmt::format("{} {}{} (one tick each)", ticks_, which, format_.event(summary_));
    if (events == 0) return plural(ticks_, which + "tick (sample)", which + "ticks (samples)");
    return fmt::format("about {} {} ({}, one every {})", ticks_ * events, format_.event(summary_),
                       plural(ticks_, which + "tick", which + "ticks"), events);
  }

  // Events of one process start a whole interval in each thread: what a thread runs after its last
  // tick is in none.
  bool is_lower_bound() const { return summary_.file.info.scope == "process" && ticks_ != 0; }

  // The elapsed time is that of the whole subject; for a selection the page also has its length.
  void add_head() {
    std::vector<std::string> facts;
    if (subject_.elapsed()) facts.push_back(duration_text(*subject_.elapsed()) + " elapsed");
    std::string processor_time;
    if (const uint64_t distance = tick_distance(summary_); distance != 0)
      processor_time = fmt::format("{}{} of processor time", is_lower_bound() ? "at least " : "",
                                   duration_text(ticks_ * distance));
    // Where recording ended early, the time of no tick is not known.
    const bool is_known = ticks_ != 0 || summary_.file.full.empty();
    if (!is_selection(summary_) && !processor_time.empty() && is_known)
      facts.push_back(processor_time);
    if (const std::string waited = waiting_text(); !waited.empty()) facts.push_back(waited);
    std::string ticks = ticks_text();
    const TickTotals& all = summary_.ticks;
    if (const uint64_t range = all.last_time - all.first_time; is_selection(summary_) && range != 0)
      ticks += fmt::format(" within {}{}", duration_text(range),
                           subject_.elapsed() && *subject_.elapsed() >= range ? " of it" : "");
    facts.push_back(ticks);
    if (is_selection(summary_) && !processor_time.empty())
      facts.push_back(processor_time + " in these");
    add(format_.paragraph(fmt::format("{}: {}", subject_text(), fmt::join(facts, ", ")), "1"));
    if (is_selection(summary_)) add(format_.paragraph("Selected: " + selected_text()));
    if (const Subject own(summary_); subject_.is_system() && !own.is_system())
      add(format_.paragraph(
          fmt::format("None of the selected ticks fell on {}.", format_.limited(own.name()))));
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
      const std::string more = fmt::format("{}{} {}", rest == ticks_ ? "" : ", ",
                                           format_.limited(name), share_word(ticks, ticks_));
      const bool last = rest == ticks;
      const std::string others = ", others " + share_word(rest - ticks, ticks_);
      if (columns_of(text + more + (last ? "" : others)) > format_.width()) break;
      text += more;
      rest -= ticks;
    }
    if (rest == ticks_) return {};
    return rest == 0 ? text : text + ", others " + share_word(rest, ticks_);
  }

  void add_nothing_sampled() {
    if (summary_.ticks.ticks != 0 && is_selection(summary_)) {
      add(format_.paragraph(
          fmt::format("None of the selected ticks fell on it. {} on other processes: see "
                      "the reports in tprof.out.",
                      plural(summary_.ticks.ticks, "tick fell", "ticks fell"))));
      return;
    }
    if (!summary_.file.full.empty()) {
      add(format_.paragraph(
          "No tick fell on it before recording ended: a buffer was full. What helps: a larger "
          "buffer (run.tprof -b), fewer ticks (run.tprof -c)."));
      return;
    }
    if (summary_.event_based()) {
      const uint64_t events = events_per_tick(summary_);
      add(format_.paragraph(
          events <= 1 ? fmt::format("It made no {}.", format_.event(summary_))
                      : fmt::format("No tick fell on it: it made fewer than {} {}. What helps: a "
                                    "tick for fewer of them (run.tprof -c), a longer run.",
                                    events, format_.event(summary_))));
      return;
    }
    const uint64_t distance = tick_distance(summary_);
    add(format_.paragraph("No tick fell on it: " +
                          (distance != 0
                               ? fmt::format("its processor time is less than ticks are apart ({})",
                                             duration_text(distance))
                               : std::string("it took too little processor time")) +
                          (summary_.records.by_major[PITRACE_MAJOR_TPROF] == 0
                               ? ", or it waited, or ticks were not enabled."
                               : ", or it waited.")));
    const bool dispatches = summary_.records.by_major[PITRACE_MAJOR_DISPATCH] != 0;
    add(format_.paragraph(fmt::format(
        "What helps: more ticks (run.tprof -c), a longer run. {}",
        dispatches ? "Where it waited, 'post -offcpu' shows."
                   : "Where it waited, a trace made with swtrace shows: 'swtrace enable dispatch' "
                     "before 'swtrace on', and then 'post -offcpu'.")));
  }

  // The number of functions to show on so many lines. Small ones are only shown if there are few
  // functions.
  // No more than lines on a screen, if no number is given.
  size_t most_rows() const { return rows_.value_or(screen_lines); }

  size_t rows_of(const FunctionsWithMost& all, size_t lines) const {
    if (rows_) return all.rows.size();
    constexpr size_t few = 8;
    size_t large_enough = 0;
    while (large_enough < all.rows.size() && percent(all.rows[large_enough].ticks, ticks_) >=
                                                 (large_enough < few ? 0.05 : small_percent))
      ++large_enough;
    // All other functions share one line.
    return lines >= all.all ? large_enough : std::min(large_enough, lines - 1);
  }

  void add_functions(const FunctionsWithMost& all, size_t count) {
    std::vector<FunctionTicks> shown_ones;
    for (const FunctionTicks& row : std::span(all.rows).first(count))
      shown_ones.push_back({format_.shown(row.name), format_.shown(row.module),
                            format_.shown(row.process), row.ticks});
    Widths widths = widths_of(shown_ones, format_.width() > 10 ? format_.width() - 10 : 1);
    size_t longest = 0;
    for (FunctionTicks& row : shown_ones) {
      row.name = short_name(row.name, widths.name, format_.mark());
      longest = std::max(longest, columns_of(row.name));
    }
    widths.name = longest;
    uint64_t rest = ticks_;
    for (const FunctionTicks& row : shown_ones) {
      rest -= row.ticks;
      lines_.push_back(share_column(row.ticks) + function_text(row, widths));
    }
    if (rest == 0) return;
    const std::string others = count == 0
                                   ? plural(all.all, "function", "functions")
                                   : plural(all.all - count, "other function", "other functions");
    lines_.push_back(share_column(rest) + "in " + others);
  }

  // "  59.0 %  "
  std::string share_column(uint64_t ticks) const {
    const std::string share = share_of(ticks, ticks_) + " %";
    const bool hot = percent(ticks, ticks_) >= hot_percent;
    return " " + (hot ? format_.styled(share, "1;31") : share) + "  ";
  }

  struct Widths {
    size_t name = 0;
    size_t module = 0;
    size_t process = 0;
  };
  std::string function_text(const FunctionTicks& row, const Widths& widths) const {
    const std::string module = shortened(row.module, widths.module, format_.mark());
    const std::string name = padded(row.name, widths.name);
    if (widths.process == 0) return fmt::format("{}  {}", name, module);
    return fmt::format("{}  {}  {}", name, padded(module, widths.module),
                       shortened(row.process, widths.process, format_.mark()));
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

  bool runs_java() const {
    return std::ranges::any_of(summary_.tree.leaves(), [&](const Leaf& leaf) {
      const auto module = static_cast<NameId>(leaf.path[static_cast<size_t>(Level::module)]);
      return subject_.contains(leaf.origin) && summary_.names.text(module).ends_with("/libjvm.so");
    });
  }

  static bool has_guess(const PathRow& path) {
    return std::ranges::find(path.guessed, true) != path.guessed.end();
  }

  static bool is_cut(const PathRow& path) { return path.names.front() == "[cut]"; }

  static bool is_broken(const PathRow& path) { return path.names.front().starts_with("[broken]"); }

  // With a blank line and a heading above them.
  std::vector<std::string> path_lines(const std::vector<PathRow>& paths) const {
    if (all_broken_) {
      std::vector<std::string> lines = format_.paragraph(
          runs_java()
              ? "The hottest paths have no callers: the stacks are broken. Start Java with "
                "-XX:+PreserveFramePointer, as 'run.tprof -g -- java' does."
              : "No callers are known: the stacks are broken, as in code without frame pointers "
                "(gcc: -fno-omit-frame-pointer) whose unwind tables are missing or were not used.");
      lines.insert(lines.begin(), "");
      return lines;
    }
    if (paths.empty()) return {};
    const bool broken = std::ranges::any_of(paths, is_broken);
    const bool guessed = std::ranges::any_of(paths, has_guess);
    std::vector<std::string> lines = format_.paragraph(
        fmt::format("Hottest paths, outermost caller first{}{}:",
                    broken ? " ([broken]: callers are missing)" : "",
                    guessed ? fmt::format(" ({}: guessed, may be wrong)", guess_suffix) : ""));
    lines.insert(lines.begin(), "");
    for (const PathRow& path : paths)
      lines.push_back(share_column(path.ticks) +
                      path_text(path, format_.width() > 10 ? format_.width() - 10 : 1));
    if (std::ranges::any_of(paths, is_cut)) {
      const StackCounts& stacks = summary_.find<CallTree>()->stacks();
      const uint64_t depth = summary_.file.info.stack_depth;
      const std::string frames = depth != 0 ? fmt::format(" or than {} frames", depth) : "";
      for (std::string& line : format_.paragraph(
               fmt::format("[cut]: {} of {} stacks are deeper than the bytes that were copied "
                           "(most: run.tprof --stack-bytes=61440){}.",
                           stacks.cut, stacks.with(), frames)))
        lines.push_back(std::move(line));
    }
    return lines;
  }

  // The functions' names in the longest forms that let the path fit.
  std::string path_text(const PathRow& path, size_t columns) const {
    std::vector<std::vector<std::string>> forms;
    size_t shortest = 0;
    for (size_t i = 0; i < path.names.size(); ++i) {
      forms.push_back(name_forms(format_.shown(path.names[i])));
      if (path.guessed[i])
        for (std::string& form : forms.back()) form += guess_suffix;
      shortest = std::max(shortest, forms.back().size() - 1);
    }
    for (size_t form = 0;; ++form) {
      std::vector<std::string> names;
      for (const auto& each : forms) names.push_back(each[std::min(form, each.size() - 1)]);
      const std::string text = fmt::format("{}", fmt::join(names, " > "));
      if (columns_of(text) <= columns || form == shortest)
        return shortened(text, columns, format_.mark());
    }
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

  const Summary& summary_;
  const std::optional<size_t> rows_;  // of functions
  const PageFormat format_;
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
