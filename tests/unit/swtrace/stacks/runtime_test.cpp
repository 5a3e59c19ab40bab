// SPDX-License-Identifier: MIT
// Code without tables in processes with a runtime: what files and memory say about it, and stacks
// through it.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <future>
#include <random>
#include <thread>

#include <pi/files.h>

#include "fake_jvm.h"
#include "stacks/hotspot.h"
#include "stacks/memory_thread.h"
#include "stacks/runtime_process.h"
#include "stacks/runtime_processes.h"
#include "stacks/stack_resolver.h"
#include "table/table_builder.h"
#include "temp_dir.h"

namespace pi::swtrace {
namespace {

using fake_jvm::FileTable;
using fake_jvm::Loaded;
using fake_jvm::read_own;
using testing::ElementsAre;
using testing::IsEmpty;
using unwind::Runtime;

TEST(SwtraceRuntime, TheFileOfAJavaVirtualMachineIsKnownByItsSymbols) {
  const FileTable file(FAKE_HOTSPOT);
  EXPECT_EQ(file.table.runtime(), Runtime::hotspot);
  const Loaded library(FAKE_HOTSPOT);
  const auto symbols = file.table.symbols();
  ASSERT_EQ(symbols.size(), unwind::hotspot_symbols.size());
  for (size_t i = 0; i < symbols.size(); ++i)
    EXPECT_EQ(library.bias + symbols[i], reinterpret_cast<uint64_t>(library.symbol<void>(
                                             std::string(unwind::hotspot_symbols[i]).c_str())));
  EXPECT_EQ(FileTable("/proc/self/exe").table.runtime(), Runtime::none);
}

TEST(SwtraceRuntime, TheFileOfPythonIsKnownByItsTrampoline) {
  EXPECT_EQ(FileTable(FAKE_PYTHON).table.runtime(), Runtime::python);
}

TEST(SwtraceRuntime, BuiltInCodeOfV8HasTheRuleOfItsCalls) {
  const FileTable file(FAKE_V8);
  EXPECT_EQ(file.table.runtime(), Runtime::v8);
  const Loaded library(FAKE_V8);
  const auto rule_at = [&](const char* name, uint64_t offset) {
    return file.table
        .find(reinterpret_cast<uint64_t>(library.symbol<void>(name)) + offset - library.bias)
        .cfa;
  };
  for (const uint64_t offset : {16u, 1000u, 307200u}) {
    EXPECT_EQ(rule_at("fake_builtins", offset)->flags, unwind::rule_runtime);
    EXPECT_EQ(rule_at("fake_builtins", offset)->base, unwind::frame_pointer);
  }
  EXPECT_EQ(rule_at("behind_builtins", 0)->flags, 0);
  EXPECT_EQ(rule_at("behind_builtins", 0)->kind, unwind::CfaKind::offset);
  EXPECT_EQ(rule_at("fake_assembly", 1000)->kind, unwind::CfaKind::none);
}

using SwtraceHotspot = fake_jvm::FakeHotspot;

TEST_F(SwtraceHotspot, ItsCodeAndItsOptionAreRead) {
  *library_.symbol<bool>("fake_keeps_frames") = true;
  auto found = facts();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->code.begin, code_);
  EXPECT_EQ(found->code.end, code_ + 4096);
  EXPECT_EQ(found->interpreter.begin, code_ + 1024);
  EXPECT_EQ(found->interpreter.end, code_ + 1024 + 512);
  EXPECT_TRUE(found->keeps_frames);
  *library_.symbol<bool>("fake_keeps_frames") = false;
  found = facts();
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->keeps_frames);
  // It has just started.
  *library_.symbol<const void*>("fake_low") = nullptr;
  EXPECT_FALSE(facts());
}

