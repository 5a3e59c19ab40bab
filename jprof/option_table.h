// SPDX-License-Identifier: MIT
// JProf's options, and those of Performance Inspector that it refuses.
#ifndef PI_JPROF_OPTION_TABLE_H
#define PI_JPROF_OPTION_TABLE_H

#include <span>
#include <string_view>

namespace pi::jprof {

enum class Word {
  tprof,
  jita2n,
  thread_info,
  virtual_threads,
  call_tree,
  call_flow,
  call_trace,
  locks,
  locks_lite,
  sampling,
  sampling_rate,
  sampling_frames,
  sampling_walk,
  sampling_native,
  heap_dump,
  metrics,
  no_metrics,
  all_metrics,
  object_info,
  live_objects,
  events,
  calibrate,
  minima,
  save_minima,
  environmental_minima,
  start,
  server,
  port,
  log_commands,
  method_types,
  legend,
  json,
  folded,
  code_bytes,
  log_path,
  log_prefix,
  log_suffix,
  path_and_prefix,
  pid_in_names,
  config,
  verbose,
  verbose_to_log,
  detach,
  help,
  all_help,
  version,
};

enum class Takes {
  no_value,  // a switch, with NO- and ALL-forms
  value,     // WORD=VALUE
  command,   // a word alone
  switch_or_value,
};

struct OptionWord {
  Word word;
  std::string_view name;
  std::string_view alias;  // or empty
  Takes takes;
  std::string_view value;  // the value's name in help
  std::string_view help;
};

// An option of Performance Inspector that this version refuses. Its NO-form has no effect and is
// accepted.
struct RefusedWords {
  std::string_view names;  // separated by blanks
  std::string_view why;    // "WORD " + why
};

std::span<const OptionWord> option_words();
std::span<const RefusedWords> refused_words();

}  // namespace pi::jprof

#endif  // PI_JPROF_OPTION_TABLE_H
