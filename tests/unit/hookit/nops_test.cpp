// SPDX-License-Identifier: MIT
#include "nops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace pi::hookit {
namespace {

using Bytes = std::vector<uint8_t>;
// As gcc and clang emit them, of 1 to 15 bytes.
const std::vector<Bytes> nops = {
    {0x90},
    {0x66, 0x90},
    {0x0f, 0x1f, 0x00},
    {0x0f, 0x1f, 0x40, 0x08},
    {0x0f, 0x1f, 0x44, 0x00, 0x08},
    {0x66, 0x0f, 0x1f, 0x44, 0x00, 0x08},
    {0x0f, 0x1f, 0x80, 0x00, 0x02, 0x00, 0x00},
    {0x0f, 0x1f, 0x84, 0x00, 0x00, 0x02, 0x00, 0x00},
    {0x66, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x02, 0x00, 0x00},
    {0x2e, 0x66, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x02, 0x00, 0x00},
};

bool finds(const Bytes& code, size_t patch, size_t end, bool one_nop) {
  PatchPlace place;
  return find_patch_place(code, place) && place.patch == patch && place.end == end &&
         place.one_nop == one_nop;
}

TEST(Nops, NopsOfEachLengthAreDecoded) {
  for (const auto& nop : nops) {
    EXPECT_EQ(nop_length(nop), nop.size());
    // What is cut off is no NOP.
    EXPECT_EQ(nop_length(std::span(nop).first(nop.size() - 1)), 0U) << nop.size();
  }
}

TEST(Nops, OtherInstructionsAreNoNops) {
  for (const Bytes& code : {Bytes{},
                            {0xc3},
                            {0x0f, 0x1e, 0xfa},
                            {0x0f, 0x1f, 0x08},
                            {0x0f, 0x1f, 0xc0},
                            {0x0f, 0x1f, 0x05, 0, 0, 0, 0},
                            {0x66, 0x89, 0xc0},
                            {0xf3, 0x90},
                            Bytes(16, 0x66)})
    EXPECT_EQ(nop_length(code), 0U);
}

TEST(Nops, EachLengthIsFilledWithNops) {
  for (size_t length = 1; length < 40; ++length) {
    Bytes code(length, 0xcc);
    fill_with_nops(code);
    size_t at = 0;
    while (at < length) {
      const size_t nop = nop_length(std::span(code).subspan(at));
      ASSERT_GT(nop, 0U);
      at += nop;
    }
    EXPECT_EQ(at, length);
  }
}

TEST(Nops, AFunctionIsPatchedAtItsFirstNop) {
  EXPECT_TRUE(finds({0x90, 0x90, 0x90, 0x90, 0x90, 0xc3}, 0, 5, false));
  EXPECT_TRUE(finds({0x0f, 0x1f, 0x44, 0x00, 0x08, 0xc3}, 0, 5, true));
  EXPECT_TRUE(finds({0xf3, 0x0f, 0x1e, 0xfa, 0x0f, 0x1f, 0x44, 0x00, 0x08}, 4, 9, true));
  EXPECT_TRUE(finds({0x66, 0x0f, 0x1f, 0x84, 0, 0, 2, 0, 0, 0xc3}, 0, 9, false));
  EXPECT_TRUE(finds({0x90, 0x0f, 0x1f, 0x44, 0x00, 0x08, 0xc3}, 0, 6, false));
}

TEST(Nops, AFunctionWithFewerThanFiveBytesOfNopsIsNotPatched) {
  PatchPlace place;
  for (const Bytes& code : {Bytes{},
                            {0x90, 0x90, 0x90, 0x90, 0xc3},
                            {0x90, 0x90, 0x90, 0x90},
                            {0xf3, 0x0f, 0x1e, 0xfa},
                            {0xf3, 0x0f, 0x1e, 0xfa, 0x90, 0xc3},
                            {0xc3, 0x90, 0x90, 0x90, 0x90, 0x90}})
    EXPECT_FALSE(find_patch_place(code, place));
}

}  // namespace
}  // namespace pi::hookit
