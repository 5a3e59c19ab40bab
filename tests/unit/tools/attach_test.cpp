// SPDX-License-Identifier: MIT
// pitrace-attach: parsing of /proc, of a JVM's reply and of a log's head.
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "attach_protocol.h"
#include "log_store.h"
#include "target.h"

namespace pi::attach {
namespace {

using testing::Eq;
using testing::HasSubstr;
using testing::Optional;

std::string status_text(const std::string& uid, const std::string& nspid,
                        const std::string& caught) {
  return "Name:\tjava\\nUid:\t0\t0\t0\t0\nState:\tS (sleeping)\nPid:\t4711\nUid:\t" + uid +
         "\nGid:\t7\t7\t7\t7\nGroups:\t1 2 3 \nNSpid:\t" + nspid + "\nSigCgt:\t" + caught + "\n";
}

TEST(AttachStatus, HasUserNamespacePidAndHandlers) {
  const auto status = parse_status(status_text("5\t5\t5\t5", "4711\t12\t1", "2000000181005ccf"));
  ASSERT_TRUE(status);
  EXPECT_EQ(status->uid, 5u);
  EXPECT_EQ(status->gid, 7u);
  EXPECT_TRUE(status->one_user);
  EXPECT_EQ(status->inner_pid, 1);
  EXPECT_TRUE(status->in_namespace);
  EXPECT_TRUE(status->catches_quit);
  EXPECT_FALSE(status->stopped);
}

TEST(AttachStatus, DetectsSetuidProgramsAndMissingHandlers) {
  const auto status = parse_status(status_text("5\t0\t0\t0", "4711", "0000000000000003"));
  ASSERT_TRUE(status);
  EXPECT_FALSE(status->one_user);
  EXPECT_FALSE(status->in_namespace);
  EXPECT_EQ(status->inner_pid, 4711);
  EXPECT_FALSE(status->catches_quit);
}

TEST(AttachStatus, IncompleteTextIsRefused) {
  EXPECT_FALSE(parse_status(""));
  EXPECT_FALSE(parse_status(status_text("5\t5\t5", "4711", "0")));
  EXPECT_FALSE(parse_status(status_text("5\t5\t5\t5", "", "0")));
  EXPECT_FALSE(parse_status(status_text("5\t5\t5\t5", "4711", "x")));
}

TEST(AttachStatus, EachIdIsCompared) {
  const auto of = [](const std::string& uid) {
    return *parse_status(status_text(uid, "4711", "0"));
  };
  const ProcStatus before = of("5\t5\t5\t5");
  EXPECT_TRUE(has_same_ids(before, of("5\t5\t5\t5")));
  EXPECT_FALSE(has_same_ids(before, of("6\t6\t6\t6")));
  EXPECT_FALSE(has_same_ids(before, of("5\t6\t5\t5")));
  ProcStatus other_group = before;
  other_group.gid = 8;
  EXPECT_FALSE(has_same_ids(before, other_group));
}

// The child gives up root's rights when a byte arrives.
TEST(AttachTarget, AProcessThatChangesItsUserAfterItWasOpenedIsNoticed) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  int ask[2], answer[2];
  ASSERT_EQ(::pipe(ask), 0);
  ASSERT_EQ(::pipe(answer), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    char byte = 0;
    if (::read(ask[0], &byte, 1) != 1 || ::setuid(12345) != 0 || ::write(answer[1], &byte, 1) != 1)
      ::_exit(1);
    for (;;) ::pause();
  }
  const auto target = Target::open(child);
  ASSERT_TRUE(target) << target.error().message;
  const auto before = target->has_ids_of_status();
  EXPECT_TRUE(before) << before.error().message;
  char byte = 1;
  EXPECT_EQ(::write(ask[1], &byte, 1), 1);
  EXPECT_EQ(::read(answer[0], &byte, 1), 1);
  const auto changed = target->has_ids_of_status();
  ASSERT_FALSE(changed);
  EXPECT_THAT(changed.error().message, HasSubstr("changed its user or group"));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  const auto ended = target->has_ids_of_status();
  ASSERT_FALSE(ended);
  EXPECT_THAT(ended.error().message, HasSubstr("has ended"));
  for (const int fd : {ask[0], ask[1], answer[0], answer[1]}) ::close(fd);
}

TEST(AttachMaps, CodeIsAnExecutableMappingOfAFile) {
  const auto maps = [](const char* line) { return maps_code_of(line, "libjvm.so"); };
  EXPECT_TRUE(maps("7f0000000000-7f0000001000 r-xp 00000000 08:01 42    /usr/lib/libjvm.so"));
  EXPECT_TRUE(maps("7f0-7f1 r-xp 00000000 08:01 42    /a b/libjvm.so (deleted)"));
  EXPECT_FALSE(maps("7f0-7f1 r--p 00000000 08:01 42    /usr/lib/libjvm.so"));
  EXPECT_FALSE(maps("7f0-7f1 r-xp 00000000 08:01 42    /usr/lib/notlibjvm.so"));
  EXPECT_FALSE(maps("7f0-7f1 r-xp 00000000 00:00 0     [anon:libjvm.so]"));
  EXPECT_FALSE(maps(""));
}

TEST(AttachProtocol, RequestHasFiveWords) {
  EXPECT_EQ(load_request("/a", "b=c,d"), std::string("1\0load\0/a\0true\0b=c,d\0", 21));
}

TEST(AttachProtocol, RepliesContainTheCodesOfJvmAndAgent) {
  const auto reply = parse_reply("0\nreturn code: -1\n");
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->code, 0);
  EXPECT_THAT(reply->agent_code, Optional(-1));
  const auto jdk8 = parse_reply("0\n3\n");
  ASSERT_TRUE(jdk8);
  EXPECT_THAT(jdk8->agent_code, Optional(3));
  const auto failed = parse_reply("100\n/x.so was not loaded.\n");
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->code, 100);
  EXPECT_THAT(failed->agent_code, Eq(std::nullopt));
  EXPECT_EQ(failed->text, "/x.so was not loaded.\n");
  const std::string refusal =
      "Dynamic agent loading is not enabled. Use -XX:+EnableDynamicAgentLoading to launch target "
      "VM.";
  EXPECT_TRUE(refuses_agents(*parse_reply("-1\n" + refusal)));
  EXPECT_TRUE(refuses_agents(*parse_reply("0\n" + refusal + "\n")));
  EXPECT_FALSE(refuses_agents(*failed));
  EXPECT_FALSE(refuses_agents(*reply));
  EXPECT_FALSE(parse_reply(""));
  EXPECT_FALSE(parse_reply("0"));
  EXPECT_FALSE(parse_reply("\x1b[2J\n0\n"));
}

