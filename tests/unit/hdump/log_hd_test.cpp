// SPDX-License-Identifier: MIT
// Reports on log-hd, whose facts have the JVM's sizes of objects, and .hprof made of it again.
#include <gmock/gmock.h>
#include <read/unpack.h>
#include <report/report.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cstdlib>
#include <map>

#include "dump_builder.h"

namespace hdump::log_hd_test {
namespace {

using testing::HasSubstr;

enum Ids : uint64_t { object_class = 16, class_class = 24, item = 32, array_class = 40 };

std::vector<std::byte> dump() {
  DumpBuilder dump;
  dump.add_class(object_class, "java/lang/Object");
  dump.add_class(class_class, "java/lang/Class", object_class);
  dump.add_class(item, "Item", object_class, {{"next", Type::object}}, {{"all", 0x1000}});
  dump.add_class(array_class, "[LItem;", object_class);
  dump.add_array(0x1000, array_class, {0x2000, 0x2010, 0});
  dump.add_object(0x2000, item, {0x2020});
  dump.add_object(0x2010, item, {0});
  dump.add_primitives(0x2020, Type::int8, 3);
  dump.add_primitives(0x2040, Type::int64, 3);
  dump.add_root(item);
  return dump.finish();
}

pi::log_hd::Facts facts() {
  pi::log_hd::Facts facts;
  facts.jvm = "A JVM\x1b[2J";
  facts.pid = 4711;
  facts.layout = Layout{16, 20, 24, 8, 16};
  facts.add_class("java/lang/Class", {112, 120});
  facts.add_class("Item", {48, 128});
  return facts;
}

pi::UniqueFd file_of(const std::vector<std::byte>& bytes) {
  const pi::UniqueFd from(::memfd_create("dump", MFD_CLOEXEC));
  pi::UniqueFd to(::memfd_create("log-hd", MFD_CLOEXEC));
  EXPECT_EQ(pi::write_all(from.get(), bytes), 0);
  EXPECT_TRUE(pi::log_hd::write(from.get(), to.get(), facts()));
  return to;
}

pi::Result<Report> report_on(int fd) {
  const auto space = DiskSpace::in("/tmp");
  if (!space) return space.error();
  return analyse(
      "a dump", [fd] { return open_stream(fd); }, *space, {}, [](const char*, uint64_t) {});
}

TEST(LogHdReport, BytesAreThoseThatTheJvmHasRecorded) {
  const auto report = report_on(file_of(dump()).get());
  ASSERT_TRUE(report) << report.error().message;
  std::map<std::string, uint64_t> bytes;
  for (const ClassRow& row : report->classes) bytes[row.name] = row.bytes;
  EXPECT_EQ(bytes["Item"], 2 * 48U);
  EXPECT_EQ(bytes["Item[]"], 48U);  // 24 + 3 * 8
  EXPECT_EQ(bytes["byte[]"], 32U);  // 20 + 3
  EXPECT_EQ(bytes["long[]"], 48U);  // 24 + 3 * 8
  // Object and Item[] have no static fields, and no sizes of their own.
  EXPECT_EQ(bytes["java.lang.Class"], 112U + 128 + 128 + 112);
  EXPECT_EQ(report->damage.places, 0U);
  const std::string text = text_of(*report, {});
  EXPECT_THAT(text,
              HasSubstr("Sizes              : of the JVM, in bytes: header 16, of arrays 20"));
  EXPECT_THAT(text, HasSubstr("Java VM            : A JVM\\x1b[2J, process 4711\n"));
  EXPECT_THAT(json_of(*report).dump(0), HasSubstr("\"source\": \"jvm\""));
}

TEST(LogHdReport, ATruncatedFileGivesAReportOnItsBeginning) {
  const pi::UniqueFd fd = file_of(dump());
  ASSERT_EQ(::ftruncate(fd.get(), ::lseek(fd.get(), 0, SEEK_END) - 3), 0);
  const auto report = report_on(fd.get());
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->objects, 9U);
  ASSERT_EQ(report->damage.messages.size(), 1U);
  EXPECT_THAT(report->damage.messages[0], HasSubstr("it ends too early"));
}

TEST(LogHdReport, TheHprofThatIsMadeOfItHasTheSameBytes) {
  const auto bytes = dump();
  const pi::UniqueFd fd = file_of(bytes);
  const auto stream = open_stream(fd.get());
  ASSERT_TRUE(stream) << stream.error().message;
  char directory[] = "/tmp/hdump-test.XXXXXX";
  ASSERT_NE(::mkdtemp(directory), nullptr);
  const std::string path = std::string(directory) + "/made.hprof";
  const auto progress = [](uint64_t) {};
  const auto unpacked = unpack(**stream, path, progress);
  ASSERT_TRUE(unpacked) << unpacked.error().message;
  EXPECT_EQ(unpacked->bytes, bytes.size());
  EXPECT_EQ(unpacked->error, "");
  {
    const auto file = pi::open_regular(path);
    ASSERT_TRUE(file);
    EXPECT_EQ(file->status.st_mode & 07777, 0600U);
    std::vector<std::byte> made(static_cast<size_t>(file->status.st_size));
    pi::read_at(file->fd.get(), 0, made);
    EXPECT_EQ(made, bytes);
  }
  // An existing file is kept.
  const auto again = open_stream(fd.get());
  ASSERT_TRUE(again);
  EXPECT_THAT(unpack(**again, path, progress).error().message, HasSubstr("File exists"));
  ::unlink(path.c_str());
  ::rmdir(directory);
}

}  // namespace
}  // namespace hdump::log_hd_test
