// SPDX-License-Identifier: MIT
// The control group of a process, from /proc.
#include "proc/cgroup.h"

#include <gtest/gtest.h>
#include <pitrace/abi.h>
#include <unistd.h>

#include "temp_dir.h"

namespace pi::perfutil {
namespace {

std::string path_in(std::string_view text) {
  const auto cgroup = parse_cgroup(text);
  return cgroup ? std::to_string(cgroup->hierarchy) + " " + cgroup->path : "none";
}

TEST(Cgroup, IsThatOfTheUnifiedHierarchy) {
  EXPECT_EQ(path_in("0::/system.slice/ssh.service\n"), "2 /system.slice/ssh.service");
  EXPECT_EQ(path_in("0::/\n"), "2 /");
  EXPECT_EQ(path_in("0::/a:b/c d\n"), "2 /a:b/c d");
  // Of a process outside the reader's cgroup namespace.
  EXPECT_EQ(path_in("0::/../../x\n"), "2 /../../x");
}

TEST(Cgroup, IsThatOfSystemdsHierarchyWhereTheUnifiedOneIsNotUsed) {
  EXPECT_EQ(path_in("12:cpu,cpuacct:/x\n1:name=systemd:/init.scope\n0::/\n"), "1 /init.scope");
  EXPECT_EQ(path_in("1:name=systemd:/init.scope\n0::/init.scope\n"), "2 /init.scope");
  EXPECT_EQ(path_in("3:memory:/docker/4711\n2:cpu:/docker/4711\n"), "1 /docker/4711");
}

TEST(Cgroup, IsNothingInDamagedText) {
  for (const char* text : {"", "\n", "0:", "0::", "0::x", "x::/y", "::/", "0:/x"})
    EXPECT_EQ(path_in(text), "none") << text;
  EXPECT_EQ(path_in("0::/" + std::string(PITRACE_MAX_STRING, 'x')), "none");
  EXPECT_EQ(path_in("0::/" + std::string(PITRACE_MAX_STRING - 1, 'x')).size(),
            2u + PITRACE_MAX_STRING);
}

TEST(Cgroup, IsReadFromProc) {
  const test::TempDir proc;
  (void)proc.write("7/cgroup", "0::/x\n");
  ASSERT_TRUE(read_cgroup(proc.path(), 7));
  EXPECT_EQ(read_cgroup(proc.path(), 7)->path, "/x");
  EXPECT_FALSE(read_cgroup(proc.path(), 8));
  EXPECT_TRUE(read_cgroup("/proc", static_cast<uint32_t>(::getpid())));
}

}  // namespace
}  // namespace pi::perfutil
