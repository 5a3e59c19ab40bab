// SPDX-License-Identifier: MIT
// Records that programs write: encoding, decoding, and refusal of invalid ones.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include <pi/decode.h>
#include <pitrace/encode.h>
#include <pitrace/user_hook.h>

#include "hooks/hook_record.h"

namespace pi::perfutil {
namespace {

std::vector<std::byte> encode(uint32_t major, const std::vector<uint32_t>& ints,
                              const std::vector<std::string_view>& texts) {
  std::vector<pitrace_string> strings;
  for (const auto text : texts)
    strings.push_back({text.data(), static_cast<uint32_t>(text.size())});
  const HookRecord record{major,          7,
                          ints.data(),    static_cast<uint32_t>(ints.size()),
                          strings.data(), static_cast<uint32_t>(strings.size())};
  uint32_t size = 0;
  if (record.measure(size) != PU_SUCCESS) return {};
  std::vector<std::byte> bytes(size, std::byte{0xee});
  record.encode(bytes.data(), size, 99);
  return bytes;
}

int check(const std::vector<std::byte>& bytes) {
  return pitrace_check_hook(bytes.data(), static_cast<uint32_t>(bytes.size()));
}

void set_word(std::vector<std::byte>& bytes, size_t offset, uint32_t value) {
  std::memcpy(bytes.data() + offset, &value, sizeof value);
}

TEST(UserHook, AnEncodedRecordIsDecodedAndAccepted) {
  const std::string zero("a\0b", 3);
  const auto bytes = encode(0x30, {1, 0xffffffff}, {"", "x", "four", zero});
  EXPECT_EQ(check(bytes), 0);
  const RecordView record{bytes};
  ASSERT_TRUE(record.valid());
  EXPECT_EQ(record.major(), 0x30u);
  EXPECT_EQ(record.minor(), 7u);
  EXPECT_EQ(record.time_lo(), 99u);
  ASSERT_EQ(record.int_count(), 2u);
  EXPECT_EQ(record.int_at(1), 0xffffffffu);
  std::string_view text;
  const std::string_view expected[] = {"", "x", "four", zero};
  for (uint32_t i = 0; i < 4; ++i) {
    ASSERT_TRUE(record.string_at(i, text));
    EXPECT_EQ(text, expected[i]);
  }
  EXPECT_FALSE(record.string_at(4, text));
}

TEST(UserHook, ARecordWithoutStringsIsOneOfInts) {
  const auto bytes = encode(0x30, {5}, {});
  EXPECT_EQ(bytes.size(), 16u);
  EXPECT_EQ(RecordView{bytes}.type(), uint32_t{PITRACE_TYPE_INTS});
  EXPECT_EQ(check(bytes), 0);
  EXPECT_EQ(check(encode(0x30, {}, {})), 0);
}

TEST(UserHook, PaddingBetweenStringsIsZero) {
  const auto bytes = encode(0x30, {}, {"abcde"});
  ASSERT_EQ(bytes.size(), 12u + 4 + 4 + 8);
  for (size_t i = 12 + 4 + 4 + 5; i < bytes.size(); ++i) EXPECT_EQ(bytes[i], std::byte{0});
}

TEST(UserHook, TheLargestFitsAndOneByteMoreDoesNot) {
  // 12 bytes header, 4 count, strings of 4 + 1984 and 4 + 1992.
  EXPECT_EQ(encode(0x30, {}, {std::string(1984, 'a'), std::string(1992, 'b')}).size(), 4000u);
  EXPECT_TRUE(encode(0x30, {}, {std::string(1984, 'a'), std::string(1993, 'b')}).empty());
  EXPECT_EQ(check(encode(0x30, std::vector<uint32_t>(126), {})), 0);
  EXPECT_TRUE(encode(0x30, std::vector<uint32_t>(127), {}).empty());
  EXPECT_EQ(check(encode(0x30, {}, std::vector<std::string_view>(16))), 0);
  EXPECT_TRUE(encode(0x30, {}, std::vector<std::string_view>(17)).empty());
  EXPECT_EQ(check(encode(0x30, {}, {std::string(2048, 'a')})), 0);
  EXPECT_TRUE(encode(0x30, {}, {std::string(2049, 'a')}).empty());
}

TEST(UserHook, MajorsOfTheSourcesOwnRecordsAreNotForPrograms) {
  for (const uint32_t major :
       {0u, 1u, 3u, 4u, 5u, 8u, 9u, 0x10u, 0x11u, 0x12u, 0x13u, 0x19u, 0xa8u, 0xffu, 0x100u, ~0u})
    EXPECT_FALSE(pitrace_hook_major_allowed(major)) << major;
  for (const uint32_t major : {2u, 6u, 0x14u, 0x30u, 0x70u, 0xfeu})
    EXPECT_TRUE(pitrace_hook_major_allowed(major)) << major;
  auto bytes = encode(0x30, {1}, {});
  bytes[2] = std::byte{PITRACE_MAJOR_MTE};
  EXPECT_NE(check(bytes), 0);
}

std::vector<std::byte> encode_java(uint32_t minor, const std::vector<uint32_t>& ints,
                                   const std::vector<std::string_view>& texts) {
  auto bytes = encode(PITRACE_MAJOR_MTE, ints, texts);
  set_word(bytes, 4, minor);
  return bytes;
}

TEST(UserHook, OfTheNameMajorProgramsMayWriteOnlyTheTwoJavaMinors) {
  const std::vector<uint32_t> five(PITRACE_JITTED_INTS), six(PITRACE_JAVA_THREAD_INTS);
  EXPECT_EQ(check(encode_java(PITRACE_MTE_JITTED, five, {})), 0);
  EXPECT_EQ(check(encode_java(PITRACE_MTE_JAVA_THREAD, six, {"main"})), 0);
  EXPECT_EQ(check(encode_java(PITRACE_MTE_JAVA_THREAD, six, {""})), 0);
  for (const auto& wrong :
       {encode_java(PITRACE_MTE_JITTED, six, {}), encode_java(PITRACE_MTE_JITTED, {}, {}),
        encode_java(PITRACE_MTE_JITTED, five, {"x"}), encode_java(PITRACE_MTE_JAVA_THREAD, six, {}),
        encode_java(PITRACE_MTE_JAVA_THREAD, five, {"x"}),
        encode_java(PITRACE_MTE_JAVA_THREAD, five, {"", ""}),
        encode_java(PITRACE_MTE_JAVA_THREAD, six, {"a", "b"}),
        encode_java(PITRACE_MTE_NAME, six, {"x"}), encode_java(PITRACE_MTE_MODULE, five, {}),
        encode_java(0, five, {}), encode_java(PITRACE_MTE_JITTED | 0x80000000u, five, {})})
    EXPECT_EQ(check(wrong), -EINVAL);
}

TEST(UserHook, SigningAJavaHookSetsThePidAndNothingElse) {
  auto loaded = encode_java(PITRACE_MTE_JITTED, {1, 2, 3, 4, 5}, {});
  pitrace_hook_sign(loaded.data(), 4711);
  EXPECT_EQ(loaded, encode_java(PITRACE_MTE_JITTED, {1, 4711, 3, 4, 5}, {}));
  auto thread = encode_java(PITRACE_MTE_JAVA_THREAD, {1, 2, 3, 4, 5, 0}, {"main"});
  pitrace_hook_sign(thread.data(), 4711);
  EXPECT_EQ(thread, encode_java(PITRACE_MTE_JAVA_THREAD, {1, 4711, 3, 4, 5, 0}, {"main"}));
  const auto other = encode(0x30, {1, 2, 3, 4, 5}, {});
  auto same = other;
  pitrace_hook_sign(same.data(), 4711);
  EXPECT_EQ(same, other);
}

TEST(UserHook, CountsAndLengthsThatDoNotFitAreRefused) {
  const auto good = encode(0x30, {1, 2}, {"text", "more"});
  for (const uint32_t count : {1u, 3u, 127u, 0x40000000u, ~0u}) {
    auto bytes = good;
    set_word(bytes, 12, count);
    EXPECT_NE(check(bytes), 0) << count;
  }
  for (const uint32_t length : {0u, 5u, 100u, 2049u, ~0u, ~0u - 3}) {
    auto bytes = good;
    set_word(bytes, 24, length);
    EXPECT_NE(check(bytes), 0) << length;
  }
  for (const uint32_t type : {1u, 3u}) {
    auto bytes = good;
    bytes[0] |= std::byte(type);
    EXPECT_NE(check(bytes), 0) << type;
  }
  auto longer = good;
  longer.resize(longer.size() + 4);
  EXPECT_NE(check(longer), 0);
  EXPECT_NE(check({}), 0);
}

TEST(UserHook, AnAcceptedRecordIsDecodedToItsLastByte) {
  std::mt19937 random(1);
  unsigned accepted = 0;
  for (int round = 0; round < 200000; ++round) {
    auto bytes = encode(0x30, {1, 2}, {"abc", "12345678"});
    for (int i = 0; i < 2; ++i)
      bytes[random() % bytes.size()] = static_cast<std::byte>(random() % 16);
    if (check(bytes) != 0) continue;
    ++accepted;
    const RecordView record{bytes};
    ASSERT_TRUE(record.valid());
    ASSERT_EQ(record.length(), bytes.size());
    size_t end = 12 + 4 * record.int_count();
    std::string_view text;
    if (record.type() == PITRACE_TYPE_STRINGS) end += 4;
    for (uint32_t i = 0; record.string_at(i, text); ++i)
      end += 4 + ((text.size() + 3) & ~size_t{3});
    EXPECT_EQ(end, bytes.size());
  }
  EXPECT_GT(accepted, 1000u);
}

}  // namespace
}  // namespace pi::perfutil
