// SPDX-License-Identifier: MIT
// swtrace check: is the pitrace module loaded, or could it be; may this user open its device?
#include <fcntl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include <fmt/format.h>
#include <pi/unique_fd.h>
#include <pi/module_advice.h>

#include "check.h"
#include "perfutil.h"
#include "sysfile.h"

namespace pi::swtrace {
namespace {

namespace fs = std::filesystem;

std::string kernel_release() {
  utsname name{};
  ::uname(&name);
  return name.release;
}

bool exists(const std::string& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

// The installed module of this kernel, from depmod's list; "" when there is none.
std::string installed_module(const CheckPaths& paths) {
  const std::string folder = paths.root + "/lib/modules/" + kernel_release();
  const std::string list = read_all(folder + "/modules.dep");
  for (size_t at = list.find("pitrace.ko"); at != std::string::npos;
       at = list.find("pitrace.ko", at + 1)) {
    const size_t start = list.rfind('\n', at) + 1;  // npos + 1 is 0
    const size_t end = list.find(':', at);
    const std::string name = list.substr(start, end - start);
    if (name.ends_with("/pitrace.ko") || name.find("/pitrace.ko.") != std::string::npos)
      return folder + "/" + name;
  }
  return "";
}

// A module built in this source tree: build/kmod next to build/bin, which contains this program.
std::string built_module() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  const fs::path module =
      program.parent_path().parent_path() / "kmod" / kernel_release() / "pitrace.ko";
  return !error && fs::exists(module, error) ? module.string() : "";
}

void check_access(CheckReport& report) {
  const UniqueFd fd(::open("/dev/pitrace", O_RDWR | O_CLOEXEC));
  if (!fd) {
    report.fail("device", "driver",
                fmt::format("the pitrace module is loaded, but /dev/pitrace cannot be opened: {}",
                            std::generic_category().message(errno)),
                module_group_commands() + "   (then log in again)");
    return;
  }
  report.driver_works = true;
  const uint32_t version = GetDDVersionEx();
  report.ok(
      "device",
      fmt::format("the pitrace module is loaded and /dev/pitrace can be opened (version {}.{})",
                  version >> 24, version >> 16 & 255));
}

// Reports why the module is not loaded, and how to load it.
void check_loadable(const CheckPaths& paths, CheckReport& report) {
  const std::string release = kernel_release();
  if (!exists(paths.root + "/proc/modules")) {
    report.fail(
        "module", "driver",
        fmt::format("this kernel ({}) cannot load modules (built without CONFIG_MODULES)", release),
        "use perf (--source=perf), or boot a kernel that loads modules");
    return;
  }
  if (read_line(paths.root + "/proc/sys/kernel/modules_disabled") == "1") {
    report.fail("module", "driver",
                "loading modules was switched off (kernel.modules_disabled is 1)",
                "sudo reboot   (only a reboot switches it on again)");
    return;
  }
  if (const std::string path = installed_module(paths); !path.empty()) {
    report.fail("module", "driver",
                fmt::format("the pitrace module is installed ({}) but not loaded", path),
                "sudo modprobe pitrace");
    return;
  }
  if (const std::string path = built_module(); !path.empty()) {
    report.fail("module", "driver",
                fmt::format("the pitrace module is built ({}) but not loaded", path),
                fmt::format("sudo insmod {}", path));
    return;
  }
  if (exists(fmt::format("{}/lib/modules/{}/build/Makefile", paths.root, release))) {
    report.fail(
        "module", "driver", fmt::format("there is no pitrace module for this kernel ({})", release),
        in_source_tree()
            ? "scripts/build-module   (then: sudo insmod FILE, with the path that it prints)"
            : "install the package pitrace-dkms   (then: sudo modprobe pitrace)");
    return;
  }
  report.fail(
      "module", "driver",
      fmt::format("there is no pitrace module for this kernel ({}), and no kernel headers to "
                  "build it",
                  release),
      fmt::format("sudo apt-get install linux-headers-{}   (then: {})", release,
                  in_source_tree() ? "scripts/build-module" : "install the package pitrace-dkms"));
}

}  // namespace

void check_module(const CheckPaths& paths, CheckReport& report) {
  if (exists(paths.root + "/dev/pitrace"))
    check_access(report);
  else
    check_loadable(paths, report);
}

}  // namespace pi::swtrace
