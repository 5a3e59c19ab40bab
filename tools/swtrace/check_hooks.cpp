// SPDX-License-Identifier: MIT
// swtrace check: are kprobes and ftrace, which the module hooks into, switched on?
#include "check.h"
#include "sysfile.h"

namespace pi::swtrace {

void check_hooks(const CheckPaths& paths, CheckReport& report) {
  const std::string kprobes = read_line(paths.root + "/sys/kernel/debug/kprobes/enabled");
  if (kprobes == "1")
    report.ok("kprobes", "kprobes are switched on");
  else if (kprobes == "0")
    report.fail("kprobes", "driver",
                "kprobes are switched off: code that is mapped during a trace has no names",
                "echo 1 | sudo tee /sys/kernel/debug/kprobes/enabled");
  else
    report.note("kprobes",
                "the state of kprobes is not readable (debugfs is not mounted or not permitted, or "
                "the kernel has no kprobes)",
                "sudo mount -t debugfs none /sys/kernel/debug   (only the module needs them)");
  const std::string ftrace = read_line(paths.root + "/proc/sys/kernel/ftrace_enabled");
  if (ftrace == "1")
    report.ok("ftrace", "ftrace is switched on");
  else if (ftrace == "0")
    report.fail("ftrace", "driver", "ftrace is switched off, and also the kprobes that use it",
                "sudo sysctl kernel.ftrace_enabled=1");
  else
    report.note("ftrace", "this kernel has no ftrace (only the module uses it)");
}

}  // namespace pi::swtrace
