// SPDX-License-Identifier: MIT
// swtrace check: does the kernel show this user its symbols' addresses?
#include <fstream>
#include <string>

#include <fmt/format.h>

#include "check.h"
#include "sysfile.h"

namespace pi::swtrace {
namespace {

enum class Symbols { missing, hidden, visible };

Symbols symbol_visibility(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  Symbols found = Symbols::missing;
  while (std::getline(file, line)) {
    found = Symbols::hidden;
    // Some symbols are at address 0 even where addresses are shown.
    if (line.substr(0, line.find(' ')).find_first_not_of('0') != std::string::npos)
      return Symbols::visible;
  }
  return found;
}

// The kernel shows addresses to all only where both settings permit it; -1 is what perf needs.
const char* remedy(const std::string& restricted) {
  if (restricted == "0") return "sudo sysctl kernel.perf_event_paranoid=-1   (or run as root)";
  return "sudo sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=-1   (or run as root)";
}

}  // namespace

void check_symbols(const CheckPaths& paths, CheckReport& report) {
  const std::string restricted = read_line(paths.root + "/proc/sys/kernel/kptr_restrict");
  switch (symbol_visibility(paths.root + "/proc/kallsyms")) {
    case Symbols::visible:
      report.ok("symbols", fmt::format("kernel symbols are readable (kernel.kptr_restrict is {})",
                                       restricted));
      break;
    case Symbols::hidden: {
      const std::string paranoid = read_line(paths.root + "/proc/sys/kernel/perf_event_paranoid");
      report.note("symbols",
                  fmt::format("kernel addresses are hidden (kernel.kptr_restrict is {}, "
                              "kernel.perf_event_paranoid is {}): reports have no names of kernel "
                              "functions",
                              restricted, paranoid),
                  remedy(restricted));
      break;
    }
    case Symbols::missing:
      report.note("symbols",
                  "this kernel has no symbol list (no /proc/kallsyms): reports have no names of "
                  "kernel functions",
                  "boot a kernel with CONFIG_KALLSYMS");
      break;
  }
}

}  // namespace pi::swtrace
