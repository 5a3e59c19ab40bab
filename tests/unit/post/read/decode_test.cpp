// SPDX-License-Identifier: MIT
// Records compared with the worked byte examples of the classic tools.
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

TEST(Decode, EncoderWritesTheWorkedTickByteForByte) {
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

TEST(Decode, RefusesStringsBeyondTheRecord) {
  RecordBuilder records(false);
  records.name(1, 7, "abcd");
  // The string's length follows the header, the count and two ints.
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

TEST(Decode, ReadsTheStackOfATick) {
  RecordBuilder records(false);
  records.tick(1, false, 7, 8, 0xffffffff81000001,
               {{0xffffffff81000002}, {0x1003, 0x700000001004}, PITRACE_STACK_USER_CUT});
  const pi::RecordView record(records.bytes());
  pi::TprofTick tick{};
  ASSERT_TRUE(pi::decode_tprof(record, tick));
  EXPECT_EQ(tick.address, 0xffffffff81000001ull);
  const pi::StackView stack = pi::stack_of_tprof(record);
  ASSERT_TRUE(stack.exists());
  EXPECT_EQ(stack.flags(), static_cast<uint32_t>(PITRACE_STACK_USER_CUT));
  ASSERT_EQ(stack.kernel_frames(), 1u);
  ASSERT_EQ(stack.user_frames(), 2u);
  EXPECT_EQ(stack.frame(0), 0xffffffff81000002ull);
  EXPECT_EQ(stack.frame(1), 0x1003ull);
  EXPECT_EQ(stack.frame(2), 0x700000001004ull);
}

TEST(Decode, JoinsAStackWithTheFramesOfItsId) {
  RecordBuilder records(false);
  records.tick(1, false, 7, 8, 0xffffffff81000001,
               {{0xffffffff81000002}, {0x1003}, PITRACE_STACK_USER_ID, 42});
  const pi::RecordView record(records.bytes());
  pi::StackView stack = pi::stack_of_tprof(record);
  EXPECT_EQ(stack.id(), 42u);
  std::vector<std::byte> bytes(pitrace_size_stack(2));
  const __u64 frames[] = {0x1004, 0x700000001005};
  pitrace_encode_stack(bytes.data(), 1, 42, PITRACE_STACK_USER_TABLES, frames, 2, 1);
  pi::UserFrames more{0, 0, 0, record, 0};
  ASSERT_TRUE(pi::decode_user_frames(pi::RecordView(bytes), more));
  EXPECT_EQ(more.id, 42u);
  pi::StackView joined = stack;
  joined.join(&more);
  EXPECT_EQ(joined.flags(), uint32_t{PITRACE_STACK_USER_ID | PITRACE_STACK_USER_TABLES});
  ASSERT_EQ(joined.kernel_frames(), 1u);
  ASSERT_EQ(joined.user_frames(), 3u);
  EXPECT_EQ(joined.table_frames(), 2u);  // where the thread entered the kernel is no guess
  EXPECT_EQ(joined.frame(1), 0x1003ull);
  EXPECT_EQ(joined.frame(2), 0x1004ull);
  EXPECT_EQ(joined.frame(3), 0x700000001005ull);
  // Without its frames the user's part is broken.
  stack.join(nullptr);
  EXPECT_EQ(stack.flags(), uint32_t{PITRACE_STACK_USER_ID | PITRACE_STACK_USER_BROKEN});
  EXPECT_EQ(stack.user_frames(), 1u);
}

TEST(Decode, AFrameThatNamesTheRecordsAddressIsNoFrame) {
  const uint64_t own = PITRACE_FRAME_OWN(7), named = PITRACE_FRAME_NAMED(8);
  RecordBuilder in_user(false);
  in_user.tick(
      1, true, 7, 8, 0x1001,
      {.user = {own, named, 0x1003}, .flags = PITRACE_STACK_USER_TABLES, .table_frames = 2});
  const pi::RecordView record(in_user.bytes());
  const pi::StackView stack = pi::stack_of_tprof(record);
  EXPECT_EQ(stack.own_name(), PITRACE_FRAME_NAMED(7));
  ASSERT_EQ(stack.user_frames(), 2u);
  EXPECT_EQ(stack.table_frames(), 1u);
  EXPECT_EQ(stack.frame(0), named);
  EXPECT_EQ(stack.frame(1), 0x1003ull);
  // Both of a number, as return addresses are read.
  EXPECT_EQ(PITRACE_FRAME_NUMBER(named), 8u);
  EXPECT_EQ(PITRACE_FRAME_NUMBER(named - 1), 8u);
  EXPECT_TRUE(PITRACE_FRAME_IS_NAMED(named - 1));
  EXPECT_FALSE(PITRACE_FRAME_IS_NAMED(own));
  EXPECT_FALSE(PITRACE_FRAME_IS_NAMED(0xffffffffffffffffull));
  EXPECT_FALSE(PITRACE_FRAME_IS_NAMED(0x00007fffffffffffull));
}

TEST(Decode, WhereTheThreadEnteredTheKernelIsNamedByTheFrameBehindIt) {
  RecordBuilder records(false);
  records.tick(1, false, 7, 8, 0xffffffff81000001,
               {{0xffffffff81000002}, {0x1003}, PITRACE_STACK_USER_ID, 42});
  const pi::RecordView record(records.bytes());
  pi::StackView stack = pi::stack_of_tprof(record);
  std::vector<std::byte> bytes(pitrace_size_stack(2));
  const __u64 frames[] = {PITRACE_FRAME_OWN(9), 0x1004};
  pitrace_encode_stack(bytes.data(), 1, 42, PITRACE_STACK_USER_TABLES, frames, 2, 2);
  pi::UserFrames more{0, 0, 0, record, 0};
  ASSERT_TRUE(pi::decode_user_frames(pi::RecordView(bytes), more));
  stack.join(&more);
  EXPECT_EQ(stack.own_name(), 0u);
  ASSERT_EQ(stack.user_frames(), 2u);
  EXPECT_EQ(stack.table_frames(), 2u);
  EXPECT_EQ(stack.frame(0), 0xffffffff81000002ull);
  EXPECT_EQ(stack.frame(1), PITRACE_FRAME_NAMED(9));
  EXPECT_EQ(stack.frame(2), 0x1004ull);
}

// The whole depth, and the least that the first int cannot count.
TEST(Decode, ReadsAStackWithMoreFramesThanItsFirstIntCounts) {
  for (const uint32_t depth : {256u, uint32_t{PITRACE_STACK_USER_DEPTH_MAX}}) {
    std::vector<__u64> user(depth);
    for (uint32_t i = 0; i < depth; ++i) user[i] = 0x700000001000 + i;
    const uint32_t flags = PITRACE_STACK_USER_TABLES | PITRACE_STACK_USER_WHOLE;
    RecordBuilder records(false);
    records.tick(1, false, 7, 8, 0xffffffff81000001,
                 {.kernel = {0xffffffff81000002},
                  .user = user,
                  .flags = flags | PITRACE_STACK_KERNEL_CUT,
                  .table_frames = depth - 1});
    const pi::RecordView record(records.bytes());
    const pi::StackView stack = pi::stack_of_tprof(record);
    ASSERT_TRUE(stack.exists());
    EXPECT_EQ(stack.flags(), flags | PITRACE_STACK_KERNEL_CUT);
    ASSERT_EQ(stack.kernel_frames(), 1u);
    ASSERT_EQ(stack.user_frames(), depth);
    EXPECT_EQ(stack.table_frames(), depth - 1);
    EXPECT_EQ(stack.frame(0), 0xffffffff81000002ull);
    for (uint32_t i = 0; i < depth; ++i) EXPECT_EQ(stack.frame(1 + i), user[i]);
    // A reader that does not know the bit sees the first frames, and that there are more.
    const uint32_t word = record.int_at(4);
    EXPECT_EQ(PITRACE_STACK_USER_FRAMES(word), uint32_t{PITRACE_STACK_COUNTED_FRAMES});
    EXPECT_EQ(word & PITRACE_STACK_USER_FLAGS,
              uint32_t{PITRACE_STACK_USER_TABLES | PITRACE_STACK_USER_CUT});
  }
}

TEST(Decode, AStackWithUncountedFramesIsNotLongerThanItsRecord) {
  const auto exists = [](const std::vector<uint32_t>& ints) {
    RecordBuilder records(false);
    records.ints(1, PITRACE_MAJOR_TPROF, PITRACE_TPROF_USER, ints);
    const pi::RecordView record(records.bytes());
    const pi::StackView stack = pi::stack_of_tprof(record);
    EXPECT_TRUE(stack.exists() ||
                (stack.user_frames() == 0 && stack.kernel_frames() == 0 && stack.flags() == 0));
    return stack.exists();
  };
  // One frame that is counted; flags, frames, those of tables; one more frame.
  const uint32_t word = PITRACE_STACK_USER_LONG | 1u << 8;
  EXPECT_TRUE(exists({7, 8, 0, 0x1001, word, 0, 0x1002, 0, 2, 0, 0, 0x1003}));
  EXPECT_TRUE(exists({7, 8, 0, 0x1001, word, 0, 0x1002, 0, 1, 99, 0, 0x1003}));
  for (const uint32_t frames : {0u, 3u, 0x80000001u, ~0u})
    EXPECT_FALSE(exists({7, 8, 0, 0x1001, word, 0, 0x1002, 0, frames, 0, 0, 0x1003})) << frames;
  EXPECT_FALSE(exists({7, 8, 0, 0x1001, word, 0, 0x1002, 0, 1}));
  EXPECT_FALSE(exists({7, 8, 0, 0x1001, word, 0, 0x1002}));
}

TEST(Decode, CountsOfUserFramesAreBelievedOnlyUpToTheRecord) {
  RecordBuilder lying(false);
  lying.ints(1, PITRACE_MAJOR_STACK, 1, {0, 9, 0, 0x1001});
  pi::UserFrames frames{0, 0, 0, pi::RecordView({}), 0};
  ASSERT_TRUE(pi::decode_user_frames(pi::RecordView(lying.bytes()), frames));
  EXPECT_EQ(frames.count, 1u);
  EXPECT_EQ(frames.table_frames, 1u);
  RecordBuilder shorter(false);
  shorter.ints(1, PITRACE_MAJOR_STACK, 1, {0});
  EXPECT_FALSE(pi::decode_user_frames(pi::RecordView(shorter.bytes()), frames));
}

TEST(Decode, ACopyOfAStackIsNotLongerThanItsRecord) {
  const __u64 registers[PITRACE_STACK_REGISTERS] = {1, 2, 3};
  const uint64_t stack[] = {11, 12};
  const pitrace_copied copied{16, 0, 0};
  std::vector<std::byte> bytes(pitrace_size_copy(&copied));
  pitrace_encode_copy(bytes.data(), 1, 4, 5, 6, registers, stack, &copied);
  pi::StackCopy copy{};
  ASSERT_TRUE(pi::decode_stack_copy(pi::RecordView(bytes), copy));
  EXPECT_EQ(copy.id, 4u);
  EXPECT_EQ(copy.registers[2], 3u);
  EXPECT_EQ(copy.stack.size(), 16u);
  EXPECT_EQ(std::memcmp(copy.stack.data(), stack, 16), 0);
  EXPECT_TRUE(copy.interrupted.empty());
  const uint32_t longer = 20;
  std::memcpy(bytes.data() + bytes.size() - 20, &longer, 4);
  EXPECT_FALSE(pi::decode_stack_copy(pi::RecordView(bytes), copy));
}

TEST(Decode, ACopyCanHaveTheStackThatAHandlerHasInterrupted) {
  const __u64 registers[PITRACE_STACK_REGISTERS] = {};
  const uint64_t stack[] = {11, 12, 13};
  const pitrace_copied copied{16, 8, 0x7f0012345678};
  std::vector<std::byte> bytes(pitrace_size_copy(&copied));
  pitrace_encode_copy(bytes.data(), 1, 4, 5, 6, registers, stack, &copied);
  pi::StackCopy copy{};
  ASSERT_TRUE(pi::decode_stack_copy(pi::RecordView(bytes), copy));
  EXPECT_EQ(copy.stack.size(), 16u);
  EXPECT_EQ(std::memcmp(copy.stack.data(), stack, 16), 0);
  EXPECT_EQ(copy.interrupted_at, 0x7f0012345678u);
  ASSERT_EQ(copy.interrupted.size(), 8u);
  EXPECT_EQ(std::memcmp(copy.interrupted.data(), stack + 2, 8), 0);
  // A number of bytes after which no int can begin.
  const uint32_t odd = 17;
  std::memcpy(bytes.data() + bytes.size() - 36, &odd, 4);
  ASSERT_TRUE(pi::decode_stack_copy(pi::RecordView(bytes), copy));
  EXPECT_TRUE(copy.interrupted.empty());
}

TEST(Decode, MissingAndTruncatedStacksDoNotExist) {
  RecordBuilder plain(false);
  plain.tick(1, true, 7, 8, 0x1001).dispatch(2, 7, 8, PITRACE_STATE_SLEEPING);
  EXPECT_FALSE(pi::stack_of_tprof(pi::RecordView(plain.bytes())).exists());
  for (const uint32_t word : {0x0100u, 0x0001u, 0xffffu, 0xffffffffu}) {
    RecordBuilder lying(false);
    lying.ints(1, PITRACE_MAJOR_TPROF, PITRACE_TPROF_USER, {7, 8, 0, 0x1001, word, 0});
    EXPECT_FALSE(pi::stack_of_tprof(pi::RecordView(lying.bytes())).exists());
  }
  RecordBuilder empty(false);
  empty.tick(1, true, 7, 8, 0x1001, {});
  EXPECT_TRUE(pi::stack_of_tprof(pi::RecordView(empty.bytes())).exists());
}

TEST(Decode, DistinguishesDispatchesWakeupsAndMigrations) {
  pi::Dispatch dispatch{};
  pi::Wakeup wakeup{};
  pi::Migration migration{};
  RecordBuilder dispatched(false);
  dispatched.dispatch(1, 7, 8, PITRACE_STATE_PREEMPTED, {{}, {0x1001}, 0});
  const pi::RecordView record(dispatched.bytes());
  ASSERT_TRUE(pi::decode_dispatch(record, dispatch));
  EXPECT_FALSE(pi::decode_wakeup(record, wakeup));
  EXPECT_FALSE(pi::decode_migration(record, migration));
  EXPECT_EQ(dispatch.pid, 7u);
  EXPECT_EQ(dispatch.tid, 8u);
  EXPECT_EQ(dispatch.state, static_cast<uint32_t>(PITRACE_STATE_PREEMPTED));
  EXPECT_EQ(pi::stack_of_dispatch(record).frame(0), 0x1001ull);
  RecordBuilder woken(false);
  woken.wakeup(1, 8, 9, 3 | PITRACE_WAKEUP_INTERRUPT);
  ASSERT_TRUE(pi::decode_wakeup(pi::RecordView(woken.bytes()), wakeup));
  EXPECT_FALSE(pi::decode_dispatch(pi::RecordView(woken.bytes()), dispatch));
  EXPECT_EQ(wakeup.tid, 8u);
  EXPECT_EQ(wakeup.waker, 9u);
  EXPECT_EQ(wakeup.cpu, 3u);
  EXPECT_TRUE(wakeup.by_interrupt);
  RecordBuilder migrated(false);
  migrated.migrate(1, 8, 2);
  ASSERT_TRUE(pi::decode_migration(pi::RecordView(migrated.bytes()), migration));
  EXPECT_EQ(migration.tid, 8u);
  EXPECT_EQ(migration.cpu, 2u);
  pi::Running running{};
  RecordBuilder runs(false);
  runs.running(1, 7, 8);
  ASSERT_TRUE(pi::decode_running(pi::RecordView(runs.bytes()), running));
  EXPECT_FALSE(pi::decode_dispatch(pi::RecordView(runs.bytes()), dispatch));
  EXPECT_EQ(running.pid, 7u);
  EXPECT_EQ(running.tid, 8u);
}

}  // namespace
