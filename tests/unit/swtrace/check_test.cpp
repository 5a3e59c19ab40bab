// SPDX-License-Identifier: MIT
// swtrace check on made-up systems: each finding, its remedy, the verdict.
#include "check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/utsname.h>

#include <nlohmann/json.hpp>

#include <pi/module_advice.h>

#include "temp_dir.h"

namespace pi::swtrace {
namespace {

using ::testing::HasSubstr;

struct Check : ::testing::Test {
  test::TempDir root;
  CheckReport report;
  CheckPaths paths{root.path()};

  static std::string release() {
    utsname name{};
    ::uname(&name);
    return name.release;
  }
  const Finding& only() {
    EXPECT_EQ(report.findings.size(), 1u);
    return report.findings.front();
  }
  const Finding& finding(const std::string& topic) {
    for (const auto& each : report.findings)
      if (each.topic == topic) return each;
    ADD_FAILURE() << topic;
    return report.findings.front();
  }
};

TEST_F(Check, AKernelWithoutModulesCannotHaveTheDriver) {
  check_module(paths, report);
  EXPECT_EQ(only().verdict, Verdict::fail);
  EXPECT_EQ(only().affects, "driver");
  EXPECT_THAT(only().text, HasSubstr("CONFIG_MODULES"));
}

TEST_F(Check, ModulesSwitchedOffNeedAReboot) {
  root.write("proc/modules", "");
  root.write("proc/sys/kernel/modules_disabled", "1\n");
  check_module(paths, report);
  EXPECT_THAT(only().remedy, HasSubstr("reboot"));
}

TEST_F(Check, AnInstalledModuleIsLoadedWithModprobe) {
  root.write("proc/modules", "");
  root.write("lib/modules/" + release() + "/modules.dep",
             "kernel/a.ko:\nupdates/dkms/pitrace.ko.xz: kernel/b.ko\n");
  check_module(paths, report);
  EXPECT_EQ(only().remedy, "sudo modprobe pitrace");
  EXPECT_THAT(only().text, HasSubstr("updates/dkms/pitrace.ko.xz"));
}

TEST_F(Check, AModuleWithASimilarNameIsIgnored) {
  root.write("proc/modules", "");
  root.write("lib/modules/" + release() + "/modules.dep", "kernel/notpitrace.ko:\n");
  check_module(paths, report);
  EXPECT_THAT(only().remedy, HasSubstr("linux-headers-" + release()));
}

TEST_F(Check, WithHeadersTheModuleCanBeBuilt) {
  root.write("proc/modules", "");
  root.write("lib/modules/" + release() + "/build/Makefile", "");
  check_module(paths, report);
  // This program is two folders below the source tree, except in the presets' folders, build/asan.
  EXPECT_THAT(only().remedy,
              HasSubstr(pi::in_source_tree() ? "scripts/build-module" : "pitrace-dkms"));
}

TEST_F(Check, SecureBootAndLockdownAreFound) {
  using namespace std::string_literals;
  root.write("sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c",
             "\x06\0\0\0\x01"s);
  root.write("sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
  check_signing(paths, report);
  EXPECT_EQ(finding("secureboot").verdict, Verdict::note);
  EXPECT_EQ(finding("signature").verdict, Verdict::fail);
  EXPECT_THAT(finding("signature").text, HasSubstr("integrity"));
  EXPECT_THAT(finding("signature").remedy, HasSubstr("mokutil"));
}

TEST_F(Check, ALoadedModuleHasPassedTheSignatureCheck) {
  root.write("sys/module/module/parameters/sig_enforce", "Y\n");
  report.driver_works = true;
  check_signing(paths, report);
  EXPECT_EQ(finding("signature").verdict, Verdict::ok);
}

TEST_F(Check, WithoutLockdownAndEnforcementNoSignatureIsNeeded) {
  root.write("sys/kernel/security/lockdown", "[none] integrity confidentiality\n");
  root.write("sys/module/module/parameters/sig_enforce", "N\n");
  check_signing(paths, report);
  EXPECT_EQ(finding("signature").verdict, Verdict::ok);
  EXPECT_EQ(finding("secureboot").verdict, Verdict::ok);
}

TEST_F(Check, DisabledHooksAreReportedWithARemedy) {
  root.write("sys/kernel/debug/kprobes/enabled", "0\n");
  root.write("proc/sys/kernel/ftrace_enabled", "0\n");
  check_hooks(paths, report);
  EXPECT_EQ(finding("kprobes").verdict, Verdict::fail);
  EXPECT_THAT(finding("kprobes").remedy, HasSubstr("kprobes/enabled"));
  EXPECT_EQ(finding("ftrace").verdict, Verdict::fail);
  EXPECT_THAT(finding("ftrace").remedy, HasSubstr("kernel.ftrace_enabled=1"));
}

TEST_F(Check, FredIsNamedAsTheReasonWhyTheModuleRefusesITrace) {
  root.write("proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu fred lkgs\nbugs\t\t: none\n");
  check_itrace(paths, report);
  EXPECT_EQ(only().verdict, Verdict::note);
  EXPECT_THAT(only().text, HasSubstr("FRED"));
  EXPECT_THAT(only().remedy, HasSubstr("fred=off"));
}

TEST_F(Check, FredAtTheEndOfTheFeaturesIsFound) {
  root.write("proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu fred\n");
  check_itrace(paths, report);
  EXPECT_EQ(only().verdict, Verdict::note);
}

TEST_F(Check, AKernelBuiltWithoutFredDoesNotUseIt) {
  root.write("proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu fred lkgs\n");
  root.write("boot/config-" + release(), "CONFIG_X86=y\n# CONFIG_X86_FRED is not set\n");
  check_itrace(paths, report);
  EXPECT_EQ(only().verdict, Verdict::ok);
}

TEST_F(Check, AKernelBuiltWithFredUsesIt) {
  root.write("proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu fred lkgs\n");
  root.write("lib/modules/" + release() + "/config", "CONFIG_X86=y\nCONFIG_X86_FRED=y\n");
  check_itrace(paths, report);
  EXPECT_EQ(only().verdict, Verdict::note);
}

TEST_F(Check, AFeatureWhoseNameContainsFredIsAnother) {
  root.write("proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu fredx alfred\n");
  check_itrace(paths, report);
  EXPECT_EQ(only().verdict, Verdict::ok);
}

TEST_F(Check, HiddenSymbolsAreReportedWithTheSettingsThatHideThem) {
  const std::pair<const char*, const char*> cases[] = {
      {"1", "sudo sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=-1   (or run as root)"},
      {"0", "sudo sysctl kernel.perf_event_paranoid=-1   (or run as root)"},
  };
  root.write("proc/kallsyms", "0000000000000000 T _text\n");
  root.write("proc/sys/kernel/perf_event_paranoid", "2\n");
  for (const auto& [restricted, remedy] : cases) {
    root.write("proc/sys/kernel/kptr_restrict", std::string(restricted) + "\n");
    report = {};
    check_symbols(paths, report);
    EXPECT_EQ(only().verdict, Verdict::note);
    EXPECT_EQ(only().remedy, remedy);
  }
}

TEST_F(Check, VisibleSymbolsAreFoundAfterSymbolsAtZero) {
  root.write("proc/kallsyms", "0000000000000000 A zero\nffffffff81000000 T _text\n");
  check_symbols(paths, report);
  EXPECT_EQ(only().verdict, Verdict::ok);
}

TEST_F(Check, TheVerdictFollowsTheBestSourceThatWorks) {
  EXPECT_THAT(verdict_text(report), HasSubstr("Neither"));
  report.perf_process_works = true;
  EXPECT_THAT(verdict_text(report), HasSubstr("its children only"));
  report.perf_system_works = true;
  EXPECT_THAT(verdict_text(report), HasSubstr("whole system"));
  report.driver_works = true;
  EXPECT_THAT(verdict_text(report), HasSubstr("driver"));
}

TEST_F(Check, TextAndJsonContainTheSameFindings) {
  report.ok("one", "fine");
  report.fail("two", "driver", "broken", "fix it");
  report.note("three", "by the way");
  EXPECT_EQ(report_text(report),
            "ok   one           fine\n"
            "FAIL two           broken [prevents: driver]\n"
            "                   -> fix it\n"
            "note three         by the way\n"
            "\n"
            "Neither source works here: fix one of the FAIL lines above.\n");
  const auto json = nlohmann::json::parse(report_json(report));
  EXPECT_EQ(json["checks"].size(), 3u);
  EXPECT_EQ(json["checks"][1]["remedy"], "fix it");
  EXPECT_EQ(json["checks"][1]["prevents"], "driver");
  EXPECT_EQ(json["driver_works"], false);
}

}  // namespace
}  // namespace pi::swtrace
