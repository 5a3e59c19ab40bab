// SPDX-License-Identifier: MIT
// Labels of processes and threads in reports.
#include <gtest/gtest.h>

#include "text/labels.h"

namespace {

using post::process_label;
using post::thread_label;

TEST(Labels, IdsHaveAtLeastFourHexDigits) {
  EXPECT_EQ(process_label(0x57c, "WatchedPot", 0, {}), "WatchedPot_057c");
  EXPECT_EQ(process_label(0x103c, "java", 0, {}), "java_103c");
  EXPECT_EQ(process_label(0x3fffff, "java", 0, {}), "java_3fffff");
}

TEST(Labels, ProcessesWithoutANameShowTheirId) {
  EXPECT_EQ(process_label(0x2a, "", 0, {}), "pid_002a");
  EXPECT_EQ(process_label(0x2a, "", 0, {.process_names_only = true}), "pid_002a");
}

TEST(Labels, IdleAndExitedHaveTheirOwnNames) {
  EXPECT_EQ(process_label(0, "swapper", 0, {}), "SystemProcess_0000");
  EXPECT_EQ(process_label(0xffffffff, "", 0, {}), "ExitedProcess_ffffffff");
  EXPECT_EQ(process_label(0, "", 7, {.process_names_only = true, .per_cpu = true}),
            "SystemProcess_7");
}

TEST(Labels, TheCpuIsAppendedLast) {
  EXPECT_EQ(process_label(0x103c, "java", 12, {.per_cpu = true}), "java_103c_12");
  EXPECT_EQ(process_label(0x103c, "java", 6, {.process_names_only = true, .per_cpu = true}),
            "java_6");
}

TEST(Labels, ThreadsShowNameAndId) {
  EXPECT_EQ(thread_label(0x1044, "main", {}), "tid_main_1044");
  EXPECT_EQ(thread_label(0x1044, "main", {.thread_names_only = true}), "tid_main");
  EXPECT_EQ(thread_label(0x2c5, "", {}), "tid_02c5");
  EXPECT_EQ(thread_label(0x2c5, "", {.thread_names_only = true}), "tid_02c5");
}

TEST(Labels, TheBaseNameIsRecoveredFromTheLabel) {
  for (const bool names_only : {false, true})
    for (const bool per_cpu : {false, true}) {
      const post::LabelOptions options{names_only, false, per_cpu};
      for (const char* name : {"java", "a_b", "x_12", "worker_0020", "_"})
        EXPECT_EQ(post::process_base_name(post::process_label(0x123456, name, 7, options), options),
                  name);
      EXPECT_EQ(post::process_base_name(post::process_label(0, "", 7, options), options),
                "SystemProcess");
      EXPECT_EQ(post::process_base_name(post::process_label(0x12, "", 7, options), options),
                "(no name)");
    }
}

TEST(Labels, TheNameOfAThreadIsRecoveredFromTheLabel) {
  for (const char* name : {"main", "a_b", "x_1044", "_"})
    EXPECT_EQ(post::thread_base_name(thread_label(0x1044, name, {}), 0x1044), name);
  EXPECT_EQ(post::thread_base_name(thread_label(0x1044, "", {}), 0x1044), "");
  EXPECT_EQ(post::thread_base_name("tid_main_1044", 0x1045), "");
}

}  // namespace