TEST_F(SwtraceHotspot, HostileMemoryIsReadALimitedNumberOfTimes) {
  std::mt19937_64 random(20);
  for (int i = 0; i < 50; ++i) {
    uint64_t reads = 0;
    // Each word leads anywhere; the tables have no end.
    (void)facts([&](uint64_t address, std::span<std::byte> bytes) {
      ++reads;
      if (i == 0) {
        std::ranges::fill(bytes, std::byte{8});
        return true;
      }
      if (random() % 8 != 0 && read_own(address, bytes)) return true;
      for (std::byte& one : bytes) one = static_cast<std::byte>(random());
      return random() % 16 != 0;
    });
    EXPECT_LT(reads, 100'000u);
  }
}

// The memory is a pipe that no one writes to: to open it takes for ever.
TEST(SwtraceRuntimeProcess, AProcessWhoseMemoryHangsCostsOneThread) {
  const test::TempDir directory;
  const std::string pipe = directory.path() + "/pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  MemoryThread thread(std::chrono::milliseconds(50));
  const auto process_of = [](const std::string& memory) {
    return std::make_shared<RuntimeProcess>(memory, MappedRuntime{Runtime::v8, 0, {}});
  };
  const auto hostile = process_of(pipe), other = process_of("/proc/self/mem");
  unwind::FrameOfCode frame;
  const auto own = reinterpret_cast<uint64_t>(&read_own);
  const auto ask = [&](RuntimeProcess& process, uint64_t address) {
    thread.check();
    return process.frame_at(address, thread, false, frame);
  };
  for (uint64_t address = 4096; address < 12288; address += 1024) (void)ask(*hostile, address);
  for (int i = 0; i < 5000 && ask(*other, own) == RuntimeProcess::Answer::later; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(ask(*other, own), RuntimeProcess::Answer::yes);
  EXPECT_EQ(thread.hanging(), 1u);
  EXPECT_EQ(ask(*hostile, 5120), RuntimeProcess::Answer::no);
  EXPECT_EQ(ask(*hostile, 1 << 20), RuntimeProcess::Answer::no);
  const UniqueFd end(::open(pipe.c_str(), O_WRONLY | O_CLOEXEC));
}

TEST(SwtraceRuntimeProcesses, ThoseThatAreTooManyAreCounted) {
  RuntimeProcesses processes;
  for (uint32_t pid = 1; pid <= 64; ++pid) EXPECT_NE(processes.of(pid, {}), nullptr);
  EXPECT_EQ(processes.refused(), 0u);
  for (const uint32_t pid : {65u, 65u, 66u}) EXPECT_EQ(processes.of(pid, {}), nullptr);
  EXPECT_EQ(processes.refused(), 2u);
  processes.end(7);
  EXPECT_NE(processes.of(65, {}), nullptr);
}

TEST(SwtraceMemoryThread, AJobThatDoesNotEndKeepsNoOtherWaiting) {
  MemoryThread thread(std::chrono::milliseconds(50));
  struct Jobs {
    std::promise<void> release;
    std::atomic<int> done = 0;
  };
  const auto jobs = std::make_shared<Jobs>();
  ASSERT_TRUE(thread.add([jobs, wait = jobs->release.get_future().share()] { wait.wait(); }));
  ASSERT_TRUE(thread.add([jobs] { ++jobs->done; }));
  for (int i = 0; i < 5000 && jobs->done == 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    thread.check();
  }
  EXPECT_EQ(jobs->done, 1);
  EXPECT_EQ(thread.hanging(), 1u);
  jobs->release.set_value();
}

// ---- stacks ----

// A table with one function that nothing calls, of a file with that runtime.
Result<SealedTable> table_with(Runtime runtime) {
  unwind::TableBuilder builder;
  unwind::Rule rule;
  rule.cfa = {unwind::CfaKind::end, unwind::stack_pointer, 0, 0, 8, 0, 0};
  builder.begin_function(0, 256);
  builder.add_row(0, rule);
  builder.set_runtime(runtime, {});
  const UniqueFd memory(::memfd_create("table", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  EXPECT_EQ(write_all(memory.get(), builder.take()), 0);
  return std::move(*SealedTable::of(memory));
}

class SwtraceRuntimeStacks : public testing::Test {
 protected:
  static constexpr uint64_t file = 0x7e0000000000, stack = 0x7ffd00000000;

  SwtraceRuntimeStacks() : resolver_([this](const UniqueFd&) { return table_with(runtime_); }) {
    // push rbp; mov rbp, rsp; call; pop rbp; ret; then jmp [r10+rbx*8]
    constexpr std::array<uint8_t, 15> instructions = {0x55, 0x48, 0x8b, 0xec, 0xe8, 0,    0,   0,
                                                      0,    0x5d, 0xc3, 0x41, 0xff, 0x24, 0xda};
    code_ = ::mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    std::copy(instructions.begin(), instructions.end(), static_cast<uint8_t*>(code_));
    resolver_.begin();
    struct stat facts {};
    ::stat("/proc/self/exe", &facts);
    map(file, 4096, facts.st_ino, "/proc/self/exe");
    map(at(), 8192, 0, "//anon");
  }
  ~SwtraceRuntimeStacks() override { ::munmap(code_, 8192); }

  uint64_t at() const { return reinterpret_cast<uint64_t>(code_); }
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
  // Registers: the instruction, and a frame pointer so many bytes above the stack pointer.
  std::vector<uint64_t> resolve(uint64_t instruction, const std::vector<uint64_t>& words,
                                uint64_t frame, bool last = false) {
    pi_stack_copy copy{};
    copy.time = 5;
    copy.id = ++last_id_;
    copy.pid = static_cast<uint32_t>(::getpid());
    copy.registers[unwind::stack_pointer] = stack;
    copy.registers[unwind::frame_pointer] = stack + frame;
    copy.registers[unwind::return_address] = instruction;
    copy.bytes = words.data();
    copy.length = words.size() * sizeof(uint64_t);
    std::array<uint64_t, 16> addresses{};
    for (int i = 0; i < 5000 && !resolver_.resolve(copy, last, addresses, frames_); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return {addresses.begin(), addresses.begin() + frames_.frames};
  }

  Runtime runtime_ = Runtime::v8;
  StackResolver resolver_;
  void* code_ = nullptr;
  pi_stack_frames frames_{};
  uint64_t last_id_ = 0;
};

TEST_F(SwtraceRuntimeStacks, AStackThroughRunTimeCodeIsWhole) {
  // Behind a call: by the frame pointer. The caller is run-time code, too.
  const std::vector<uint64_t> words = {0, 0, stack + 40, at() + 9, 0, 0, file + 8};
  EXPECT_THAT(resolve(at() + 4, words, 16), ElementsAre(at() + 9, file + 8));
  EXPECT_EQ(frames_.end, PI_STACK_WHOLE);
  EXPECT_EQ(frames_.by_table, 2u);
}

TEST_F(SwtraceRuntimeStacks, TrampolinesOfPythonAreFollowedByTheirInstructions) {
  runtime_ = Runtime::python;
  // sub rsp, 8; call rcx; add rsp, 8; ret
  constexpr std::array<uint8_t, 11> instructions = {0x48, 0x83, 0xec, 8, 0xff, 0xd1,
                                                    0x48, 0x83, 0xc4, 8, 0xc3};
  std::copy(instructions.begin(), instructions.end(), static_cast<uint8_t*>(code_) + 512);
  const uint64_t behind_call = at() + 518;
  // A frame pointer would lead to the last word.
  const std::vector<uint64_t> words = {0, behind_call, 0, file + 8, 0, 0, at() + 9};
  EXPECT_THAT(resolve(behind_call, words, 40), ElementsAre(behind_call, file + 8));
  EXPECT_EQ(frames_.end, PI_STACK_WHOLE);
  EXPECT_EQ(frames_.by_table, 2u);
  // Other code without tables is not known to return so.
  const std::vector<uint64_t> other = {0, at() + 11, 0, file + 8};
  (void)resolve(behind_call, other, 40);
  EXPECT_EQ(frames_.by_table, 1u);
}

TEST_F(SwtraceRuntimeStacks, TheCallerOfAFunctionWithoutItsFrameIsNotMissing) {
  // The frame pointer is the caller's. Before the push, and at the return.
  const std::vector<uint64_t> words = {at() + 9, 0, 0, 0, file + 8};
  for (const uint64_t instruction : {at(), at() + 10}) {
    EXPECT_THAT(resolve(instruction, words, 24), ElementsAre(at() + 9, file + 8));
    EXPECT_EQ(frames_.end, PI_STACK_WHOLE);
    EXPECT_EQ(frames_.by_table, 2u);
  }
}

TEST_F(SwtraceRuntimeStacks, WhatTheCodeDoesNotTellIsAGuessIfTheStackDoesNotEither) {
  // At the jump: a frame, or the return address on top?
  const std::vector<uint64_t> words = {at() + 9, 0, 0, 0, file + 8};
  EXPECT_THAT(resolve(at() + 11, words, 24), ElementsAre(file + 8));
  EXPECT_EQ(frames_.end, PI_STACK_UNKNOWN);
  EXPECT_EQ(frames_.by_table, 0u);
  // On top is no address of code.
  const std::vector<uint64_t> framed = {1, 0, 0, 0, file + 8};
  EXPECT_THAT(resolve(at() + 11, framed, 24), ElementsAre(file + 8));
  EXPECT_EQ(frames_.end, PI_STACK_WHOLE);
}

TEST_F(SwtraceRuntimeStacks, AReturnAddressOutsideOfCodeIsNotFollowed) {
  EXPECT_THAT(resolve(at() + 4, {0, 0, stack + 40, 0x1234}, 16), IsEmpty());
  EXPECT_EQ(frames_.end, PI_STACK_UNKNOWN);
}

TEST_F(SwtraceRuntimeStacks, WithoutTimeWhatWasReadEarlierWillDo) {
  const std::vector<uint64_t> words = {at() + 9, 0, 0, 0, file + 8};
  (void)resolve(at(), words, 24);
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // it is read again usually
  EXPECT_THAT(resolve(at(), words, 24, true), ElementsAre(at() + 9, file + 8));
  EXPECT_EQ(frames_.by_table, 2u);
  EXPECT_THAT(resolver_.notes(), IsEmpty());
  (void)resolve(at() + 10, words, 24, true);
  EXPECT_EQ(frames_.by_table, 0u);
  EXPECT_THAT(resolver_.notes(), ElementsAre(testing::HasSubstr("1 user stack(s) in code")));
}

TEST_F(SwtraceRuntimeStacks, WhatWasReadIsUsedAfterTheEndOfTheProcess) {
  const std::vector<uint64_t> words = {at() + 9, 0, 0, 0, file + 8};
  (void)resolve(at(), words, 24);
  pi_process_change change{};
  change.kind = PI_PROCESS_ENDED;
  change.pid = static_cast<uint32_t>(::getpid());
  change.time = 6;
  change.path = "";
  resolver_.change(change);
  EXPECT_THAT(resolve(at(), words, 24), ElementsAre(at() + 9, file + 8));
  EXPECT_EQ(frames_.end, PI_STACK_WHOLE);
  // No instruction that was not asked for before.
  (void)resolve(at() + 10, words, 24);
  EXPECT_EQ(frames_.by_table, 0u);
}

}  // namespace
}  // namespace pi::swtrace
