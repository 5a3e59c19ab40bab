// SPDX-License-Identifier: MIT
// The page: the answer of a trace on one screen.
#include "report_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <tuple>

#include "analysis/waiting.h"
#include "page_facts.h"
#include "path_rows.h"
#include "subject.h"
#include "text/columns.h"
#include "text/labels.h"
#include "text/text.h"

namespace post {
namespace {

constexpr size_t screen_lines = 23;  // of 24; the prompt has the last one
constexpr size_t fewest_rows = 3;
constexpr size_t most_paths = 5;
constexpr double hot_percent = 10;

// A function, or what stands in for one, in all threads of the subject.
struct FunctionTicks {
  std::string name;
  std::string module;
  std::string process;  // only where the subject is the system
  uint64_t ticks = 0;
};

std::string share_word(uint64_t part, uint64_t whole) {
  const std::string text = share_text(part, whole);
  return text.substr(text.find_first_not_of(' ')) + " %";
}

std::string base_name(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

// The text as one word of a shell's command line, without control characters.
std::string shell_word(const std::string& text) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./,:+@%=-";
  if (!text.empty() && text.find_first_not_of(plain) == std::string::npos) return text;
  const bool escaped = printable(text) != text;
  std::string word = escaped ? "$'" : "'";
  for (const char c : text) {
    if (escaped && (c == '\'' || c == '\\'))
      word += std::string("\\") + c;
    else if (escaped && (c < ' ' || c > '~'))
      word += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    else
      word += c == '\'' ? "'\\''" : std::string(1, c);
  }
  return word + "'";
}

class Page {
 public:
  Page(const Summary& summary, const PageLook& look)
      : summary_(summary), look_(look), subject_(summary) {
    for (const Leaf& leaf : summary.tree.leaves()) {
      if (leaf.origin.pid == idle_pid) idle_ += leaf.ticks;
      if (subject_.contains(leaf.origin)) ticks_ += leaf.ticks;
    }
  }

  std::string text(const PageEnd* end) {
    add_head();
    std::vector<std::string> tail = tail_lines(end);
    if (ticks_ == 0) {
      add_nothing_sampled();
    } else {
      const std::vector<PathRow> paths = hot_paths();
      // Above the tail a blank line; the paths have another one and a heading of two lines at most.
      const size_t below = tail.size() + 1 + (paths.empty() ? 0 : paths.size() + 3);
      add_functions(below + (end ? 0 : end_lines));
      if (!paths.empty()) add_paths(paths);
    }
    lines_.emplace_back();
    lines_.insert(lines_.end(), tail.begin(), tail.end());
    return fmt::format("{}\n", fmt::join(lines_, "\n"));
  }

 private:
  static constexpr size_t end_lines = 3;  // that PageEnd usually takes

  std::string mark() const { return look_.utf8 ? "…" : "..."; }
  std::string shown(const std::string& text) const { return look_.utf8 ? text : ascii_text(text); }
  std::string styled(const std::string& text, const char* style) const {
    return look_.colour ? fmt::format("\033[{}m{}\033[0m", style, text) : text;
  }

  // A name that leaves space for what follows it.
  std::string limited(const std::string& name) const {
    return shortened(shown(name), std::max<size_t>(look_.width / 2, 10), mark());
  }

