// SPDX-License-Identifier: MIT
// Names of interpreted methods: what a Java virtual machine's memory says, and stacks with them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <future>
#include <memory>
#include <random>
#include <thread>

#include <pi/files.h>
#include <pitrace/abi.h>

#include "fake_jvm.h"
#include "stacks/frame_names.h"
#include "stacks/memory_thread.h"
#include "stacks/runtime_process.h"
#include "stacks/stack_resolver.h"

namespace pi::swtrace {
namespace {

using fake_jvm::FakeCodeOfMethod;
using fake_jvm::FakeHotspot;
using fake_jvm::FakeMethod;
using fake_jvm::Method;
using fake_jvm::read_own;
using testing::ElementsAre;
using testing::IsEmpty;
using unwind::Runtime;

class SwtraceMethodNames : public FakeHotspot {};

TEST_F(SwtraceMethodNames, MethodsAreNamedAsInLogs) {
  const auto found = facts();
  ASSERT_TRUE(found && found->methods);
  const auto name = [&](const Method& method) {
    return read_method_name(read_own, *found->methods, method.at());
  };
  EXPECT_EQ(name({"java/lang/String", "hashCode", "()I"}), "java/lang/String.hashCode()I");
  EXPECT_EQ(name({"a/B$$Lambda+0x00007f8e1c001000", "apply", "()V"}),
            "a/B$$Lambda.0x00007f8e1c001000.apply()V");
  EXPECT_EQ(name({"a+0xyz", "b", "()V"}), "a+0xyz.b()V");
  EXPECT_EQ(name({"java/lang/invoke/MethodHandle", "invokeBasic", "()V"}),
            "java/lang/invoke/MethodHandle.<linker>");
  // Names are the program's own.
  EXPECT_EQ(name({"a\nb", "\x1b[31m c", std::string_view("(\0;)V", 5)}), "a_b._[31m_c(_;)V");
  EXPECT_EQ(name({"\xff", "\xc0\x80", "\xed\xa1\x82"}), "\xef\xbf\xbd._\xef\xbf\xbd");
}

TEST_F(SwtraceMethodNames, WhatIsNoMethodHasNoName) {
  const auto found = facts();
  ASSERT_TRUE(found && found->methods);
  const auto name = [&](uint64_t at) { return read_method_name(read_own, *found->methods, at); };
  Method method("a", "b", "c");
  ASSERT_TRUE(name(method.at()));
  for (const uint64_t at : {uint64_t{0}, uint64_t{8}, method.at() + 4, UINT64_MAX - 7})
    EXPECT_FALSE(name(at));
  for (const int index : {0, 1, 5, 65535}) {
    method.code.name = static_cast<uint16_t>(index);
    EXPECT_FALSE(name(method.at())) << index;
  }
  method.code.name = 3;
  // Structures that contain themselves.
  method.method.code = reinterpret_cast<const FakeCodeOfMethod*>(&method.method);
  method.method.vtable = method.at();
  EXPECT_FALSE(name(method.at()));
}

TEST_F(SwtraceMethodNames, AMethodIsReadInFewReadsWhateverIsThere) {
  const auto found = facts();
  ASSERT_TRUE(found && found->methods);
  std::mt19937_64 random(45);
  size_t named = 0;
  for (int i = 0; i < 300; ++i) {
    size_t reads = 0, bytes_read = 0;
    const auto name = read_method_name(
        [&](uint64_t, std::span<std::byte> bytes) {
          ++reads;
          bytes_read += bytes.size();
          for (std::byte& one : bytes) one = static_cast<std::byte>(random());
          // An aligned pointer, a positive number.
          bytes.front() &= std::byte{0xf8};
          bytes.back() &= std::byte{0x7f};
          return random() % 64 != 0;
        },
        *found->methods, 4096);
    EXPECT_LE(reads, 15u);
    EXPECT_LE(bytes_read, 3200u);
    if (!name) continue;
    ++named;
    EXPECT_LE(name->size(), 16384u);
    for (const char c : *name) EXPECT_GT(static_cast<unsigned char>(c), ' ');
  }
  EXPECT_GT(named, 50u);
}

TEST(SwtraceFrameNames, EqualNamesHaveOneNumber) {
  FrameNames names;
  size_t used = 0;
  EXPECT_EQ(names.at(1), nullptr);
  EXPECT_EQ(names.add("a", used), 1u);
  EXPECT_EQ(names.add("b", used), 2u);
  EXPECT_EQ(names.add("a", used), 1u);
  EXPECT_STREQ(names.at(2), "b");
  EXPECT_EQ(names.at(0), nullptr);
  EXPECT_EQ(names.at(3), nullptr);
}

TEST(SwtraceFrameNames, AProcessCannotTakeTheSpaceOfOthers) {
  FrameNames names({10000, 4000});
  size_t used = 0, of_other = 0;
  int added = 0;
  while (names.add(std::to_string(added), used) != 0) ++added;
  EXPECT_GT(added, 10);
  EXPECT_LE(used, 4000u);
  EXPECT_EQ(names.refused(), 1u);
  EXPECT_NE(names.add("0", used), 0u);
  EXPECT_NE(names.add("other", of_other), 0u);
}

// ---- stacks ----

class SwtraceInterpretedStacks : public FakeHotspot {
 protected:
  static constexpr uint64_t stack = 0x7ffd00000000;

