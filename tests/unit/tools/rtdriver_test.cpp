// SPDX-License-Identifier: MIT
// rtdriver's command line and typed words, and its reader of answers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include <pi/jvm_commands.h>
#include <pi/unique_fd.h>
#include <pi/user_socket.h>

#include "connection.h"
#include "jvms.h"
#include "schedule.h"
#include "targets.h"
#include "words.h"

namespace pi::rtdriver {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(RtdriverSchedule, StepsKeepTheirOrderAndOtherWordsRemain) {
  const auto schedule =
      split_schedule({"-l", "-ta", "-c", "start", "-cx", "date", "3", "-c", "-x", "-np", "7"});
  ASSERT_TRUE(schedule);
  ASSERT_EQ(schedule->steps.size(), 3U);
  EXPECT_EQ(schedule->steps[0].command, "start");
  EXPECT_EQ(schedule->steps[0].seconds, 0U);
  EXPECT_FALSE(schedule->steps[0].local);
  EXPECT_EQ(schedule->steps[1].command, "date");
  EXPECT_EQ(schedule->steps[1].seconds, 3U);
  EXPECT_TRUE(schedule->steps[1].local);
  EXPECT_EQ(schedule->steps[2].command, "-x");
  EXPECT_THAT(schedule->others, ElementsAre("-l", "-ta", "-np", "7"));
}

TEST(RtdriverSchedule, WrongStepsAreRefused) {
  const std::vector<std::vector<std::string>> wrong = {{"-c"},
                                                       {"-cx"},
                                                       {"-c", ""},
                                                       {"-c", "1x"},
                                                       {"-c", "flush", "1x"},
                                                       {"-c", "flush", "86401"},
                                                       {"-c", "flush", "99999999999999"},
                                                       {"-c", "flush", "-ta"}};
  for (const auto& words : wrong) EXPECT_FALSE(split_schedule(words)) << words.back();
  std::vector<std::string> many;
  for (size_t i = 0; i < max_steps; ++i) many.insert(many.end(), {"-c", "flush"});
  EXPECT_TRUE(split_schedule(many));
  many.insert(many.end(), {"-c", "flush"});
  EXPECT_FALSE(split_schedule(many));
}

TEST(RtdriverWords, ShortFormsAreTranslatedAndOthersAreSentAsTyped) {
  const std::pair<const char*, const char*> cases[] = {{"start", "start"},
                                                       {"START=5", "START=5"},
                                                       {"jd", "jlmdump"},
                                                       {"JDUMP", "jlmdump"},
                                                       {"jdr", "jlmdump,jlmreset"},
                                                       {"gc", "fgc"},
                                                       {"forcegc", "fgc"},
                                                       {"gc flush", "gc flush"},
                                                       {"jlm", "jlmstart"},
                                                       {"jlmlite", "jlmstartlite"},
                                                       {"jstop", "jlmstop"},
                                                       {"jreset", "jlmreset"},
                                                       {" fgc , hd ", "fgc,hd"},
                                                       {"LogPath=/A/b", "LogPath=/A/b"},
                                                       {"", ""},
                                                       {",,", ""}};
  for (const auto& [typed, sent] : cases) {
    EXPECT_EQ(translate(typed).message, sent) << typed;
    EXPECT_FALSE(translate(typed).ends) << typed;
  }
}

TEST(RtdriverWords, SomeWordsAreTheClientsOwn) {
  for (const char* text : {"xx", "EXIT_RTDRIVER", "xx,flush"}) {
    EXPECT_TRUE(translate(text).ends) << text;
    EXPECT_EQ(translate(text).message, "") << text;
  }
  EXPECT_TRUE(translate("?").help);
  EXPECT_TRUE(translate("Help").help);
  const auto last = translate("flush,shutdown,reset");
  EXPECT_EQ(last.message, "flush,shutdown");
  EXPECT_TRUE(last.ends && last.shuts_down);
  for (const char* text : {"allhelp", "JPROFINFO", "jprofhelp,alljprofhelp"})
    EXPECT_FALSE(translate(text).to_all) << text;
  EXPECT_TRUE(translate("jprofinfo,flush").to_all);
}

// What rtdriver reads if a server answers its first command with text. The greeting is accepted.
Result<Answer> answer_for(const std::string& text) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return Error{};
  UniqueFd ours(ends[0]), server(ends[1]);
  const std::string all = "K" + text;
  EXPECT_EQ(::send(server.get(), all.data(), all.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(all.size()));
  ::shutdown(server.get(), SHUT_WR);
  auto connection = Connection::on(std::move(ours), {});
  if (!connection) return connection.error();
  return connection->receive(Deadline(std::chrono::milliseconds(200)));
}

TEST(RtdriverConnection, AnAnswerIsItsFramesUpToAnEmptyOne) {
  using jvm_commands::frame;
  const auto answer = answer_for(frame("K") + frame("one ") + frame("two") + frame(""));
  ASSERT_TRUE(answer);
  EXPECT_TRUE(answer->done);
  EXPECT_EQ(answer->text, "one two");
  const auto refused = answer_for(frame("N") + frame(""));
  ASSERT_TRUE(refused);
  EXPECT_FALSE(refused->done);
}

TEST(RtdriverConnection, OtherAnswersAreErrors) {
  using jvm_commands::frame;
  EXPECT_THAT(answer_for(jvm_commands::length_text(1 << 30)).error().message,
              HasSubstr("another form"));
  EXPECT_FALSE(answer_for(frame("")));
  EXPECT_FALSE(answer_for(frame("x") + frame("")));
  EXPECT_THAT(answer_for(frame("K") + "\0\0").error().message, HasSubstr("closed the connection"));
}

// Its first line is sent to a process of the owner.
TEST(RtdriverKey, OnlyAFileOfTheDirectorysOwnerIsRead) {
  std::string directory = testing::TempDir() + "rtdriver-XXXXXX";
  ASSERT_NE(::mkdtemp(directory.data()), nullptr);
  const std::string file = directory + "/" + jvm_commands::key_name(8888);
  std::ofstream(file) << "secret\n";
  const uid_t own = ::geteuid();
  EXPECT_EQ(*find_key({{directory, own}}, 8888), "secret");
  EXPECT_THAT(find_key({{directory, own + 1}}, 8888).error().message, HasSubstr("owner"));
  const std::string link = directory + "/link";
  ASSERT_EQ(::link(file.c_str(), link.c_str()), 0);
  EXPECT_FALSE(find_key({{directory, own}}, 8888));
  EXPECT_EQ(*read_key(file), "secret");
  ::unlink(link.c_str());
  // Any user can make a key: which one is right is not known.
  const std::string other = directory + "/other";
  ASSERT_EQ(::mkdir(other.c_str(), 0700), 0);
  const std::string second = other + "/" + jvm_commands::key_name(8888);
  std::ofstream(second) << "x\n";
  EXPECT_THAT(find_key({{directory, own}, {other, own}}, 8888).error().message,
              HasSubstr("Name that of the JVM with --key"));
  ::unlink(second.c_str());
  ::rmdir(other.c_str());
  ::unlink(file.c_str());
  ::rmdir(directory.c_str());
}

// Also of a process id that is in use again.
TEST(RtdriverSockets, OneAtWhichNoProcessListensIsRemoved) {
  std::string directory = testing::TempDir() + "rtdriver-XXXXXX";
  ASSERT_NE(::mkdtemp(directory.data()), nullptr);
  const auto path = [&directory](uint32_t pid) {
    return directory + "/" + jvm_commands::socket_name(pid);
  };
  const auto own = static_cast<uint32_t>(::getpid());
  for (const uint32_t pid : {own, own + 1}) {
    const auto address = socket_address(path(pid));
    const UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address), 0);
  }
  ::setenv(jvm_commands::directory_variable, directory.c_str(), 1);
  Wanted wanted;
  wanted.pids = {own};
  EXPECT_THAT(connect_to(wanted).error().message, HasSubstr("has ended"));
  EXPECT_NE(::access(path(own).c_str(), F_OK), 0);
  EXPECT_EQ(::access(path(own + 1).c_str(), F_OK), 0);
  EXPECT_THAT(connect_to({}).error().message, HasSubstr("No Java virtual machine"));
  ::unsetenv(jvm_commands::directory_variable);
  EXPECT_EQ(::rmdir(directory.c_str()), 0);
}

}  // namespace
}  // namespace pi::rtdriver
