// SPDX-License-Identifier: MIT
// A trace file read from end to end, and its ticks with the names that liba2n has for them.
#ifndef POST_ANALYSIS_H
#define POST_ANALYSIS_H

#include <pi/result.h>

#include <memory>
#include <optional>
#include <map>
#include <string>
#include <vector>

#include "a2n_symbolizer.h"
#include "analysis/call_tree.h"
#include "analysis/micro.h"
#include "analysis/off_cpu.h"
#include "analysis/tick_counter.h"
#include "arc/arc.h"
#include "options/options.h"
#include "pipeline.h"
#include "read/file_source.h"
#include "read/kernel_code.h"
#include "report/summary.h"
#include "text/output_file.h"

namespace post {

// A trace file and what reading it has told so far.
struct TraceRun {
  std::string path;
  std::string scratch = ".";  // directory for what an archive is unpacked to
  std::unique_ptr<FileSource> source;
  pi::UniqueFd saved_symbols;           // of an archive; none: the trace came by itself
  std::map<LogKey, pi::UniqueFd> logs;  // likewise
  DamageLog damage;
  TraceFile file;
  RecordTotals totals;
  Losses losses;
};

// Opens the file at run.path, a trace or an archive of one, and reads its layout.
pi::Status open_trace(TraceRun& run);

// Reads all records, and writes post.show where the options want it. Shows progress on a terminal.
pi::Status read_records(TraceRun& run, const Options& options, Subscriptions subscriptions);

// Counts the ticks of one trace. liba2n's state is one for the program: one analysis at a time.
class TickAnalysis {
 public:
  // Both must outlive this.
  TickAnalysis(TraceRun& run, const Options& options);

  pi::Status read();

  // After read(); refers to this and the run.
  Summary summary();

  // Where the options ask for them.
  const CallTree* calls() const { return calls_ ? &*calls_ : nullptr; }
  const OffCpu* off_cpu() const { return off_cpu_ ? &*off_cpu_ : nullptr; }
  const Micro* micro() const { return micro_ ? &*micro_ : nullptr; }

  // Where the options ask for an arc, after read(): its head's figures, its end, and its name.
  pi::Status finish_arc(const Summary& summary);

  // After read(): the symbols that were looked up, to an open file.
  static pi::Status save_symbols(int fd);
  // The files they came from.
  static std::vector<std::string> symbol_files();
  // The index-th of them, unless it was replaced or changed since.
  static pi::Result<pi::UniqueFd> open_symbol_file(size_t index);
  // The logs of code made at run time that were used.
  std::map<LogKey, int> logs() const { return symbolizer_.logs(); }

 private:
  pi::Status begin_arc();

  TraceRun& run_;
  const Options& options_;
  A2nSymbolizer symbolizer_;
  StringTable names_;
  Processes processes_;
  TickCounter ticks_;
  std::optional<CallTree> calls_;
  std::optional<OffCpu> off_cpu_;
  std::optional<Micro> micro_;
  KernelCode kernel_code_;
  std::unique_ptr<OutputFile> arc_file_;
  std::optional<Arc> arc_;
};

}  // namespace post

#endif  // POST_ANALYSIS_H