  SwtraceInterpretedStacks()
      : resolver_([this](const UniqueFd&) -> Result<SealedTable> {
          const UniqueFd memory(::memfd_create("table", MFD_CLOEXEC | MFD_ALLOW_SEALING));
          EXPECT_EQ(write_all(memory.get(), file_.bytes), 0);
          return std::move(*SealedTable::of(memory));
        }) {
    *library_.symbol<bool>("fake_keeps_frames") = true;
  }

  void begin() {
    resolver_.begin();
    struct stat facts {};
    ::stat(FAKE_HOTSPOT, &facts);
    map(library_.bias, 1 << 20, facts.st_ino, FAKE_HOTSPOT);
    map(code_, 4096, 0, "//anon");
  }
  void map(uint64_t address, uint64_t bytes, uint64_t inode, const char* path) {
    pi_process_change change{};
    change.kind = PI_PROCESS_MAPPED;
    change.pid = static_cast<uint32_t>(::getpid());
    change.time = 1;
    change.address = address;
    change.bytes = bytes;
    change.inode = inode;
    change.path = path;
    resolver_.change(change);
  }
  uint64_t function() const {
    return reinterpret_cast<uint64_t>(library_.symbol<void>("fake_function"));
  }
  // The thread is in the interpreter, with this stack.
  std::vector<uint64_t> resolve_words(const std::vector<uint64_t>& words, uint64_t frame,
                                      uint64_t rbx) {
    pi_stack_copy copy{};
    copy.time = 5;
    copy.id = ++last_id_;
    copy.pid = static_cast<uint32_t>(::getpid());
    copy.registers[unwind::stack_pointer] = stack;
    copy.registers[unwind::frame_pointer] = frame;
    copy.registers[unwind::rbx] = rbx;
    copy.registers[unwind::return_address] = code_ + 1040;
    copy.bytes = words.data();
    copy.length = words.size() * sizeof(uint64_t);
    std::array<uint64_t, 3> addresses{};
    for (int i = 0; i < 5000 && !resolver_.resolve(copy, false, addresses, frames_); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return {addresses.begin(), addresses.begin() + frames_.frames};
  }
  // In a method that another one has called, which fake_function() has called.
  std::vector<uint64_t> resolve(uint64_t inner, uint64_t outer) {
    return resolve_words(
        {1, inner, 0, 0, stack + 80, code_ + 1064, 0, outer, 0, 0, 0, function() + 1, 0},
        stack + 32, 0);
  }
  std::string name(uint64_t frame) const {
    const char* text = resolver_.frame_name(PITRACE_FRAME_NUMBER(frame));
    return text ? text : "";
  }

  const Method inner_{"Main", "inner", "()V"}, outer_{"Main", "outer", "()V"};
  StackResolver resolver_;
  pi_stack_frames frames_{};
  uint64_t last_id_ = 0;
};

TEST_F(SwtraceInterpretedStacks, MethodsStandForAddressesInTheInterpreter) {
  resolver_.name_frames();
  begin();
  const auto frames = resolve(inner_.at(), outer_.at());
  ASSERT_EQ(frames.size(), 3u);
  EXPECT_TRUE(PITRACE_FRAME_IS_OWN(frames[0]));
  EXPECT_EQ(name(frames[0]), "Main.inner()V");
  EXPECT_TRUE(PITRACE_FRAME_IS_NAMED(frames[1]));
  EXPECT_EQ(name(frames[1]), "Main.outer()V");
  EXPECT_EQ(frames[2], function() + 1);
  EXPECT_EQ(frames_.by_table, 3u);
  EXPECT_EQ(frames_.end, PI_STACK_WHOLE);
  EXPECT_THAT(resolver_.notes(), IsEmpty());
  // The names are those of a trace.
  resolver_.begin();
  EXPECT_EQ(resolver_.frame_name(1), nullptr);
}

TEST_F(SwtraceInterpretedStacks, WithoutARequestTheyAreAddresses) {
  begin();
  EXPECT_THAT(resolve(inner_.at(), outer_.at()), ElementsAre(code_ + 1064, function() + 1));
}

TEST_F(SwtraceInterpretedStacks, AMethodThatIsBeingEnteredIsInARegister) {
  resolver_.name_frames();
  begin();
  // The frame pointer was set, but the method not yet pushed.
  const auto frames = resolve_words(
      {stack + 48, code_ + 1064, 0, outer_.at(), 0, 0, 0, function() + 1, 0}, stack, inner_.at());
  ASSERT_EQ(frames.size(), 3u);
  EXPECT_EQ(name(frames[0]), "Main.inner()V");
  EXPECT_EQ(name(frames[1]), "Main.outer()V");
}

TEST_F(SwtraceInterpretedStacks, WhatIsNoMethodKeepsItsAddressAndIsCounted) {
  resolver_.name_frames();
  begin();
  EXPECT_THAT(resolve(8, 16), ElementsAre(code_ + 1064, function() + 1));
  EXPECT_THAT(resolver_.notes(), ElementsAre(testing::HasSubstr("1 frame(s) of interpreted")));
}

TEST_F(SwtraceMethodNames, AProcessWithManyMethodsIsReadALimitedNumberOfTimes) {
  *library_.symbol<bool>("fake_keeps_frames") = true;
  const auto symbols = file_.table.symbols();
  const auto names = std::make_shared<FrameNames>();
  const auto process = std::make_shared<RuntimeProcess>(
      "/proc/self/mem",
      MappedRuntime{Runtime::hotspot, library_.bias, {symbols.begin(), symbols.end()}}, names);
  MemoryThread thread;
  const auto wait_for = [](const auto& ask) {
    for (int i = 0; i < 20000 && ask() == RuntimeProcess::Answer::later; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  };
  wait_for([&] { return process->is_code(code_ + 1040, thread); });
  ASSERT_TRUE(process->interprets(code_ + 1040));
  const Method method("Main", "main", "()V");
  const std::vector<FakeMethod> methods(20000, method.method);
  std::vector<uint64_t> places;
  for (const FakeMethod& each : methods) places.push_back(reinterpret_cast<uint64_t>(&each));
  std::vector<uint32_t> numbers(places.size());
  const auto now = RuntimeProcess::Clock::now();
  // Once, so that no time passes between two calls.
  EXPECT_EQ(process->name_methods({places, now}, thread, false, numbers),
            RuntimeProcess::Answer::later);
  std::promise<void> done;
  ASSERT_TRUE(thread.add([&] { done.set_value(); }));
  done.get_future().wait();
  (void)process->name_methods({places, now}, thread, true, numbers);
  const auto named = std::ranges::count(numbers, 1u);
  EXPECT_GE(named, 4096);
  EXPECT_LT(named, 8000);
}

TEST_F(SwtraceInterpretedStacks, ANameThatIsReadAgainIsTheNewOne) {
  resolver_.name_frames();
  begin();
  Method other("Other", "other", "()V");
  Method changing("Main", "first", "()V");
  EXPECT_EQ(name(resolve(inner_.at(), changing.at())[1]), "Main.first()V");
  changing.method.code = &other.code;
  // For a second it is the old one.
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  EXPECT_EQ(name(resolve(inner_.at(), changing.at())[1]), "Other.other()V");
}

}  // namespace
}  // namespace pi::swtrace
