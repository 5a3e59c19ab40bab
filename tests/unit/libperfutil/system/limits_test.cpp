// SPDX-License-Identifier: MIT
// Advice when a limit of the process prevents something.
#include "system/limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

namespace pi::perfutil {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Limits, AThreadThatCannotBeStartedMayNeedMoreProcessesOrMoreMemory) {
  EXPECT_THAT(no_thread("tests").message,
              AllOf(HasSubstr("a thread for tests"), HasSubstr("'ulimit -u'"),
                    HasSubstr("'ulimit -v'"), HasSubstr("'ulimit -d'")));
}

TEST(Limits, ATraceBufferThatIsTooLargeForALimitOfFilesNamesThatLimit) {
  EXPECT_THAT(no_buffer_memory(64, EFBIG).message, HasSubstr("'ulimit -f'"));
  EXPECT_THAT(no_buffer_memory(64, EMFILE).message,
              AllOf(HasSubstr("'ulimit -n'"), Not(HasSubstr("smaller"))));
  EXPECT_THAT(no_buffer_memory(64, ENOMEM).message,
              AllOf(HasSubstr("64 bytes"), HasSubstr("Ask for smaller buffers")));
}

}  // namespace
}  // namespace pi::perfutil
