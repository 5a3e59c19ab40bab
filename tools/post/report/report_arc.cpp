// SPDX-License-Identifier: MIT
// Writes the text above and below the lines of an arc.
#include "report_arc.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "read/kernel_code.h"
#include "text/text.h"

namespace post {
namespace {

constexpr const char* fields =
    "# Each line is a block of instructions that were executed one after the other. Its fields:\n"
    "#   1  cpu\n"
    "#   2  ring: K kernel, U user\n"
    "#   3  last instruction: 0 interrupt 1 CALL 2 RETURN 3 JUMP 4 IRET 5 OTHER 6 UNDEFD 7 ALLOC\n"
    "#   4  number of instructions\n"
    "#   5  @ call flow, ? another thread on this cpu\n"
    "#   6  offset in the symbol, hexadecimal; 1 also where the block is imperfect\n"
    "#   7  symbol:module\n"
    "#   8  pid_tid_process_thread (hexadecimal ids; the thread if it has its own name)\n"
    "#   9  last instruction in words; -vec- an exception or interrupt, -gap- code that "
    "was not followed\n"
    "#  10  line of the source, 0: not known\n"
    "# Of a -gap- field 4 is the number of instructions missing (0: not known), and a last field "
    "has\n"
    "# its nanoseconds. Of a -vec- field 3 is 0 at its start, 4 where the interrupted code goes "
    "on.\n"
    "# An iteration of a repeated string instruction counts as one instruction.\n";

std::string commented(const std::string& text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    out += '#' + text.substr(at, end - at) + '\n';
    at = end + 1;
  }
  return out;
}

std::string figure(const char* name, uint64_t value, const char* meaning = "") {
  return fmt::format("#{:>22} {:>20}{}{}\n", name, value, *meaning ? "  " : "", meaning);
}

std::string counts_from(const ArcOptions& options) {
  if (options.count_by_code)
    return "# Numbers of instructions come from disassembly where code is known (-dcnt; it counts "
           "a\n"
           "# repeated instruction once), else from the records.\n";
  return "# Numbers of instructions come from the records; if these contain none, from "
         "disassembly.\n";
}

std::string form(const ArcOptions& options) {
  std::string text;
  if (options.compact)
    text +=
        "# Consecutive blocks of one function are one line (-c), up to a call or a return, or "
        "until they\n"
        "# have about 1000 instructions.\n";
  if (options.merge_kernel) text += "# Consecutive blocks of the kernel are one line (-ck).\n";
  if (options.merge_plt) text += "# <plt> is part of the line before it (-cp).\n";
  return text;
}

std::string gap_figures(const ArcTotals& totals) {
  const GapTotals all = totals.all_gaps();
  std::string text = figure("Gaps", all.count, "code that was not followed, by reason:");
  text += fmt::format("#{:>22} {:>20} {:>20} {:>20} {:>20}\n", "", "gaps", "instructions missing",
                      "of unknown size", "nanoseconds");
  for (size_t reason = 0; reason < gap_reasons; ++reason) {
    const GapTotals& gap = totals.gaps[reason];
    text += fmt::format("#{:>22} {:>20} {:>20} {:>20} {:>20}\n", gap_word(reason), gap.count,
                        gap.instructions, gap.unknown, gap.ns);
  }
  return text;
}

std::string figures(const ArcTotals& totals) {
  return figure("Branches", totals.branches) + figure("Lines", totals.lines) +
         figure("Instructions", totals.user + totals.kernel, "in all lines but -gap-") +
         figure("user", totals.user) + figure("kernel", totals.kernel) +
         figure("by disassembly", totals.by_code, "blocks that were counted by it") +
         figure("not counted", totals.uncounted, "blocks without a count, shown as 1") +
         figure("different", totals.different,
                "blocks that the record and the code count differently") +
         figure("Imperfect blocks", totals.imperfect()) +
         figure("no beginning", totals.unplaced, "the position of the thread before is not known") +
         figure("not connected", totals.disconnected, "no path from the beginning to the branch") +
         figure("other code", totals.misfits, "the known code does not branch there") +
         figure("UNDEFD", totals.undefined, "branches with an unknown instruction") +
         figure("Folded", totals.folded, "blocks of thunks, part of the line before") +
         figure("Exceptions", totals.cuts, "and interrupts, beginnings and ends (-vec-)") +
         figure("Losses", totals.losses, "places at which records are missing") +
         gap_figures(totals);
}

}  // namespace

