// SPDX-License-Identifier: MIT
// Trees of inlined frames from a JVM's compile record.
#include "inlining.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <jvmticmlr.h>

#include <deque>

namespace pi::jprof {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

jmethodID method(uintptr_t number) {
  return reinterpret_cast<jmethodID>(number);
}

void* at(uintptr_t address) {
  return reinterpret_cast<void*>(address);
}

constexpr uintptr_t start = 0x10000;

struct Frame {
  uintptr_t method;
  jint bci;
};

// Builds a record as the JVM does: for each pc the frames, innermost first.
class Record {
 public:
  Record() {
    record_.header.kind = JVMTI_CMLR_INLINE_INFO;
    record_.header.majorinfoversion = JVMTI_CMLR_MAJOR_VERSION_1;
  }
  void add(uintptr_t pc, std::initializer_list<Frame> frames) {
    auto& methods = methods_.emplace_back();
    auto& bcis = bcis_.emplace_back();
    for (const auto& frame : frames) {
      methods.push_back(method(frame.method));
      bcis.push_back(frame.bci);
    }
    places_.push_back({at(pc), static_cast<jint>(frames.size()), methods.data(), bcis.data()});
    record_.numpcs = static_cast<jint>(places_.size());
    record_.pcinfo = places_.data();
  }
  Inlining read() const { return read_inlining(method(1), &record_, at(start), 0x100); }
  jvmtiCompiledMethodLoadInlineRecord record_{};

 private:
  std::deque<std::vector<jmethodID>> methods_;
  std::deque<std::vector<jint>> bcis_;
  std::vector<PCStackInfo> places_;
};

std::vector<std::vector<int64_t>> frames_of(const Inlining& inlining) {
  std::vector<std::vector<int64_t>> list;
  for (const auto& frame : inlining.frames) list.push_back({frame.parent, frame.method, frame.bci});
  return list;
}

std::vector<std::vector<uint32_t>> ranges_of(const Inlining& inlining) {
  std::vector<std::vector<uint32_t>> list;
  for (const auto& range : inlining.ranges) list.push_back({range.end, range.frame});
  return list;
}

using Row = std::vector<int64_t>;
using Pair = std::vector<uint32_t>;

TEST(Inlining, WithoutRecordThereIsNoInlining) {
  const auto inlining = read_inlining(method(1), nullptr, at(start), 0x100);
  EXPECT_THAT(inlining.methods, ElementsAre(method(1)));
  EXPECT_THAT(inlining.frames, IsEmpty());
  EXPECT_THAT(inlining.ranges, IsEmpty());
}

TEST(Inlining, OuterFramesAreSharedAndEqualRangesAreMerged) {
  Record record;
  record.add(start + 0x10, {{1, 0}});
  record.add(start + 0x18, {{3, 2}, {2, 7}, {1, 4}});
  record.add(start + 0x20, {{3, 2}, {2, 7}, {1, 4}});
  record.add(start + 0x28, {{2, 9}, {1, 4}});
  record.add(start + 0x30, {{1, 4}});
  const auto inlining = record.read();
  EXPECT_THAT(inlining.methods, ElementsAre(method(1), method(2), method(3)));
  EXPECT_THAT(frames_of(inlining),
              ElementsAre(Row{0, 0, 0}, Row{0, 0, 4}, Row{2, 1, 7}, Row{3, 2, 2}, Row{2, 1, 9}));
  EXPECT_THAT(ranges_of(inlining),
              ElementsAre(Pair{0x10, 1}, Pair{0x20, 4}, Pair{0x28, 5}, Pair{0x30, 2}));
}

TEST(Inlining, RecursionIsNotMistakenForTheSameFrame) {
  Record record;
  record.add(start + 8, {{1, 3}, {1, 3}});
  record.add(start + 16, {{1, 3}});
  EXPECT_THAT(frames_of(record.read()), ElementsAre(Row{0, 0, 3}, Row{1, 0, 3}));
  EXPECT_THAT(ranges_of(record.read()), ElementsAre(Pair{8, 2}, Pair{16, 1}));
}

TEST(Inlining, UnknownBytecodeIndexesAreMerged) {
  Record record;
  record.add(start + 8, {{1, -1}});
  record.add(start + 16, {{1, -3}});
  EXPECT_THAT(frames_of(record.read()), ElementsAre(Row{0, 0, -1}));
  EXPECT_THAT(ranges_of(record.read()), ElementsAre(Pair{16, 1}));
}

TEST(Inlining, InvalidUnorderedAndEmptyRangesAreSkipped) {
  Record record;
  record.add(start - 8, {{1, 1}});
  record.add(start, {{1, 1}});
  record.add(start + 0x20, {{1, 2}});
  record.add(start + 0x20, {{1, 3}});
  record.add(start + 0x10, {{1, 4}});
  record.add(start + 0x30, {});
  record.add(start + 0x100, {{1, 5}});
  record.add(start + 0x101, {{1, 6}});
  EXPECT_THAT(ranges_of(record.read()), ElementsAre(Pair{0x20, 1}, Pair{0x100, 2}));
}

TEST(Inlining, OtherRecordKindsAndVersionsAreSkipped) {
  Record record;
  record.add(start + 8, {{1, 0}});
  jvmtiCompiledMethodLoadRecordHeader other{};
  other.kind = JVMTI_CMLR_DUMMY;
  other.next = &record.record_.header;
  EXPECT_EQ(read_inlining(method(1), &other, at(start), 0x100).ranges.size(), 1u);
  record.record_.header.majorinfoversion = 2;
  EXPECT_THAT(read_inlining(method(1), &other, at(start), 0x100).ranges, IsEmpty());
}

}  // namespace
}  // namespace pi::jprof
