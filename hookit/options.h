// SPDX-License-Identifier: MIT
// hookit's settings: the environment into values.
#ifndef PI_HOOKIT_OPTIONS_H
#define PI_HOOKIT_OPTIONS_H

#include <string>
#include <string_view>
#include <vector>

#include "call_metrics.h"

namespace pi::hookit {

struct Options {
  bool events = false;           // CALLTRACE: log-gen instead of log-rt
  bool metrics_may_fail = true;  // not chosen by name: what cannot be measured is left out
  jprof::MetricOptions metrics;
  bool start = true;
  bool pid_in_names = true;
  bool types = true;
  bool legend = true;
  bool calibrate = true;
  bool json = false;
  bool folded = false;
  bool verbose = false;
  std::vector<std::string> threads;  // names, with '*' at the end; empty: all
  std::string log_path = ".";
  std::string log_prefix = "log";
  std::string log_suffix;
  std::string minima_file;       // observed ones to load
  std::string save_minima_file;  // observed ones to store
  std::string environment_file;  // environmental ones
};

struct ParsedOptions {
  Options options;
  std::vector<std::string> errors;  // one sentence for each error
};

// text: that of JPROFOPTS, options separated by commas; later ones override earlier ones.
ParsedOptions parse_options(std::string_view text);

// Does a list of THREADS= contain the name? An item with '*' at its end contains all names that
// begin so; '-' before an item excludes what it contains; the last item that fits decides. A list
// that only excludes contains all others.
bool selects(const std::vector<std::string>& list, std::string_view name);

}  // namespace pi::hookit

#endif  // PI_HOOKIT_OPTIONS_H