std::string arc_head(const TraceFile& file, const ArcOptions& options, const ArcTotals& totals) {
  const TraceInfo& info = file.info;
  std::string text = "# Arc: call flow by instructions\n";
  if (!info.platform.empty()) text += commented(sentence("Platform", info.platform));
  if (!info.source.empty()) text += commented(sentence("Source", info.source));
  for (const std::string& what : info.cannot_see) text += commented(sentence("Cannot see", what));
  for (const std::string& note : info.notes) text += commented(sentence("Note", note));
  return text + fields + counts_from(options) + form(options) + figures(totals);
}

std::string arc_end(const Summary& summary, const ArcTotals& totals) {
  const uint64_t time = totals.last_time - totals.first_time;
  std::string text =
      fmt::format("#{:>20}  {}\n#{:>20}  {}\n#{:>20}  {}\n#{:>20}  {}.{:09}(sec)\n", "Processors",
                  summary.file.cpus, "ProcessorSpeed", processor_speed(summary), "TraceCycles",
                  time, "TraceTime", time / 1'000'000'000, time % 1'000'000'000);
  for (size_t reason = 0; reason < stop_reasons; ++reason)
    if (totals.stops[reason] != 0)
      text += commented(sentence(
          "Stopped", fmt::format("{} times: {}", totals.stops[reason], stop_word(reason))));
  for (const auto& [lead, what] : loss_sentences(summary.file, summary.losses))
    text += commented(sentence(lead, what));
  for (const std::string& what : selection_texts(summary.options.selection))
    text += commented(sentence("Only", what));
  if (totals.undefined > totals.misfits)
    text += commented(
        sentence("UNDEFD",
                 "the code of these branches is not known: of the kernel it comes with the trace, "
                 "or from an image (-k); of others from the mapped files and from JProf's logs"));
  for (const std::string& message : summary.damage.messages())
    text += commented(sentence("Damaged", message));
  for (const std::string& note : summary.symbol_notes) text += commented(sentence("Symbols", note));
  return text;
}

std::unique_ptr<Subscriber> make_arc(const ReportContext& context, Sink* sink) {
  KernelCode kernel;
  kernel.load(context.source, context.file.kernel_code, context.damage);
  ArcOptions options = context.options.arc_form;
  options.cache_entries = context.cache_entries(options.cache_entries);
  auto arc =
      std::make_unique<Arc>(context.processes, context.symbolizer, context.names, std::move(kernel),
                            std::make_unique<ArcLines>(*sink), options, context.filter);
  arc->put_head(arc_head(context.file, options, {}));
  return arc;
}

std::optional<Lack> lack_of_branches(const Summary& summary) {
  if (summary.find<Arc>()->totals().branches != 0) return {};
  const bool all = selection_texts(summary.options.selection).empty();
  return Lack{fmt::format("contains no instruction trace{}: there is no flow to show.",
                          all ? "" : ", or none of its records is selected"),
              "Instructions are traced by run.itrace, or after 'swtrace it_install'."};
}

bool write_arc_frame(const Summary& summary, Sink& sink) {
  const Arc& arc = *summary.find<Arc>();
  return sink.write(arc_end(summary, arc.totals())) &&
         sink.rewrite(0, arc_head(summary.file, arc.options(), arc.totals()));
}

}  // namespace post
