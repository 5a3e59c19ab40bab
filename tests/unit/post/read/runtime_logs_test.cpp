// SPDX-License-Identifier: MIT
// Names of runtimes' logs, and JProf's log of thread names.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "read/runtime_logs.h"
#include "thread_log.h"

namespace {

using namespace post;
using testing::ElementsAre;

TEST(RuntimeLogs, AreNextToTheTraceUnlessADirectoryIsGiven) {
  EXPECT_EQ(log_prefix("", "swtrace.nrm2"), "log");
  EXPECT_EQ(log_prefix("", "/runs/one/swtrace.nrm2"), "/runs/one/log");
  EXPECT_EQ(log_prefix("java", "runs/swtrace.nrm2"), "runs/java");
  EXPECT_EQ(log_prefix("logs/java", "/runs/swtrace.nrm2"), "logs/java");
}

TEST(RuntimeLogs, AreNamedByTheIdInThePidNamespace) {
  EXPECT_THAT(jprof_logs("log", "jita2n", {100, 0, 0}), ElementsAre("log-jita2n_100"));
  EXPECT_THAT(jprof_logs("log", "jita2n", {100, 7, 1}),
              ElementsAre("log-jita2n_7", "log-jita2n_100"));
  EXPECT_THAT(perf_maps({100, 0, 0}),
              ElementsAre("/proc/100/root/tmp/perf-100.map", "/tmp/perf-100.map"));
  // The same path outside of the namespace would belong to another process.
  EXPECT_THAT(perf_maps({100, 7, 1}), ElementsAre("/proc/100/root/tmp/perf-7.map"));
  EXPECT_THAT(jit_dumps("/tmp/jit-7.dump", {100, 7, 1}),
              ElementsAre("/proc/100/root/tmp/jit-7.dump"));
}

TEST(RuntimeLogs, JitdumpFilesAreRecognisedByName) {
  for (const char* name : {"/tmp/jit-1.dump", "jit-4711.dump"}) EXPECT_TRUE(is_jit_dump(name));
  for (const char* name : {"/tmp/jit-.dump", "/tmp/jit-1.dump2", "/tmp/my-jit-1.dump",
                           "jit-1a.dump", "/jit-1.dump/x", ""})
    EXPECT_FALSE(is_jit_dump(name)) << name;
}

TEST(RuntimeLogs, DirectoriesAreReadOnce) {
  const std::string directory = testing::TempDir() + "runtime_logs_test";
  std::filesystem::remove_all(directory);  // of a run that was killed
  std::filesystem::create_directory(directory);
  std::ofstream(directory + "/log-jtnm_1");
  DirectoryNames names;
  EXPECT_TRUE(names.may_have(directory + "/log-jtnm_1"));
  EXPECT_FALSE(names.may_have(directory + "/log-jtnm_2"));
  std::ofstream(directory + "/log-jtnm_2");
  EXPECT_FALSE(names.may_have(directory + "/log-jtnm_2")) << "it was read before";
  EXPECT_FALSE(names.may_have(directory + "/none/log-jtnm_1"));
  EXPECT_FALSE(names.may_have(directory + "/log-jtnm_1/x"));
  // An absolute path, and one in the current directory.
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(directory);
  EXPECT_TRUE(names.may_have("log-jtnm_1"));
  EXPECT_FALSE(names.may_have("log-jtnm_3"));
  std::filesystem::current_path(before);
  std::filesystem::remove_all(directory);
}

TEST(RuntimeLogs, OnlyTheProcessesOwnDirectoryInProcIsSearched) {
  DirectoryNames names;
  EXPECT_TRUE(names.may_have(fmt::format("/proc/{}/root/tmp/none", ::getpid())));
  EXPECT_FALSE(names.may_have("/proc/4194305/root/tmp/none"));
}

TEST(RuntimeLogs, AreNamedInArchivesByKindAndProcess) {
  EXPECT_EQ(archived_name({LogKind::code, 4711}), "logs/jita2n_4711");
  for (const LogKind kind : {LogKind::code, LogKind::threads, LogKind::dump, LogKind::map})
    EXPECT_EQ(log_of_name(archived_name({kind, 7})), (LogKey{kind, 7}));
  for (const char* name : {"logs/", "logs/jita2n", "logs/jita2n_", "logs/jita2n_x", "logs/a_1",
                           "jita2n_1", "logs/jita2n_4294967296", "logs/../jita2n_1"})
    EXPECT_FALSE(log_of_name(name)) << name;
}

TEST(ThreadLog, ReturnsThreadNamesWithTheirStartTimes) {
  const auto starts = pi::parse_thread_log(
      " JTnm\n# head version=1 pid=5\n"
      "TNM: 0000000000000200 1a Reference_Handler START\n"
      "TNM: 0000000000000100 19 main START\n"
      "TNM: 0000000000000300 19 main END\n"
      "TNM: 0000000000000300 1b START START\n"
      "TNM: 0000000000000300 1b cut STA");
  ASSERT_EQ(starts.size(), 3u);
  EXPECT_EQ(starts[0].time, 0x100u);
  EXPECT_EQ(starts[0].tid, 0x19u);
  EXPECT_EQ(starts[0].name, "main");
  EXPECT_EQ(starts[1].name, "Reference_Handler");
  EXPECT_EQ(starts[2].name, "START");
}

TEST(ThreadLog, ThreadsHaveTheVirtualThreadThatTheyCarryInTheirName) {
  constexpr const char* text =
      "TNM: 0000000000000100 19 worker-1 START\n"
      "# unmount 0000000000000400 19\n"
      "# mount 0000000000000200 19 #21\n"
      "# mount 0000000000000300 1a #22\n"
      "# mount 0000000000000500 19 #23,a_b\n";
  const auto starts = pi::parse_thread_log(text);
  ASSERT_EQ(starts.size(), 4u);
  EXPECT_EQ(starts[0].name, "worker-1");
  EXPECT_EQ(starts[1].name, "worker-1/#21");
  EXPECT_EQ(starts[1].time, 0x200u);
  EXPECT_EQ(starts[2].name, "worker-1");
  EXPECT_EQ(starts[2].time, 0x400u);
  EXPECT_EQ(starts[3].name, "worker-1/#23,a_b");
  EXPECT_EQ(pi::parse_thread_log(text, pi::VirtualThreads::ignored).size(), 1u);
}

TEST(ThreadLog, ALongNameOfACarrierIsCut) {
  const auto starts = pi::parse_thread_log("TNM: 1 19 " + std::string(16000, 'x') +
                                           " START\n# mount 2 19 #21\n# unmount 3 19\n");
  ASSERT_EQ(starts.size(), 3u);
  EXPECT_EQ(starts[1].name, std::string(64, 'x') + "/#21");
  EXPECT_EQ(starts[2].name, std::string(64, 'x'));
}

TEST(ThreadLog, SkipsInvalidLines) {
  for (const char* text : {"TNM: x 19 main START\n", "TNM: 1 x main START\n", "TNM: 1 19 START\n",
                           "TNM: 1 19  START\n", "TNM: START\n", "TNM:  START\n", "\n",
                           "TNM: 1 100000000 main START\n", "TNM: 1\n", "# mount 1 19 #2\n",
                           "# mount\n", "# unmount 1 19\n", "# head x\n"})
    EXPECT_TRUE(pi::parse_thread_log(text).empty()) << text;
  for (const char* line :
       {"# mount x 19 #2\n", "# mount 2 19\n", "# mount 2 19 \n", "# mount 2 x #2\n",
        "# unmount 2\n", "# unmount 2 19 #2\n", "# mountain 2 19 #2\n", "# mount 2 19 #2"})
    EXPECT_EQ(pi::parse_thread_log("TNM: 1 19 main START\n" + std::string(line)).size(), 1u)
        << line;
}

}  // namespace
