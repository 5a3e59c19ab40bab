// SPDX-License-Identifier: MIT
// The commands of rtdriver, and the messages in which they arrive.
#include "server/commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <pi/jvm_commands.h>

#include "server/message_reader.h"

namespace pi::jprof {
namespace {

using testing::HasSubstr;
using testing::SizeIs;
using Kind = MessageReader::Kind;

Command only(std::string_view message) {
  const auto commands = parse_commands(message);
  EXPECT_THAT(commands, SizeIs(1));
  return commands.empty() ? Command{} : commands.front();
}

TEST(Commands, UpperAndLowerCaseBlanksAndEmptyOnesDoNotMatter) {
  for (const char* text : {"START", "start", ",Start,", " begin ", "\tstart\r\n", "start_wob"})
    EXPECT_EQ(only(text).verb, Verb::start) << text;
  EXPECT_TRUE(parse_commands("").empty());
  EXPECT_TRUE(parse_commands(",, ,").empty());
}

TEST(Commands, SeveralAreExecutedInTheirOrder) {
  const auto commands = parse_commands("start,FLUSH,,end");
  ASSERT_THAT(commands, SizeIs(3));
  EXPECT_EQ(commands[0].verb, Verb::start);
  EXPECT_EQ(commands[1].verb, Verb::flush);
  EXPECT_EQ(commands[2].verb, Verb::stop);
}

TEST(Commands, GcBeforeACommandCollectsGarbageFirst) {
  for (const char* text : {"GC", "fgc", "ForceGC"}) {
    EXPECT_EQ(only(text).verb, Verb::force_gc) << text;
    EXPECT_FALSE(only(text).gc_first) << text;
  }
  for (const char* text : {"gc flush", "GCFLUSH", "gc  FLUSH"}) {
    EXPECT_EQ(only(text).verb, Verb::flush) << text;
    EXPECT_TRUE(only(text).gc_first) << text;
  }
  EXPECT_FALSE(only("flush").gc_first);
}

TEST(Commands, HeapDumpsTakeNoPathAndNoKind) {
  for (const char* text : {"hd", "HEAPDUMP", "dumpheap"})
    EXPECT_EQ(only(text).verb, Verb::heap_dump) << text;
  EXPECT_EQ(only("hdf").verb, Verb::heap_dump_live);
  EXPECT_TRUE(only("gc hd").gc_first);
  for (const char* text : {"hd=/tmp/x", "heapdump=5", "hdf=", "dumpheap type=3"})
    EXPECT_EQ(only(text).verb, Verb::refused) << text;
}

TEST(Commands, ValuesAreChecked) {
  EXPECT_EQ(only("start=5").seconds, 5U);
  EXPECT_EQ(only("start=86400").verb, Verb::start);
  for (const char* text :
       {"start=", "start=-1", "start=1x", "start=86401", "start=1.5", "start=99999999999999999999"})
    EXPECT_THAT(only(text).problem, HasSubstr("a number of seconds from 0 to 86400")) << text;
  EXPECT_EQ(only("flush=1").verb, Verb::refused);
  EXPECT_EQ(only("logpath=").verb, Verb::refused);
  const Command path = only("logpath=/Tmp/A=b");
  EXPECT_EQ(path.verb, Verb::log_names);
  EXPECT_EQ(path.text, "logpath=/Tmp/A=b");
}

TEST(Commands, UnknownAndUnsupportedOnesAreRefusedWithAReason) {
  EXPECT_THAT(only("frobnicate").problem, HasSubstr("'frobnicate' is no command of JProf"));
  EXPECT_THAT(only("FunctionEntry=x").problem, HasSubstr("is not supported"));
  for (const char* text : {"jlmstart=1", "FunctionEntry=x", "=", "start stop", "S"})
    EXPECT_EQ(only(text).verb, Verb::refused) << text;
}

TEST(Commands, AMessageHasAtMost64Commands) {
  std::string text;
  for (size_t i = 0; i < max_commands; ++i) text += "flush,";
  EXPECT_THAT(parse_commands(text), SizeIs(max_commands));
  EXPECT_THAT(only(text + "flush").problem, HasSubstr("none was executed"));
}

TEST(Commands, HelpNamesEachCommand) {
  for (const char* word : {"START[=SEC]", "STOP", "FLUSH", "RESET", "SHUTDOWN", "QUERY_PID"})
    EXPECT_THAT(commands_help(false), HasSubstr(word));
  EXPECT_THAT(commands_help(false), Not(HasSubstr("ZEROBASE")));
  EXPECT_THAT(commands_help(true), HasSubstr("ZEROBASE"));
}

TEST(MessageReader, ClassicMessagesEndWithALineFeedAZeroOrWhatWasReceived) {
  MessageReader reader;
  reader.add("start\nflush");
  reader.add(std::string_view("\0re", 3));
  EXPECT_EQ(reader.next(false)->text, "start");
  EXPECT_EQ(reader.next(false)->text, "flush");
  EXPECT_FALSE(reader.next(false));
  reader.add("set");
  EXPECT_EQ(reader.next(true)->text, "reset");
  EXPECT_FALSE(reader.next(true));
  EXPECT_FALSE(reader.is_framed());
}

TEST(MessageReader, AClassicMessageHasAtMost512Bytes) {
  MessageReader good, bad, without_end;
  good.add(std::string(512, 'x') + "\n");
  EXPECT_EQ(good.next(false)->kind, Kind::message);
  bad.add(std::string(513, 'x') + "\n");
  EXPECT_EQ(bad.next(false)->kind, Kind::error);
  without_end.add(std::string(600, 'x'));
  EXPECT_EQ(without_end.next(false)->kind, Kind::error);
}

TEST(MessageReader, FramesMayArriveByteByByte) {
  MessageReader reader;
  const std::string text = std::string(jvm_commands::greeting) + jvm_commands::frame("start") +
                           jvm_commands::frame("") + jvm_commands::frame("a\nb");
  std::vector<std::string> messages;
  for (const char byte : text) {
    reader.add({&byte, 1});
    while (const auto part = reader.next(true))
      messages.push_back(part->kind == Kind::accepted ? "K" : part->text);
  }
  EXPECT_THAT(messages, testing::ElementsAre("K", "start", "", "a\nb"));
  EXPECT_FALSE(reader.has_bytes());
  EXPECT_TRUE(reader.is_framed());
}

TEST(MessageReader, AFrameHasAtMost65536Bytes) {
  for (const size_t length : {jvm_commands::max_frame + 1, size_t{1} << 30, size_t{0xffffffff}}) {
    MessageReader reader;
    reader.add(std::string(jvm_commands::greeting) + jvm_commands::length_text(length));
    EXPECT_EQ(reader.next(true)->kind, Kind::accepted);
    EXPECT_EQ(reader.next(true)->kind, Kind::error) << length;
  }
  MessageReader reader;
  reader.add(std::string(jvm_commands::greeting) +
             jvm_commands::frame(std::string(jvm_commands::max_frame, 'x')));
  (void)reader.next(true);
  EXPECT_THAT(reader.next(true)->text, SizeIs(jvm_commands::max_frame));
}

TEST(MessageReader, AWrongGreetingIsAnError) {
  MessageReader reader;
  reader.add("\x0e\x0f\x0e");
  EXPECT_FALSE(reader.next(true));
  reader.add("x");
  EXPECT_EQ(reader.next(true)->kind, Kind::error);
}

TEST(MessageReader, NothingIsReadBeforeTheKey) {
  MessageReader reader("secret");
  reader.add("KEY secr");
  EXPECT_FALSE(reader.next(true));
  reader.add("et\nquery_pid\n");
  EXPECT_EQ(reader.next(true)->kind, Kind::accepted);
  EXPECT_FALSE(reader.needs_key());
  EXPECT_EQ(reader.next(true)->text, "query_pid");
  for (const char* wrong : {"KEY secreT\n", "KEY \n", "\n", "KEY secret1\n", "query_pid,start",
                            "key secret\n", "KEY secret \n"}) {
    MessageReader refusing("secret");
    refusing.add(wrong);
    const auto part = refusing.next(true);
    ASSERT_TRUE(part) << wrong;
    EXPECT_EQ(part->kind, Kind::error) << wrong;
  }
}

}  // namespace
}  // namespace pi::jprof
