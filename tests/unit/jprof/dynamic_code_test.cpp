// SPDX-License-Identifier: MIT
// Events about generated code that cannot be true.
#include "dynamic_code.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

namespace pi::jprof {
namespace {

class DynamicCode : public ::testing::Test {
 protected:
  // A page, and one that is not mapped.
  DynamicCode()
      : page_(static_cast<char*>(
            ::mmap(nullptr, 2 * size(), PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    EXPECT_NE(page_, MAP_FAILED);
    ::munmap(page_ + size(), size());
  }
  ~DynamicCode() override { ::munmap(page_, size()); }

  static size_t size() { return static_cast<size_t>(::getpagesize()); }

  char* const page_;
};

TEST_F(DynamicCode, CodeInMappedMemoryIsGenerated) {
  EXPECT_TRUE(is_generated(page_, 1));
  EXPECT_TRUE(is_generated(page_, static_cast<int32_t>(size())));
}

TEST_F(DynamicCode, CodeWithoutASizeOrBeyondTheMappedMemoryIsNot) {
  EXPECT_FALSE(is_generated(page_, 0));
  EXPECT_FALSE(is_generated(page_, -1));
  EXPECT_FALSE(is_generated(page_, static_cast<int32_t>(size()) + 1));
}

TEST(DynamicCodeOfAStub, AnEndOfZeroIsNotGenerated) {
  // As in JDK 25: 0x7f45bbbc5b20, and a size of 0x4443a4e0.
  EXPECT_FALSE(is_generated(reinterpret_cast<const void*>(0x7f45bbbc5b20), 0x4443a4e0));
}

}  // namespace
}  // namespace pi::jprof
