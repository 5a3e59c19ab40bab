// SPDX-License-Identifier: MIT
// An entry of the table of reports (reports.h).
#ifndef POST_REPORT_H
#define POST_REPORT_H

#include <sys/types.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "options/options.h"
#include "read/byte_source.h"
#include "read/nrm2_reader.h"
#include "read/subscriber.h"
#include "state/name_filter.h"
#include "state/processes.h"
#include "state/resolver.h"
#include "state/symbolizer.h"
#include "summary.h"
#include "text/damage_log.h"
#include "text/sink.h"
#include "text/string_table.h"

namespace post {

// The objects that the subscribers of reports use. They outlive the subscribers.
struct ReportContext {
  const Options& options;
  ByteSource& source;
  const TraceFile& file;
  DamageLog& damage;
  Processes& processes;
  Symbolizer& symbolizer;
  StringTable& names;
  size_t max_cache_entries = SIZE_MAX;  // limits every cache of addresses; tests make them small
  NameFilter* filter = nullptr;         // none: nothing is selected by name

  Resolver::Options frames() const {
    return {options.symbols.module_width, options.symbols.inlined};
  }
  size_t cache_entries(size_t usual) const { return std::min(usual, max_cache_entries); }
};

// Makes the subscriber that counts what a report shows. sink: the report's file, when the report is
// streamed, otherwise nullptr.
using MakeSubscriber = std::unique_ptr<Subscriber> (*)(const ReportContext& context, Sink* sink);

// Data that a report needs and a trace does not contain: a sentence that follows "TRACE ", and the
// remedy, "" if it is a matter of the selection.
struct Lack {
  std::string what;
  std::string hint;
};

// What programs that show a file can read.
struct ViewerLimit {
  uint64_t bytes = 0;  // 0: no limit is known
  const char* viewer = "";
  const char* remedy = "";
};

struct Report {
  // The options that ask for the report, as post --help names them; "": written by default.
  const char* options;
  // The file's name; "": an option names the file, see named; nullptr: main prints it, see
  // report_annotate.h.
  const char* file;
  bool (*wanted)(const Options& options);

  // What the report needs besides the ticks, which are always counted. Reports with the same
  // function share one subscriber.
  MakeSubscriber make = nullptr;
  // The subscriber writes the file while the trace is read. Otherwise the file is created later.
  bool streamed = false;
  // The file is in a folder of its own below the output directory, which is made.
  bool in_folder = false;
  // Not written when the trace has no ticks.
  bool of_ticks = false;
  // If a requested report lacks data, post fails.
  std::optional<Lack> (*lack)(const Summary& summary) = nullptr;
  // Writes the report after the trace was read; of a streamed one, the parts that were not known
  // before. False when writing failed.
  bool (*write)(const Summary& summary, Sink& sink) = nullptr;
  mode_t mode = 0644;  // reduced by the umask
  // What else the report needs, like make.
  std::array<MakeSubscriber, 2> make_more = {};
  std::optional<std::string> Options::*named = nullptr;  // the option with the file's name
  // If the file is larger, post warns.
  ViewerLimit viewer_limit = {};
  // Of a compressed file: bytes of the text that a viewer unpacks, to which the limit applies.
  uint64_t (*text_bytes)(const Summary& summary) = nullptr;

  std::string path(const Options& given) const;
  // "" if its viewers can read that many bytes.
  std::string viewer_warning(const std::string& path, uint64_t bytes) const;
};

}  // namespace post

#endif  // POST_REPORT_H
