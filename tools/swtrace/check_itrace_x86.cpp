// SPDX-License-Identifier: MIT
// swtrace check: does the processor enter and leave the kernel in a way that the module's ITrace
// knows?
#include <sys/utsname.h>

#include "check.h"
#include "sysfile.h"

namespace pi::swtrace {
namespace {

bool has_word(const std::string& text, const std::string& word) {
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    const bool starts = at == 0 || text[at - 1] == ' ' || text[at - 1] == '\t';
    if (starts && (end == text.size() || text[end] == ' ' || text[end] == '\n')) return true;
  }
  return false;
}

// The features that the kernel shows for the first processor: "" when that cannot be read.
std::string processor_flags(const CheckPaths& paths) {
  const std::string text = read_all(paths.root + "/proc/cpuinfo");
  const size_t begin = text.find("\nflags");
  if (begin == std::string::npos) return "";
  const size_t colon = text.find(':', begin + 1);
  return colon == std::string::npos ? "" : text.substr(colon + 1, text.find('\n', colon) - colon);
}

// A kernel that is built without FRED may list the processor's feature and not use it.
bool kernel_lacks_fred(const CheckPaths& paths) {
  utsname name{};
  ::uname(&name);
  for (const std::string& file : {"/boot/config-" + std::string(name.release),
                                  "/lib/modules/" + std::string(name.release) + "/config"}) {
    const std::string config = read_all(paths.root + file);
    if (!config.empty()) return config.find("\nCONFIG_X86_FRED=y\n") == std::string::npos;
  }
  return false;
}

}  // namespace

void check_itrace(const CheckPaths& paths, CheckReport& report) {
  const std::string flags = processor_flags(paths);
  if (flags.empty())
    report.note("itrace",
                "/proc/cpuinfo does not list the processor's features: whether the module's "
                "ITrace works is not known");
  else if (has_word(flags, "fred") && !kernel_lacks_fred(paths))
    report.note("itrace",
                "the processor enters and leaves the kernel by FRED: the module refuses ITrace, of "
                "kernel and of user code",
                "boot with fred=off, or trace user code by ptrace: run.itrace --source=perf");
  else
    report.ok("itrace", "the processor enters and leaves the kernel in a way that ITrace knows");
}

}  // namespace pi::swtrace
