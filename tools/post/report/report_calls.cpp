// SPDX-License-Identifier: MIT
// Writes tprof.tree and tprof.folded: ticks by call stack.
#include "report_calls.h"

#include <fmt/format.h>

#include "analysis/call_tree.h"
#include "call_rows.h"
#include "report_head.h"
#include "text/text.h"

namespace post {
namespace {

std::string title(const char* name) {
  return fmt::format("\n{}    )) {}\n{}", banner, name, banner);
}

std::string tree_rows(const Summary& summary) {
  const CallTree& calls = *summary.find<CallTree>();
  const uint64_t all = calls.ticks();
  std::string text = title("Call_Tree") + "\n LAB      INCL    %%%      EXCL    %%%   NAMES\n\n";
  uint32_t depth = 0;
  for (const CallRow& row : make_call_rows(calls, clip_ticks(summary))) {
    if (row.depth < depth) text += '\n';
    depth = row.depth;
    text += fmt::format(" {:<4}{:>9} {:6.2f} {:>9} {:6.2f}   {}{}{}\n", kind_label(row.kind),
                        row.inclusive, percent(row.inclusive, all), row.exclusive,
                        percent(row.exclusive, all), std::string(2 * size_t{row.depth}, ' '),
                        row.name, guess_mark(row.guessed, row.inclusive));
  }
  return text;
}

std::string function_rows(const Summary& summary) {
  const CallTree& calls = *summary.find<CallTree>();
  const uint64_t all = calls.ticks();
  std::string text =
      title("Callers_Function_Callees") + "\n LAB      INCL    %%%      EXCL    %%%   NAMES\n";
  const auto edge = [&](const char* label, uint64_t ticks, const std::string& name) {
    return fmt::format(" {:<4}{:>9} {:6.2f} {:>9} {:>6}    {}\n", label, ticks, percent(ticks, all),
                       "", "", name);
  };
  for (const FunctionRow& row : make_function_rows(calls, clip_ticks(summary))) {
    text += '\n';
    if (row.outermost != 0) text += edge("FROM", row.outermost, "(the beginning of the stack)");
    for (const CallEdge& caller : row.callers) text += edge("FROM", caller.ticks, caller.name);
    text += fmt::format(" {:<4}{:>9} {:6.2f} {:>9} {:6.2f}   {}{}\n", "FUN", row.inclusive,
                        percent(row.inclusive, all), row.exclusive, percent(row.exclusive, all),
                        row.name, guess_mark(row.guessed, row.inclusive));
    for (const CallEdge& callee : row.callees) text += edge("TO", callee.ticks, callee.name);
  }
  return text;
}

std::string share(uint64_t part, uint64_t whole) {
  return fmt::format("{} of {} ({:.2f} %)", part, whole, percent(part, whole));
}

}  // namespace

std::vector<LeadAndText> stack_sentences(const StackCounts& stacks, const char* what) {
  const uint64_t all = stacks.with() + stacks.without;
  std::vector<LeadAndText> sentences = {
      {"Stacks", fmt::format("{} {} have one.", share(stacks.with(), all), what)}};
  const auto add = [&](const char* lead, uint64_t count, const char* text) {
    if (count != 0) sentences.push_back({lead, share(count, all) + text});
  };
  add("Without a stack", stacks.without, " have none: no callers are known for them.");
  add("Unreadable stacks", stacks.unreadable,
      " of all are longer than the record that holds them, and not used.");
  if (stacks.with() == 0) return sentences;
  sentences.push_back(
      {"Whole stacks", fmt::format("{} reach the start of their thread; {} broken, {} cut.",
                                   share(stacks.whole, stacks.with()), stacks.broken, stacks.cut)});
  const auto add_part = [&](const char* lead, uint64_t count, const char* text) {
    if (count != 0) sentences.push_back({lead, share(count, stacks.with()) + text});
  };
  add_part(
      "Broken kernel stacks", stacks.kernel_broken,
      " do not reach where the kernel was entered; outer callers are missing, and [broken]_[k] "
      "represents them.");
  add_part("Guessed user stacks", stacks.guessed,
           " reach the start of their thread through code without unwind tables, whose callers the "
           "frame pointer gave, or a signal handler's own stack; some callers may be wrong.");
  add_part(
      "Broken user stacks", stacks.user_broken,
      " do not reach the start of their thread, as in code without frame pointers whose unwind "
      "tables are missing or were not used; outer callers are missing, and [broken] represents "
      "them.");
  add_part(
      "Cut kernel stacks", stacks.kernel_cut,
      " were deeper than the requested depth (swtrace stacks -depth); outer callers are missing, "
      "and [cut]_[k] represents them.");
  add_part("Cut user stacks", stacks.user_cut,
           " were deeper than the requested depth or bytes (swtrace stacks -depth, -bytes), or "
           "continue on another stack, which is not copied, as where Go calls C; outer callers are "
           "missing, and [cut] represents them.");
  return sentences;
}

std::vector<LeadAndText> guess_sentences(const Frames& frames, bool numbers) {
  if (!frames.has_guesses()) return {};
  const char* const with_numbers =
      numbers ? ", with the number of ticks if they are certain for others" : "";
  return {{"Guessed callers",
           fmt::format("are marked{}{}: they are behind code without unwind tables, or a "
                       "signal handler's own stack, and may be wrong.",
                       guess_mark(1, 1), with_numbers)}};
}

std::unique_ptr<Subscriber> make_call_tree(const ReportContext& context, Sink*) {
  CallTree::Options options{context.options.report.labels, context.options.report.calls_by_thread,
                            context.frames(), stack_source(context.file.info)};
  options.cache_entries = context.cache_entries(options.cache_entries);
  return std::make_unique<CallTree>(context.processes, context.symbolizer, context.names, options);
}

std::optional<Lack> lack_of_stacks(const Summary& summary) {
  if (summary.find<CallTree>()->stacks().with() != 0) return {};
  return Lack{
      "contains no call stacks: callers are unknown.",
      summary.file.info.is_of_perf_record()
          ? "perf record -g and --call-graph dwarf record stacks."
          : "Stacks are recorded with the ticks after 'swtrace stacks both', or by run.tprof -g."};
}

bool write_tree(const Summary& summary, Sink& sink) {
  const CallTree& calls = *summary.find<CallTree>();
  std::string text = report_head(summary, "Tprof Call Tree");
  for (const auto& [lead, what] : stack_sentences(calls.stacks(), "ticks"))
    text += sentence(lead, what);
  for (const auto& [lead, what] : guess_sentences(calls.frames(), true))
    text += sentence(lead, what);
  text += '\n' + tick_totals(summary);
  if (summary.options.mode_line) text += percentages_of(summary);
  const bool good = sink.write(text);
  return sink.write(tree_rows(summary)) && sink.write(function_rows(summary)) &&
         sink.write(fmt::format("\n{}    End of Reports\n{}\n", banner, banner) +
                    report_end(summary)) &&
         good;
}

bool write_folded(const Summary& summary, Sink& sink) {
  return for_each_folded_line(*summary.find<CallTree>(),
                              [&](std::string_view line) { return sink.write(line); });
}

}  // namespace post
