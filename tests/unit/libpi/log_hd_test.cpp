// SPDX-License-Identifier: MIT
// log-hd: what is written is read again, and of a damaged file only what was written.
#include <gmock/gmock.h>
#include <pi/log_hd.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <random>

namespace pi::log_hd {
namespace {

using testing::HasSubstr;
using Bytes = std::vector<std::byte>;

UniqueFd memory_file(const Bytes& bytes = {}) {
  UniqueFd fd(::memfd_create("log-hd", MFD_CLOEXEC));
  EXPECT_EQ(write_all(fd.get(), bytes), 0);
  return fd;
}

Bytes content(int fd) {
  Bytes bytes(static_cast<size_t>(::lseek(fd, 0, SEEK_END)));
  EXPECT_EQ(read_at(fd, 0, bytes).bytes, bytes.size());
  return bytes;
}

Facts some_facts() {
  Facts facts;
  facts.agent = "1.2";
  facts.jvm = "A JVM 17";
  facts.pid = 4711;
  facts.time_ms = 1'700'000'000'000;
  facts.class_pointers = "full";
  facts.layout = Layout{16, 20, 24, 8, 16};
  facts.add_class("java/lang/String", {24, 112});
  facts.add_class("name with = and \xc3\xa4", {8, 0});
  return facts;
}

// Numbers that repeat, and noise.
Bytes dump_of(size_t size) {
  std::mt19937 random(1);
  Bytes bytes(size);
  for (size_t i = 0; i < size; ++i)
    bytes[i] = static_cast<std::byte>(i % 3 == 0 ? random() & 0xff : i & 0x0f);
  return bytes;
}

Bytes packed(const Bytes& dump, const Facts& facts = some_facts()) {
  const UniqueFd from = memory_file(dump), to = memory_file();
  const auto written = write(from.get(), to.get(), facts);
  EXPECT_TRUE(written) << written.error().message;
  return content(to.get());
}

struct Outcome {
  Bytes bytes;
  std::string error;  // of open() or of the reading
};

Outcome read(const Bytes& file, const Budget& limit = dump_bytes) {
  auto reader = Reader::open(
      [&](uint64_t offset, std::span<std::byte> bytes) {
        const size_t count =
            offset >= file.size() ? 0 : std::min<size_t>(bytes.size(), file.size() - offset);
        std::copy_n(file.begin() + static_cast<ptrdiff_t>(offset), count, bytes.begin());
        return Transferred{count, 0};
      },
      file.size(), limit);
  if (!reader) return {{}, reader.error().message};
  Outcome outcome;
  for (auto part = reader->next(); !part.empty(); part = reader->next())
    outcome.bytes.insert(outcome.bytes.end(), part.begin(), part.end());
  outcome.error = reader->error();
  return outcome;
}

bool begins_with(const Bytes& whole, const Bytes& part) {
  return part.size() <= whole.size() && std::equal(part.begin(), part.end(), whole.begin());
}

TEST(LogHd, TheDumpAndTheFactsAreReadAgain) {
  for (const size_t size : {size_t{0}, size_t{1}, frame_bytes, 3 * frame_bytes + 5}) {
    const Bytes dump = dump_of(size);
    const UniqueFd file = memory_file(packed(dump));
    auto reader = Reader::open(file.get());
    ASSERT_TRUE(reader) << reader.error().message;
    EXPECT_EQ(reader->facts().layout, some_facts().layout);
    EXPECT_EQ(reader->facts().classes, some_facts().classes);
    EXPECT_EQ(reader->facts().jvm, "A JVM 17");
    EXPECT_EQ(reader->facts().pid, 4711U);
    EXPECT_EQ(reader->facts().time_ms, 1'700'000'000'000U);
    EXPECT_EQ(reader->facts().class_pointers, "full");
    const Outcome outcome = read(content(file.get()));
    EXPECT_EQ(outcome.bytes, dump);
    EXPECT_EQ(outcome.error, "");
  }
}

TEST(LogHd, ATruncatedFileIsReadUpToTheBreak) {
  const Bytes dump = dump_of(2 * frame_bytes + 100);
  const Bytes file = packed(dump);
  size_t last = 0;
  for (size_t size = 0; size < file.size(); size += size < 400 ? 1 : 4999) {
    const Outcome outcome = read({file.begin(), file.begin() + static_cast<ptrdiff_t>(size)});
    EXPECT_TRUE(begins_with(dump, outcome.bytes));
    EXPECT_GE(outcome.bytes.size(), last);
    EXPECT_THAT(outcome.error, HasSubstr("it ends too early")) << size;
    last = outcome.bytes.size();
  }
  // Without its last byte, only the end is missing.
  const Outcome outcome = read({file.begin(), file.end() - 1});
  EXPECT_EQ(outcome.bytes, dump);
  EXPECT_THAT(outcome.error, HasSubstr("it ends too early"));
}

TEST(LogHd, AChangedByteNeverChangesTheDump) {
  const Bytes dump = dump_of(frame_bytes / 8);
  const Bytes file = packed(dump);
  size_t found = 0, tried = 0;
  for (size_t at = 0; at < file.size(); at += at < 300 || at + 300 > file.size() ? 1 : 997) {
    Bytes changed = file;
    changed[at] ^= std::byte{0x10};
    const Outcome outcome = read(changed);
    EXPECT_TRUE(begins_with(dump, outcome.bytes)) << at;
    ++tried;
    if (!outcome.error.empty()) ++found;
  }
  // Where a frame has bits that it does not use, or the kind of an unknown frame, a change is none.
  EXPECT_GE(found + 8, tried);
}

TEST(LogHd, BytesAfterTheEndAndMissingFramesAreFound) {
  const Bytes dump = dump_of(2 * frame_bytes);
  Bytes longer = packed(dump);
  longer.push_back(std::byte{0});
  EXPECT_THAT(read(longer).error, HasSubstr("it continues after its end"));
  // A whole frame of the dump is cut out: the facts of a file without frames are as long.
  const Bytes one = packed(dump_of(frame_bytes)), none = packed({});
  ASSERT_TRUE(std::equal(one.begin(), one.begin() + 8, none.begin()));
  uint32_t facts = 0;
  std::memcpy(&facts, one.data() + 4, sizeof facts);
  Bytes shorter(one.begin(), one.begin() + 8 + facts);
  const Bytes end(one.end() - 50, one.end());
  const uint32_t end_magic = head_magic + 1;
  std::byte magic[4];
  std::memcpy(magic, &end_magic, sizeof magic);
  const auto at = std::search(end.begin(), end.end(), magic, magic + 4);
  ASSERT_NE(at, end.end());
  shorter.insert(shorter.end(), at, end.end());
  EXPECT_EQ(read(shorter).error, "parts of it are missing");
}

TEST(LogHd, OtherFilesAreRefused) {
  EXPECT_THAT(read({}).error, HasSubstr("it ends too early"));
  EXPECT_THAT(read(dump_of(100)).error, HasSubstr("it is no log-hd"));
  Bytes huge(8);
  const uint32_t words[] = {head_magic, 0xfffffff0};
  std::memcpy(huge.data(), words, sizeof words);
  EXPECT_THAT(read(huge).error, HasSubstr("impossible size"));
}

TEST(LogHd, AHostileFileCannotHaveMoreBytesThanItsLimit) {
  const Bytes file = packed(Bytes(40 * frame_bytes), {});
  EXPECT_LT(file.size(), 40'000U);
  const Outcome outcome = read(file, {10 * frame_bytes, 1});
  EXPECT_EQ(outcome.bytes.size(), 10 * frame_bytes);
  EXPECT_THAT(outcome.error, HasSubstr("more bytes than a dump of its size can have"));
  EXPECT_EQ(read(file).error, "");
}

TEST(LogHd, AComparisonFindsEachDifference) {
  const Bytes dump = dump_of(frame_bytes + 7);
  const UniqueFd file = memory_file(packed(dump));
  EXPECT_TRUE(compare(file.get(), memory_file(dump).get()));
  Bytes other = dump;
  other.back() ^= std::byte{1};
  EXPECT_FALSE(compare(file.get(), memory_file(other).get()));
  other = dump;
  other.push_back(std::byte{0});
  EXPECT_FALSE(compare(file.get(), memory_file(other).get()));
  other.resize(dump.size() - 1);
  EXPECT_FALSE(compare(file.get(), memory_file(other).get()));
}

TEST(LogHd, SizesThatNoObjectCanHaveAreNoLayout) {
  for (const Layout layout : {Layout{12, 16, 16, 6, 8}, Layout{12, 16, 16, 4, 12},
                              Layout{500, 16, 16, 4, 8}, Layout{12, 16, 16, 4, 0}}) {
    Facts facts;
    facts.layout = layout;
    const UniqueFd file = memory_file(packed({}, facts));
    auto reader = Reader::open(file.get());
    ASSERT_TRUE(reader);
    EXPECT_FALSE(reader->facts().layout);
  }
}

TEST(LogHd, ClassesOfOneNameWithDifferentSizesHaveNone) {
  Facts facts;
  facts.add_class("A", {16, 96});
  facts.add_class("A", {16, 96});
  EXPECT_EQ(facts.classes["A"], (ClassSizes{16, 96}));
  facts.add_class("A", {24, 96});
  facts.add_class("A", {24, 96});
  EXPECT_EQ(facts.classes["A"], ClassSizes{});
  facts.add_class("two\nlines", {16, 96});
  facts.add_class("", {16, 96});
  EXPECT_EQ(facts.classes.size(), 1U);
}

}  // namespace
}  // namespace pi::log_hd
