// SPDX-License-Identifier: MIT
// The decoder of heap dumps: all kinds of records, both sizes of ids, and damaged dumps.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <random>

#include "dump_builder.h"

namespace hdump {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Writes down what it is called with.
class Log final : public Visitor {
 public:
  explicit Log(unsigned id_size) : id_size_(id_size) {}
  void loaded_class(Id id, Id) override { lines.push_back(fmt::format("loaded {}", id)); }
  void root(RootKind kind, Id id) override {
    lines.push_back(fmt::format("root {} {}", root_name(kind), id));
  }
  void class_dump(const ClassDump& dump) override {
    lines.push_back(fmt::format("class {} super {} statics {} fields {}", dump.id, dump.super,
                                dump.statics.size(), dump.fields.size()));
  }
  void instance(Id id, Id class_id, std::span<const std::byte> fields) override {
    lines.push_back(fmt::format("object {} of {}, {} bytes", id, class_id, fields.size()));
  }
  void object_array(Id id, Id class_id, uint32_t length) override {
    lines.push_back(fmt::format("array {} of {}, {} elements", id, class_id, length));
  }
  void elements(std::span<const std::byte> ids) override {
    for (size_t at = 0; at < ids.size(); at += id_size_)
      lines.push_back(fmt::format("element {}", load_id(ids.data() + at, id_size_)));
  }
  void primitive_array(Id id, Type type, uint32_t length) override {
    lines.push_back(
        fmt::format("array {} of type {}, {} elements", id, static_cast<int>(type), length));
  }
  std::vector<std::string> lines;

 private:
  unsigned id_size_;
};

struct Read {
  pi::Result<DumpFacts> facts;
  Damage damage;
  std::vector<std::string> lines;
};

Read read(std::span<const std::byte> bytes, unsigned id_size = 8) {
  Log log(id_size);
  Damage damage;
  const auto stream = memory_stream(bytes);
  auto facts = read_dump(*stream, log, damage);
  return {std::move(facts), damage, log.lines};
}

class BothIdSizes : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Hprof, BothIdSizes, testing::Values(4, 8));

TEST_P(BothIdSizes, EveryKindOfObjectIsDecoded) {
  DumpBuilder dump(GetParam());
  dump.add_class(16, "A", 0, {{"x", Type::object}, {"y", Type::int16}}, {{"s", 32}});
  dump.add_object_bytes(32, 16, std::vector<std::byte>(GetParam() + 2));
  dump.add_array(40, 16, {32, 0, 16});
  dump.end_segment();
  dump.add_primitives(48, Type::int64, 3);
  dump.add_primitives(56, Type::boolean, 0);
  dump.add_root(16);
  const Read result = read(dump.finish(), GetParam());
  ASSERT_TRUE(result.facts);
  EXPECT_EQ(result.facts->segments, 2u);
  EXPECT_EQ(result.facts->id_size, GetParam());
  EXPECT_EQ(result.damage.places, 0u);
  EXPECT_THAT(result.lines, ElementsAre("loaded 16", "class 16 super 0 statics 1 fields 2",
                                        fmt::format("object 32 of 16, {} bytes", GetParam() + 2),
                                        "array 40 of 16, 3 elements", "element 32", "element 0",
                                        "element 16", "array 48 of type 11, 3 elements",
                                        "array 56 of type 4, 0 elements", "root system class 16"));
}

TEST(Hprof, RootsOfAllKindsAreDecodedAlsoThoseOfAndroid) {
  DumpBuilder dump(4);
  const auto root = [&](uint8_t tag, size_t more) {
    std::vector<uint8_t> bytes{tag, 0, 0, 0, 7};
    bytes.resize(bytes.size() + more);
    dump.add_raw(bytes);
  };
  root(0xff, 0);
  root(0x01, 4);
  root(0x02, 8);
  root(0x03, 8);
  root(0x04, 4);
  root(0x05, 0);
  root(0x06, 4);
  root(0x07, 0);
  root(0x08, 8);
  root(0x89, 0);
  root(0x8a, 0);
  root(0x8b, 0);
  root(0x8d, 0);
  root(0x8e, 8);
  dump.add_raw({0xfe, 0, 0, 0, 1, 0, 0, 0, 2});                 // the heap's name
  dump.add_raw({0xc3, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 5, 8});  // an array without its bytes
  const Read result = read(dump.finish(), 4);
  EXPECT_EQ(result.damage.places, 0u);
  EXPECT_THAT(result.lines,
              ElementsAre("root unknown 7", "root JNI global 7", "root JNI local 7",
                          "root Java frame 7", "root native stack 7", "root system class 7",
                          "root thread block 7", "root monitor 7", "root thread 7",
                          "root interned string 7", "root finalizing 7", "root debugger 7",
                          "root VM internal 7", "root monitor 7", "array 9 of type 8, 5 elements"));
}