TEST(AttachProtocol, ControlCharactersAreEscaped) {
  EXPECT_EQ(escaped("a\nb\t\x1b[2J\x9b\n\n"), "a\nb\\x09\\x1b[2J\\x9b");
}

TEST(AttachLog, BelongsToTheProcessInItsFirstHead) {
  const LogOwner owner{4711, 12, 4026531836};
  const std::string title = " JitA2N\n Process_Number_ID=12\n";
  EXPECT_TRUE(is_log_of(title + "# head version=1 pid=12 pidns=4026531836 jvm=x\n", owner));
  for (const char* head :
       {"# head version=1 pid=13 pidns=4026531836\n", "# head version=1 pid=12 pidns=0\n",
        "# head version=1 pid=12 pidns=4026531836", "# head pid=12 pidns=4026531836 pid=13\n",
        "# head pid=12 pidns=4026531836 pidns=0\n", "# head pid=12 pidns=4026531836\tpid=13\n",
        "# head pid=123 pidns=4026531836\n", "# header pid=12 pidns=4026531836\n", ""})
    EXPECT_FALSE(is_log_of(title + head, owner)) << head;
  const std::string too_long(1000, 'x');
  EXPECT_FALSE(is_log_of("# head pid=12 pidns=4026531836 jvm=" + too_long + "\n", owner));
}

}  // namespace
}  // namespace pi::attach
