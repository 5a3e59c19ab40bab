// SPDX-License-Identifier: MIT
// A failure of any allocation is a return code, never an exception, and the library stays usable.
#include <sys/stat.h>
#include <gmock/gmock.h>

#include "a2n_fixture.h"
#include "heap.h"
#include "input_stride.h"

namespace {

class Memory : public A2nTest {
 protected:
  // In libmini.so this symbol is only in MiniDebugInfo.
  static void SetUpTestSuite() {
    helper_ = truth::value_of(truth::functions(truth::fixture("libnoid.so")), "local_helper");
  }
  static uint64_t helper_;
};
uint64_t Memory::helper_ = 0;

TEST_F(Memory, EveryFailingAllocationReturnsAnError) {
  const std::string file = truth::fixture("libmini.so");
  const uint64_t bias = 0x7f0000000000;
  const auto loads = truth::loads(file);
  struct stat facts {};
  ASSERT_EQ(::stat(file.c_str(), &facts), 0);
  bool complete = false;
  long allocations = 0;
  for (; !complete && allocations < 20'000; ++allocations) {
    A2nInit();
    test_support::set_allocations_left(allocations);
    complete = true;
    bool known_codes = true;
    const auto done = [&](int rc) {  // no assertion here: it would allocate memory
      complete = complete && rc != A2N_MEMORY_ERROR;
      known_codes = known_codes && (rc <= A2N_NO_MODULE || rc == A2N_MEMORY_ERROR);
    };
    A2nSetDemangleCppNamesMode(1);
    done(A2nSetKallsymsFileLocation(file.c_str(), 0, 100));
    done(A2nSetProcessName(1, "a name that is too long for a small string"));
    for (const truth::Load& load : loads) {
      if (!load.executable) continue;
      done(A2nAddModuleEx(1, bias + load.vaddr, up(load.memory_size), file.c_str(), 0, load.offset,
                          facts.st_ino));
    }
    done(A2nForkProcess(1, 2));
    done(A2nCloneProcess(2, 3));
    done(A2nExecProcess(1));
    done(A2nReleaseProcess(2));
    SYMDATA data{};
    done(A2nGetSymbol(3, bias + helper_, &data));
    done(A2nGetSymbol(3, 0xffffffff81000000, &data));
    test_support::set_allocations_left(-1);
    ASSERT_TRUE(known_codes) << allocations;
    if (!complete) continue;
    EXPECT_EQ(A2nGetSymbol(3, bias + helper_, &data), A2N_SUCCESS);
    EXPECT_STREQ(data.sym_name, "local_helper");
  }
  EXPECT_TRUE(complete);
  EXPECT_GT(allocations, 50);
}

TEST_F(Memory, ALookupSucceedsAfterAMemoryError) {
  const std::string file = truth::fixture("libmini.so");
  const uint64_t bias = 0x7f0000000000;
  const long stride = test_support::input_stride() == 1 ? 1 : 3;
  for (long allocations = 0; allocations < 200; allocations += stride) {
    A2nInit();
    map(file, bias);
    SYMDATA data{};
    test_support::set_allocations_left(allocations);
    const int first = A2nGetSymbol(pid, bias + helper_, &data);
    test_support::set_allocations_left(-1);
    EXPECT_THAT(first, testing::AnyOf(A2N_SUCCESS, A2N_MEMORY_ERROR));
    EXPECT_EQ(A2nGetSymbol(pid, bias + helper_, &data), A2N_SUCCESS) << allocations;
    EXPECT_STREQ(data.sym_name, "local_helper") << allocations;
  }
}

}  // namespace
