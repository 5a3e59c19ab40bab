// SPDX-License-Identifier: MIT
// The checks of 'swtrace check' and their findings.
#ifndef PI_SWTRACE_CHECK_H
#define PI_SWTRACE_CHECK_H

#include <string>
#include <vector>

namespace pi::swtrace {

enum class Verdict { ok, fail, note };

struct Finding {
  std::string topic;  // one word
  Verdict verdict;
  std::string affects;  // the source that fails: "driver", "perf"
  std::string text;
  std::string remedy;  // a command or another step; empty if none is needed or possible
};

// The root of the files that checks read; tests use another root.
struct CheckPaths {
  std::string root;  // put before /proc, /sys, /dev, /lib
};

struct CheckReport {
  std::vector<Finding> findings;
  bool driver_works = false;
  bool perf_system_works = false;
  bool perf_process_works = false;

  void ok(std::string topic, std::string text);
  void note(std::string topic, std::string text, std::string remedy = "");
  void fail(std::string topic, std::string affects, std::string text, std::string remedy);
};

// Each adds its findings. The module and its device:
void check_module(const CheckPaths& paths, CheckReport& report);
// Secure Boot, signatures, lockdown:
void check_signing(const CheckPaths& paths, CheckReport& report);
// kprobes and ftrace, which the module hooks into:
void check_hooks(const CheckPaths& paths, CheckReport& report);
// The way into the kernel, which the module's ITrace must know:
void check_itrace(const CheckPaths& paths, CheckReport& report);
// Capabilities, perf_event_paranoid, memory limit, perf_event_open itself:
void check_perf(const CheckPaths& paths, CheckReport& report);
// Whether kernel addresses are shown:
void check_symbols(const CheckPaths& paths, CheckReport& report);

CheckReport check_everything(const CheckPaths& paths);

// Which source run.tprof will use, in one sentence.
std::string verdict_text(const CheckReport& report);
std::string report_text(const CheckReport& report);
std::string report_json(const CheckReport& report);

}  // namespace pi::swtrace

#endif  // PI_SWTRACE_CHECK_H
