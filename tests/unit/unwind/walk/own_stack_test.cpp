// SPDX-License-Identifier: MIT
// This program's own stacks, of code without frame pointers, compared with the C library's
// backtrace(): from a function, through the C library and a lambda, from a signal handler, in
// recursion.
#include <execinfo.h>
#include <gtest/gtest.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <vector>

#include "sanitized.h"
#include "tables.h"
#include "walk/walk_stack.h"

namespace {

using unwind::CapturedStack;
using unwind::Code;
using unwind::End;
using unwind::Walked;

struct Mapped {
  uint64_t begin, end, bias;
  const unwind::Table* table;
};

// The executable segments of this process with their files' tables.
class OwnCode {
 public:
  OwnCode() {
    ::dl_iterate_phdr(
        [](dl_phdr_info* info, size_t, void* self) {
          static_cast<OwnCode*>(self)->add(*info);
          return 0;
        },
        this);
  }

  Code find(uint64_t address) const {
    for (const Mapped& mapped : mapped_)
      if (address >= mapped.begin && address < mapped.end) return {true, mapped.table, mapped.bias};
    return {};
  }

 private:
  void add(const dl_phdr_info& info) {
    const std::string name = info.dlpi_name[0] == '/' ? info.dlpi_name : "/proc/self/exe";
    for (int i = 0; i < info.dlpi_phnum; ++i) {
      const auto& segment = info.dlpi_phdr[i];
      if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
      const uint64_t begin = info.dlpi_addr + segment.p_vaddr;
      const unwind::Table* table = nullptr;
      // The vdso has no file, and is not called here.
      if (std::string(info.dlpi_name).find("vdso") == std::string::npos) {
        auto& owned = tables_[name];
        if (owned.bytes.empty()) owned = unwind_test::compile_file(name);
        table = &owned.table;
      }
      mapped_.push_back({begin, begin + segment.p_memsz, begin - segment.p_offset, table});
    }
  }

  std::map<std::string, unwind_test::OwnedTable> tables_;
  std::vector<Mapped> mapped_;
};

const OwnCode& own_code() {
  static const OwnCode code;
  return code;
}

constexpr size_t captured_bytes = 8192;

unwind::Registers registers_of(const ucontext_t& context) {
  // By DWARF number.
  constexpr int order[] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
                           REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
                           REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
  unwind::Registers registers{};
  for (size_t i = 0; i < std::size(order); ++i)
    registers[i] = static_cast<uint64_t>(context.uc_mcontext.gregs[order[i]]);
  return registers;
}

// The end of the main thread's stack.
uint64_t stack_end() {
  pthread_attr_t attributes;
  void* begin = nullptr;
  size_t size = 0;
  ::pthread_getattr_np(::pthread_self(), &attributes);
  ::pthread_attr_getstack(&attributes, &begin, &size);
  ::pthread_attr_destroy(&attributes);
  return reinterpret_cast<uint64_t>(begin) + size;
}

std::vector<uint64_t> walk(const unwind::Registers& registers, Walked& walked) {
  const uint64_t at = registers[unwind::stack_pointer];
  std::vector<std::byte> bytes(std::min<uint64_t>(captured_bytes, stack_end() - at));
  std::memcpy(bytes.data(), reinterpret_cast<const void*>(at), bytes.size());
  std::vector<uint64_t> frames(127);
  walked = unwind::walk_stack(
      {registers, bytes}, [](uint64_t address) { return own_code().find(address); }, frames);
  frames.resize(walked.frames);
  return frames;
}

// What both find from here outwards.
struct Both {
  Walked walked;
  std::vector<uint64_t> ours, theirs;
};

[[gnu::noinline]] Both here() {
  Both both;
  ucontext_t context;
  ::getcontext(&context);
  void* frames[128];
  const int count = ::backtrace(frames, 128);
  for (int i = 1; i < count; ++i) both.theirs.push_back(reinterpret_cast<uint64_t>(frames[i]));
  both.ours = walk(registers_of(context), both.walked);
  return both;
}

void expect_equal(const Both& both) {
  EXPECT_EQ(both.walked.end, End::whole);
  EXPECT_EQ(both.walked.by_table, both.walked.frames);
  EXPECT_GT(both.ours.size(), 5u);
  EXPECT_EQ(both.ours, both.theirs);
}

class UnwindOwnStack : public testing::Test {
 protected:
  UnwindOwnStack() { (void)own_code(); }
  void SetUp() override {
#if TEST_IS_SANITIZED
    GTEST_SKIP() << "sanitizers do not allow other frames' memory to be read";
#endif
  }
};

TEST_F(UnwindOwnStack, EqualsBacktraceInAFunction) {
  expect_equal(here());
}

TEST_F(UnwindOwnStack, EqualsBacktraceThroughALambdaAndTheCLibrary) {
  static Both both;
  int numbers[] = {3, 1, 2};
  std::qsort(numbers, 3, sizeof *numbers, [](const void*, const void*) {
    const std::function<int()> inner = [] {
      both = here();
      return 0;
    };
    return inner();
  });
  expect_equal(both);
}

[[gnu::noinline]] int recurse(int depth, Both& both) {
  if (depth == 0) {
    both = here();
    return 1;
  }
  const int below = recurse(depth - 1, both);
  return below + depth;
}

TEST_F(UnwindOwnStack, EqualsBacktraceInRecursion) {
  Both both;
  recurse(40, both);
  expect_equal(both);
  EXPECT_GT(both.ours.size(), 40u);
}

Both in_handler;

void on_signal(int, siginfo_t*, void*) {
  in_handler = here();
}

// The alternate stack is below the other one in the captured bytes, which therefore hold both.
TEST_F(UnwindOwnStack, EqualsBacktraceFromASignalHandler) {
  struct sigaction action {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO;
  struct sigaction before {};
  ASSERT_EQ(::sigaction(SIGUSR1, &action, &before), 0);
  ::raise(SIGUSR1);
  ASSERT_EQ(::sigaction(SIGUSR1, &before, nullptr), 0);
  EXPECT_EQ(in_handler.walked.end, End::whole);
  ASSERT_EQ(in_handler.ours.size(), in_handler.theirs.size());
  // backtrace() gives the interrupted instruction itself, walk_stack() the address behind its
  // first byte.
  size_t different = 0;
  for (size_t i = 0; i < in_handler.ours.size(); ++i)
    if (in_handler.ours[i] != in_handler.theirs[i]) {
      EXPECT_EQ(in_handler.ours[i], in_handler.theirs[i] + 1);
      ++different;
    }
  EXPECT_EQ(different, 1u);
}

}  // namespace
