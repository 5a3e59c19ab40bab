// SPDX-License-Identifier: MIT
// swtrace check: whether this kernel loads modules without a valid signature.
#include "check.h"
#include "sysfile.h"

namespace pi::swtrace {
namespace {

constexpr char sign_remedy[] =
    "sign pitrace.ko with your own key and enrol the key: sudo mokutil --import KEY.der";

// "none [integrity] confidentiality": the word in brackets.
std::string chosen_word(const std::string& line) {
  const size_t open = line.find('['), close = line.find(']');
  return open == std::string::npos || close == std::string::npos || close < open
             ? ""
             : line.substr(open + 1, close - open - 1);
}

bool secure_boot(const CheckPaths& paths) {
  // Four bytes of attributes, then the value.
  const std::string variable = read_all(
      paths.root + "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c");
  return variable.size() == 5 && variable[4] == 1;
}

}  // namespace

void check_signing(const CheckPaths& paths, CheckReport& report) {
  const std::string lockdown = chosen_word(read_line(paths.root + "/sys/kernel/security/lockdown"));
  const bool locked = !lockdown.empty() && lockdown != "none";
  const bool enforced = read_line(paths.root + "/sys/module/module/parameters/sig_enforce") == "Y";
  if (secure_boot(paths))
    report.note("secureboot",
                "Secure Boot is on: the kernel may refuse modules without a valid signature",
                report.driver_works ? "" : sign_remedy);
  else
    report.ok("secureboot", "Secure Boot is off or absent");
  if (!locked && !enforced) {
    report.ok("signature", "the kernel does not require signed modules");
  } else if (report.driver_works) {
    report.ok("signature", "the kernel requires signed modules; it accepted pitrace");
  } else {
    report.fail("signature", "driver",
                locked
                    ? "the kernel is locked down (" + lockdown + ") and loads only signed modules"
                    : "the kernel loads only signed modules (module.sig_enforce)",
                sign_remedy);
  }
}

}  // namespace pi::swtrace
