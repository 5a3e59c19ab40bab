// SPDX-License-Identifier: MIT
// Records against the worked byte examples of the original tools.
#include <gtest/gtest.h>
#include <pi/decode.h>

#include "record_builder.h"

namespace {

using test_support::Bytes;
using test_support::RecordBuilder;

Bytes bytes_of(std::initializer_list<int> values) {
  Bytes bytes;
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

// A tick in user mode of pid 0x1058, tid 0x1044 at 0x7FFFEF4805F.
const Bytes worked_tick =
    bytes_of({0x1c, 0x00, 0x10, 0x00, 0x23, 0x00, 0x00, 0x00, 0x58, 0xfd, 0x6e, 0x3f, 0x58, 0x10,
              0x00, 0x00, 0x44, 0x10, 0x00, 0x00, 0xff, 0x07, 0x00, 0x00, 0x5f, 0x80, 0xf4, 0xfe});

TEST(Decode, ReadsTheWorkedTick) {
  const pi::RecordView record(worked_tick);
  ASSERT_TRUE(record.valid());
  EXPECT_EQ(record.length(), 28u);
  EXPECT_EQ(record.type(), 0u);
  EXPECT_EQ(record.major(), 0x10u);
  EXPECT_EQ(record.time_lo(), 0x3F6EFD58u);
  pi::TprofTick tick{};
  ASSERT_TRUE(pi::decode_tprof(record, tick));
  EXPECT_EQ(tick.pid, 0x1058u);
  EXPECT_EQ(tick.tid, 0x1044u);
  EXPECT_EQ(tick.address, 0x7FFFEF4805Full);
  EXPECT_TRUE(tick.user);
}

TEST(Decode, EncoderGivesTheWorkedTickByteForByte) {
  RecordBuilder records(false);
  records.tick(0x413F6EFD58, true, 0x1058, 0x1044, 0x7FFFEF4805F);
  EXPECT_EQ(records.bytes(), worked_tick);
}

TEST(Decode, ReadsAModuleRecordOfTheOriginalTools) {
  // Six ints: pid, size, stamp, checksum, address high and low; name "libx.so" padded to eight.
  const Bytes bytes =
      bytes_of({0x34 | 2, 0,    0x19, 0, 1,    0,    0,   0,   9,   0,    0,   0,  // header
                6,        0,    0,    0,                                           // ints
                0x58,     0x10, 0,    0, 0,    0x20, 0,   0,   0,   0,    0,   0,  // pid, size, 0
                0,        0,    0,    0, 0xff, 0x7f, 0,   0,   0,   0x10, 0,   0xab,  // 0, address
                7,        0,    0,    0, 'l',  'i',  'b', 'x', '.', 's',  'o', 0});   // name
  ASSERT_EQ(bytes.size(), 0x34u);
  pi::ModuleEntry module{};
  ASSERT_TRUE(pi::decode_module(pi::RecordView(bytes), module));
  EXPECT_EQ(module.pid, 0x1058u);
  EXPECT_EQ(module.size, 0x2000u);
  EXPECT_EQ(module.address, 0x7fffab001000ull);
  EXPECT_EQ(module.offset, 0u);
  EXPECT_EQ(module.inode, 0u);
  EXPECT_EQ(module.name, "libx.so");
}

TEST(Decode, ReadsAModuleRecordWithOffsetAndInode) {
  RecordBuilder records(false);
  records.module(1, {7, 0, 0x7f0000001000, 0x1'0000'2000, 0x2'0000'3000, 0x4'0000'0005}, "/bin/a");
  pi::ModuleEntry module{};
  ASSERT_TRUE(pi::decode_module(pi::RecordView(records.bytes()), module));
  EXPECT_EQ(module.size, 0x1'0000'2000u);
  EXPECT_EQ(module.offset, 0x2'0000'3000u);
  EXPECT_EQ(module.inode, 0x4'0000'0005u);
}

TEST(Decode, RefusesStringsThatLeaveTheRecord) {
  RecordBuilder records(false);
  records.name(1, 7, "abcd");
  // The string's length stands after the header, the count and two ints.
  records.bytes()[12 + 4 + 8] = std::byte{5};
  pi::NameEntry name{};
  EXPECT_FALSE(pi::decode_name(pi::RecordView(records.bytes()), name));
}

TEST(Decode, RefusesAnIntCountBeyondTheRecord) {
  RecordBuilder records(false);
  records.name(1, 7, "abcd");
  records.bytes()[12] = std::byte{200};
  pi::NameEntry name{};
  EXPECT_EQ(pi::RecordView(records.bytes()).int_count(), 0u);
  EXPECT_FALSE(pi::decode_name(pi::RecordView(records.bytes()), name));
}

}  // namespace
