// SPDX-License-Identifier: MIT
// Writes tprof.offcpu: the waits of threads, with stacks, reasons and wakers.
#include "report_off_cpu.h"

#include <fmt/format.h>

#include <cmath>

#include "off_cpu_rows.h"
#include "report_calls.h"
#include "report_head.h"
#include "text/text.h"

namespace post {
namespace {

// Milliseconds with three decimals.
std::string milliseconds(uint64_t time) {
  const uint64_t microseconds = time / 1000 + (time % 1000 >= 500);
  return fmt::format("{}.{:03}", microseconds / 1000, microseconds % 1000);
}

std::string title(const char* name) {
  return fmt::format("\n{}    )) {}\n{}", banner, name, banner);
}

std::string thread_rows(const std::vector<ThreadRow>& rows) {
  std::string text = title("Process_Thread");
  text += fmt::format("\n LAB {:>12} {:>12} {:>12} {:>12} {:>12} {:>9} {:>9} {:>9}   NAMES\n\n",
                      "RUNNING", "RUNNABLE", "BLOCKED", "CUT", "UNKNOWN", "DISPATCH", "WAKE-UPS",
                      "MIGRATED");
  for (const ThreadRow& row : rows) {
    const ThreadTimes& times = row.times;
    text += fmt::format(" TID {:>12} {:>12} {:>12} {:>12} {:>12} {:>9} {:>9} {:>9}   {} {}\n",
                        milliseconds(times.running), milliseconds(times.runnable),
                        milliseconds(times.blocked), milliseconds(times.cut),
                        milliseconds(times.unknown), times.dispatches, times.wakeups,
                        times.migrations, row.process, row.thread);
  }
  return text;
}

std::string waker_text(const WakerRow& waker) {
  std::string text = "woken by " + waker.chain.front();
  for (size_t i = 1; i < waker.chain.size(); ++i) text += ", itself woken by " + waker.chain[i];
  return text;
}

std::string wait_text(const WaitRow& wait) {
  std::string text =
      fmt::format(" WAIT{:>12} {:>12} {:>12} {:>9}    {}\n", milliseconds(wait.times.blocked),
                  milliseconds(wait.times.runnable), milliseconds(wait.times.cut), wait.times.count,
                  reason_word(wait.reason));
  for (size_t i = 0; i < wait.frames.size(); ++i)
    text +=
        fmt::format(" FUN {:>48}     {}{}\n", "", wait.frames[i], guess_mark(wait.guessed[i], 1));
  for (const WakerRow& waker : wait.wakers)
    text += fmt::format(" WAKE{:>12} {:>12} {:>12} {:>9}     {}\n", milliseconds(waker.blocked), "",
                        "", waker.count, waker_text(waker));
  return text;
}

std::string wait_rows(const std::vector<ThreadRow>& rows) {
  std::string text = title("Process_Thread_Stack");
  text += fmt::format("\n LAB {:>12} {:>12} {:>12} {:>9}   NAMES\n", "BLOCKED", "RUNNABLE", "CUT",
                      "COUNT");
  for (const ThreadRow& row : rows) {
    if (row.waits.empty()) continue;
    text += fmt::format("\n TID {:>12} {:>12} {:>12} {:>9}   {} {}\n",
                        milliseconds(row.times.blocked), milliseconds(row.times.runnable),
                        milliseconds(row.times.cut), "", row.process, row.thread);
    for (const WaitRow& wait : row.waits) text += wait_text(wait);
  }
  return text;
}

}  // namespace

std::vector<LeadAndText> off_cpu_sentences(const OffCpu& off_cpu) {
  std::vector<LeadAndText> sentences;
  const auto add = [&](const char* lead, uint64_t count, const char* text) {
    if (count != 0) sentences.push_back({lead, std::to_string(count) + text});
  };
  sentences.push_back(
      {"Time unknown",
       "what a thread did before its first event is not known, and not counted as anything else."});
  if (off_cpu.wakeups() == 0)
    sentences.push_back({"Wake-ups",
                         "none in this trace: time blocked includes the time for which the thread "
                         "was runnable again; "
                         "the two cannot be separated."});
  else
    add("Wake-ups missing", off_cpu.missing_wakeups(),
        " times blocked ended without a wake-up; they include the time for which the thread was "
        "runnable again.");
  add("Gaps", off_cpu.gaps(),
      " places where records are missing: the running thread is unknown until the next dispatch, "
      "and the time of threads that waited meanwhile is counted as unknown.");
  add("Not reported", off_cpu.unreported(),
      " switches of which the kernel has no record, although nothing was lost: which thread ran "
      "until the next "
      "one is counted as unknown.");
  add("Contradictions", off_cpu.contradicted(),
      " dispatches of a thread that ran elsewhere: its time since then is counted as unknown.");
  const StackCounts& stacks = off_cpu.stacks();
  if (stacks.with() == 0)
    sentences.push_back({"Stacks", "none in this trace (swtrace stacks both records them)."});
  else
    for (LeadAndText& sentence : stack_sentences(stacks, "dispatches"))
      sentences.push_back(std::move(sentence));
  for (LeadAndText& sentence : guess_sentences(off_cpu.frames(), false))
    sentences.push_back(std::move(sentence));
  return sentences;
}

uint64_t clip_time(const Summary& summary) {
  const OffCpu& off_cpu = *summary.find<OffCpu>();
  const double time = static_cast<double>(off_cpu.end_time() - off_cpu.begin_time());
  return static_cast<uint64_t>(std::floor(time * summary.options.clip_percent / 100 + 1e-6));
}

std::unique_ptr<Subscriber> make_off_cpu(const ReportContext& context, Sink*) {
  OffCpu::Options options{context.options.report.labels, context.frames(),
                          stack_source(context.file.info)};
  options.cache_entries = context.cache_entries(options.cache_entries);
  options.filter = context.filter;
  return std::make_unique<OffCpu>(context.processes, context.symbolizer, context.names, options);
}

std::optional<Lack> lack_of_dispatches(const Summary& summary) {
  if (summary.find<OffCpu>()->dispatches() != 0) return {};
  if (summary.records.by_major[PITRACE_MAJOR_DISPATCH] != 0 &&
      !selection_texts(summary.options.selection).empty())
    return Lack{"contains no dispatches that are selected: there is nothing to report.",
                "Processes, commands, threads and time select which ones are taken."};
  return Lack{"contains no dispatches: it is unknown where threads waited.",
              summary.file.info.is_of_perf_record()
                  ? "Dispatches (context switches) are in recordings of 'perf record -a -e "
                    "cpu-clock -e sched:sched_switch'."
                  : "Dispatches (context switches) are recorded after 'swtrace enable dispatch'."};
}

bool write_off_cpu(const Summary& summary, Sink& sink) {
  const OffCpu& off_cpu = *summary.find<OffCpu>();
  std::string text =
      report_head(summary, "Tprof Off-CPU Report", off_cpu.end_time() - off_cpu.begin_time());
  for (const auto& [lead, what] : off_cpu_sentences(off_cpu)) text += sentence(lead, what);
  const uint64_t clip = clip_time(summary);
  text += fmt::format("\n TOTAL DISPATCHES {:>9}\n (Clipping Level : {} % {} milliseconds)\n",
                      off_cpu.dispatches(), clip_text(summary), milliseconds(clip));
  const std::vector<ThreadRow> rows = make_thread_rows(off_cpu, summary.names, clip);
  const bool good = sink.write(text);
  return sink.write(thread_rows(rows)) && sink.write(wait_rows(rows)) &&
         sink.write(fmt::format("\n{}    End of Reports\n{}\n", banner, banner) +
                    report_end(summary)) &&
         good;
}

}  // namespace post