TEST(Hprof, OtherFilesAreRefused) {
  for (const std::string_view text : {"", "JAVA PROFILE 1.0.2", "PK\3\4", "JAVA PROFILE 2.0.0"}) {
    const Read result = read(std::as_bytes(std::span(text)));
    ASSERT_FALSE(result.facts) << text;
    EXPECT_THAT(result.facts.error().message, HasSubstr("JAVA PROFILE 1.0"));
  }
}

std::vector<std::byte> small_dump() {
  DumpBuilder dump;
  dump.add_class(16, "A", 0, {{"x", Type::object}}, {{"s", 32}});
  dump.add_object(32, 16, {40});
  dump.end_segment();
  dump.add_array(40, 16, {32, 0, 16});
  dump.add_primitives(48, Type::int64, 3);
  dump.add_root(16);
  return dump.finish();
}

TEST(Hprof, ATruncatedDumpGivesItsBeginningAndAMessage) {
  const std::vector<std::byte> whole = small_dump();
  const std::vector<std::string> all = read(whole).lines;
  // The end record is the last 9 bytes.
  for (size_t size = 31; size < whole.size(); ++size) {
    const Read part = read(std::span(whole).first(size));
    ASSERT_TRUE(part.facts) << size;
    EXPECT_EQ(part.damage.places, 1u) << size;
    ASSERT_LE(part.lines.size(), all.size());
    EXPECT_TRUE(std::equal(part.lines.begin(), part.lines.end(), all.begin())) << size;
  }
}

TEST(Hprof, AnObjectOfAnUnknownKindCostsOnlyItsPartOfTheHeap) {
  DumpBuilder dump;
  dump.add_root(1);
  dump.add_raw({0x77, 1, 2, 3});
  dump.add_root(2);
  dump.end_segment();
  dump.add_root(3);
  const Read result = read(dump.finish());
  EXPECT_THAT(result.lines, ElementsAre("root system class 1", "root system class 3"));
  ASSERT_EQ(result.damage.messages.size(), 1u);
  EXPECT_THAT(result.damage.messages[0], HasSubstr("0x77 is no kind of object"));
}

TEST(Hprof, AnArrayThatIsLongerThanItsPartOfTheHeapIsReported) {
  DumpBuilder dump;
  std::vector<uint8_t> array(1 + 8 + 4);
  array[0] = 0x22;
  array.insert(array.end(), {0xff, 0xff, 0xff, 0xff});
  array.resize(array.size() + 8 + 16);
  dump.add_raw(array);
  dump.end_segment();
  dump.add_root(3);
  const Read result = read(dump.finish());
  EXPECT_THAT(result.lines, ElementsAre("root system class 3"));
  ASSERT_EQ(result.damage.messages.size(), 1u);
  EXPECT_THAT(result.damage.messages[0], HasSubstr("longer than its part of the heap"));
}

TEST(Hprof, WrongBytesNeitherCrashNorHang) {
  std::mt19937 random(7);
  const std::vector<std::byte> whole = small_dump();
  for (int round = 0; round < 3000; ++round) {
    std::vector<std::byte> bytes = whole;
    for (size_t i = 1 + random() % 4; i > 0; --i)
      bytes[31 + random() % (bytes.size() - 31)] = static_cast<std::byte>(random());
    const Read result = read(bytes);
    EXPECT_TRUE(result.facts);
    EXPECT_LT(result.lines.size(), bytes.size());
  }
}

}  // namespace
}  // namespace hdump