  // A paragraph as lines, the second and later ones indented; style: of each.
  std::vector<std::string> paragraph(const std::string& text, const char* style = nullptr) const {
    std::vector<std::string> lines = paragraph_lines(text, look_.width);
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

  void add_head() {
    std::vector<std::string> facts;
    if (subject_.elapsed()) facts.push_back(duration_text(*subject_.elapsed()) + " elapsed");
    if (const uint64_t distance = tick_distance(summary_); distance != 0)
      facts.push_back(duration_text(ticks_ * distance) + " of processor time");
    if (const std::string waited = waiting_text(); !waited.empty()) facts.push_back(waited);
    const bool selected = !selection_texts(summary_.options.selection).empty();
    std::string ticks = selected
                            ? plural(ticks_, "selected tick (sample)", "selected ticks (samples)")
                            : plural(ticks_, "tick (sample)", "ticks (samples)");
    if (summary_.event_based() && events_per_tick(summary_) != 0)
      ticks += fmt::format(", one every {} {}", events_per_tick(summary_),
                           limited(event_name(summary_)));
    facts.push_back(ticks);
    add(paragraph(fmt::format("{}: {}", subject_text(), fmt::join(facts, ", ")), "1"));
    lines_.emplace_back();
  }

  void add_nothing_sampled() {
    if (summary_.ticks.ticks != 0 && !selection_texts(summary_.options.selection).empty()) {
      add(
          paragraph(fmt::format("None of the selected ticks fell on it. {} on other processes: see "
                                "the reports in tprof.out.",
                                plural(summary_.ticks.ticks, "tick fell", "ticks fell"))));
      return;
    }
    const uint64_t distance = tick_distance(summary_);
    std::string why = "No tick fell on it: ";
    if (summary_.event_based())
      why += fmt::format("it made fewer than {} {}, or it waited.", events_per_tick(summary_),
                         event_name(summary_));
    else if (distance != 0)
      why += fmt::format("its processor time is less than ticks are apart ({}), or it waited.",
                         duration_text(distance));
    else
      why += "it took too little processor time, or it waited.";
    add(paragraph(why));
    add(
        paragraph("What helps: more ticks (run.tprof -c), a longer run; and where it waited: "
                  "'swtrace enable dispatch' before the trace, 'post -offcpu' after it."));
  }

  std::vector<FunctionTicks> functions() const {
    using Ids = std::tuple<NameId, NameId, NameId, bool>;
    std::map<Ids, uint64_t> by_ids;
    const auto name_at = [](const Leaf& leaf, Level level) {
      return static_cast<NameId>(leaf.path[static_cast<size_t>(level)]);
    };
    for (const Leaf& leaf : summary_.tree.leaves())
      if (leaf.ticks != 0 && subject_.contains(leaf.origin))
        by_ids[{name_at(leaf, Level::symbol), name_at(leaf, Level::module),
                subject_.is_system() ? name_at(leaf, Level::process) : no_name,
                leaf.origin.kernel}] += leaf.ticks;
    // Several mangled names can be one readable name.
    std::map<std::tuple<std::string, NameId, std::string, bool>, uint64_t> by_names;
    for (const auto& [ids, ticks] : by_ids) {
      const auto& [symbol, module, process, kernel] = ids;
      const std::string owner =
          subject_.is_system()
              ? process_base_name(summary_.names.text(process), summary_.options.labels)
              : "";
      by_names[{readable(summary_, symbol), module, owner, kernel}] += ticks;
    }
    std::vector<FunctionTicks> rows;
    for (const auto& [names, ticks] : by_names) {
      const auto& [symbol, module, process, kernel] = names;
      const bool named = !process.empty() && process != unnamed_process;
      rows.push_back({shown(symbol), shown(module_text(module, kernel)),
                      named ? "(" + shown(process) + ")" : process, ticks});
    }
    std::ranges::stable_sort(
        rows, [](const FunctionTicks& a, const FunctionTicks& b) { return a.ticks > b.ticks; });
    return rows;
  }

  std::string module_text(NameId module, bool kernel) const {
    const std::string name = base_name(summary_.names.text(module));
    if (!kernel) return name;
    return name == "vmlinux" || name.empty() ? "[kernel]" : fmt::format("[kernel] {}", name);
  }

  // How many functions are shown. below: the lines that follow them. Small ones are only shown
  // where there are few.
  size_t rows_of(const std::vector<FunctionTicks>& all, size_t below) const {
    if (look_.rows) return std::min(*look_.rows, all.size());
    constexpr double small = 0.5;
    constexpr size_t few = 8;
    size_t worth_it = 0;
    while (worth_it < all.size() &&
           percent(all[worth_it].ticks, ticks_) >= (worth_it < few ? 0.05 : small))
      ++worth_it;
    const size_t above_and_below = std::min(screen_lines, lines_.size() + below);
    const size_t fit = std::max(fewest_rows, screen_lines - above_and_below);
    // The others have a line, too.
    return fit >= all.size() ? worth_it : std::min(worth_it, fit - 1);
  }

  // below: the lines that follow.
  void add_functions(size_t below) {
    const std::vector<FunctionTicks> all = functions();
    const size_t count = rows_of(all, below);
    const auto shown_ones = std::span(all).first(count);
    const Widths widths = widths_of(shown_ones, look_.width > 10 ? look_.width - 10 : 1);
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
    const std::string share = share_text(ticks, ticks_) + " %";
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
    const std::string name = padded(shortened(row.name, widths.name, mark()), widths.name);
    if (widths.process == 0) return fmt::format("{}  {}", name, module);
    return fmt::format("{}  {}  {}", name, padded(module, widths.module),
                       shortened(row.process, widths.process, mark()));
  }

  // Where not all fit, modules are shortened to a third, processes to a quarter, names to the rest.
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

  std::vector<PathRow> hot_paths() const {
    const auto* calls = summary_.find<CallTree>();
    if (!calls || calls->stacks().with() == 0) return {};
    return make_path_rows(*calls, summary_, most_paths,
                          [&](const Origin& process) { return subject_.contains(process); });
  }

  void add_paths(const std::vector<PathRow>& paths) {
    lines_.emplace_back();
    const bool broken = std::ranges::any_of(
        paths, [](const PathRow& path) { return path.names.front().starts_with("[broken]"); });
    add(paragraph(fmt::format("Hottest paths, outermost caller first{}:",
                              broken ? " ([broken]: no frame pointers there)" : "")));
    for (const PathRow& path : paths)
      lines_.push_back(share_column(path.ticks) +
                       shortened(shown(fmt::format("{}", fmt::join(path.names, " > "))),
                                 look_.width > 10 ? look_.width - 10 : 1, mark()));
  }

  std::vector<std::string> tail_lines(const PageEnd* end) const {
    std::vector<std::string> tail;
    const auto add_to_tail = [&](const std::vector<std::string>& lines) {
      tail.insert(tail.end(), lines.begin(), lines.end());
    };
    // A selection by name leaves out what the rest of the system did.
    if (summary_.file.info.scope != "process" && summary_.ticks.ticks != 0 &&
        !summary_.options.selection.by_name())
      add_to_tail(paragraph(rest_text()));
    if (const std::string hint = hint_text(); !hint.empty())
      add_to_tail(paragraph("Hint: " + hint, "33"));
    const std::string lost = lost_text(summary_);
    const std::string seen = not_seen_text();
    add_to_tail(paragraph((lost.empty() ? nothing_lost_text(summary_) : lost) + seen,
                          lost.empty() ? nullptr : "33"));
    if (!end) return tail;
    add_to_tail(paragraph(files_text(*end)));
    if (ticks_ != 0) add_to_tail(next_lines(*end));
    return tail;
  }

  // The processes beside the subject with the most ticks, as many as fit into the line.
  std::string rest_text() const {
    const uint64_t all = summary_.ticks.ticks;
    const char* const of_what = summary_.event_based() ? "of all ticks" : "of all processor time";
    // An idle processor may have fewer ticks than its time.
    const bool throttled = summary_.file.info.throttled != 0;
    const std::string idle =
        fmt::format("{}{}", throttled ? "at least " : "", share_word(idle_, all));
    if (subject_.is_system()) return fmt::format("Idle: {} {}.", idle, of_what);
    const std::string rest = share_word(all - idle_ - ticks_, all);
    const std::string lead =
        fmt::format("Rest of the system: {}{}", throttled ? "at most " : "", rest);
    std::string shares;
    for (const auto& [ticks, name] : others()) {
      const std::string more =
          fmt::format("{}{} {}", shares.empty() ? "" : ", ", name, share_word(ticks, all));
      if (columns_of(lead + of_what + shares + more + idle) + 12 > look_.width) break;
      shares += more;
    }
    return fmt::format("{} {}{}; idle {}.", lead, of_what,
                       shares.empty() ? "" : " (" + shares + ")", idle);
  }

  std::vector<std::pair<uint64_t, std::string>> others() const {
    std::map<std::string, uint64_t> by_name;
    for (const Leaf& leaf : summary_.tree.leaves()) {
      if (leaf.origin.pid == idle_pid || subject_.contains(leaf.origin)) continue;
      const auto label = static_cast<NameId>(leaf.path[static_cast<size_t>(Level::process)]);
      by_name[shown(process_base_name(summary_.names.text(label), summary_.options.labels))] +=
          leaf.ticks;
    }
    std::vector<std::pair<uint64_t, std::string>> sorted;
    for (const auto& [name, ticks] : by_name)
      if (percent(ticks, summary_.ticks.ticks) >= 0.05) sorted.emplace_back(ticks, name);
    std::ranges::stable_sort(sorted,
                             [](const auto& a, const auto& b) { return a.first > b.first; });
    return sorted;
  }

  // The hint on the program of the subject with the most ticks without a name; empty if there is
  // none.
  std::string hint_text() const {
    std::set<std::string> programs;
    for (const Leaf& leaf : summary_.tree.leaves())
      if (leaf.ticks != 0 && subject_.contains(leaf.origin))
        programs.insert(process_base_name(summary_.names.text(static_cast<NameId>(
                                              leaf.path[static_cast<size_t>(Level::process)])),
                                          summary_.options.labels));
    for (const Hint& hint : summary_.hints)
      if (programs.contains(hint.program)) return shown(hint.text);
    return {};
  }

  std::string not_seen_text() const {
    std::vector<std::string> parts;
    for (const std::string& part : not_seen(summary_.file.info))
      parts.push_back(shortened(shown(part), std::max<size_t>(look_.width, 10), mark()));
    if (parts.empty()) return {};
    return fmt::format(" Not seen: {} (see tprof.out).", fmt::join(parts, ", "));
  }

  static std::string files_text(const PageEnd& end) {
    const std::string prefix = end.directory == "." ? "" : end.directory + "/";
    std::vector<std::string> names;
    std::vector<std::string> files = end.files;
    files.push_back(end.trace);
    for (const std::string& file : files)
      names.push_back(file.starts_with(prefix) ? file.substr(prefix.size()) : file);
    return printable(fmt::format("Files{}: {}", prefix.empty() ? "" : " in " + end.directory,
                                 fmt::join(names, ", ")));
  }

  // What to type next. The command has a line of its own, however long, so that it can be copied.
  std::vector<std::string> next_lines(const PageEnd& end) const {
    const auto* calls = summary_.find<CallTree>();
    const auto* waiting = summary_.find<Waiting>();
    const bool waits = waiting && waiting->times().dispatches() != 0;
    const bool stacks = calls && calls->stacks().with() != 0;
    std::vector<std::string> lines = paragraph(
        fmt::format("Next: {}{}", stacks ? "" : "run.tprof -g shows callers; ",
                    waits ? "for waits, in tprof.offcpu:" : "for instructions, in tprof.micro:"));
    std::string command = "  " + shell_word(end.post);
    if (end.trace != "swtrace.nrm2") command += " -r " + shell_word(end.trace);
    if (end.directory != ".") command += " -o " + shell_word(end.directory);
    lines.push_back(command + (waits ? " -offcpu" : " -disasm"));
    return lines;
  }

  const Summary& summary_;
  const PageLook look_;
  const Subject subject_;
  uint64_t ticks_ = 0;  // of the subject
  uint64_t idle_ = 0;
  std::vector<std::string> lines_;
};

}  // namespace

std::string page_text(const Summary& summary, const PageLook& look, const PageEnd* end) {
  return Page(summary, look).text(end);
}

std::unique_ptr<Subscriber> make_waiting(const ReportContext& context, Sink*) {
  return std::make_unique<Waiting>(context.processes, context.symbolizer, context.names);
}

}  // namespace post
