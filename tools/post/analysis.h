// SPDX-License-Identifier: MIT
// Reads a trace file from end to end and counts its ticks by the names that liba2n returns.
#ifndef POST_ANALYSIS_H
#define POST_ANALYSIS_H

#include <pi/result.h>

#include <functional>
#include <memory>
#include <map>
#include <string>
#include <vector>

#include "a2n_symbolizer.h"
#include "analysis/tick_counter.h"
#include "options/options.h"
#include "pipeline.h"
#include "read/file_source.h"
#include "report/html_tables.h"
#include "report/reports.h"
#include "report/summary.h"
#include "text/output_file.h"

namespace post {

// A trace file, and the data that has been read from it so far.
struct TraceRun {
  std::string path;
  std::string scratch = ".";  // directory for what an archive is unpacked to
  std::unique_ptr<FileSource> source;
  pi::UniqueFd saved_symbols;           // of an archive; none: the trace is not in an archive
  std::map<LogKey, pi::UniqueFd> logs;  // of an archive
  Packages packages;                    // of an archive
  DamageLog damage;
  TraceFile file;
  RecordTotals totals;
  Losses losses;
};

// Opens the file at run.path, a trace or an archive of a trace, and reads its layout.
pi::Status open_trace(TraceRun& run);

// The same for a file that is possibly still being recorded: reads up to the last complete section;
// a partly written section is not reported as damage.
pi::Status open_growing_trace(TraceRun& run);

// Counts the ticks of one trace, and other data that the requested reports need. Only one analysis
// may exist at a time, because liba2n's default context is global.
class TickAnalysis {
 public:
  // Both must outlive this.
  TickAnalysis(TraceRun& run, const Options& options);

  // Reads all records, and writes post.show if the options request it. Shows progress on a
  // terminal. With -showx nothing is counted and no symbols are needed.
  // Ends early when stop() is true.
  pi::Status read(const std::function<bool()>& stop = {});

  // After read(): returns sentences on words of the selection that match nothing.
  std::vector<std::string> selection_remarks() const;

  // After read(); refers to this and the run.
  Summary summary();

  // After read(): returns advice on ticks without names.
  std::vector<Hint> hints(const Summary& summary) const;

  // After read(): returns the Debian packages of the files without symbols.
  Packages packages() const;

  // After read(): writes all requested reports except post.show.
  pi::Status write_reports(const Summary& summary);

  // After read(): writes the symbols that were looked up to an open file.
  static pi::Status save_symbols(int fd);
  // The files that these symbols came from.
  static std::vector<std::string> symbol_files();
  // Opens the index-th of these files, unless it was replaced or changed since.
  static pi::Result<pi::UniqueFd> open_symbol_file(size_t index);
  // The logs of JIT-compiled code that were used.
  std::map<LogKey, int> logs() const { return symbolizer_.logs(); }

 private:
  pi::Status use_symbols();
  pi::Status read_tables();
  pi::Result<Sink*> open(const Report& report);
  pi::Status read_records(const Subscriptions& subscriptions, const std::function<bool()>& stop);
  pi::Status commit(const Report& report);

  TraceRun& run_;
  const Options& options_;
  A2nSymbolizer symbolizer_;
  std::vector<HtmlTable> tables_;  // that the HTML page also shows
  StringTable names_;
  Processes processes_;
  TickCounter ticks_;
  std::unique_ptr<NameFilter> filter_;                          // none: nothing is selected by name
  std::map<const Report*, std::unique_ptr<OutputFile>> files_;  // that are being written
  ReportSubscribers subscribers_;
};

}  // namespace post

#endif  // POST_ANALYSIS_H
