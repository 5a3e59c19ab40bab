// SPDX-License-Identifier: MIT
// Registers, bits and values on command lines.
#include "selection.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace pi::msr {
namespace {

Selection select(const std::string& text) {
  const auto selection = parse_selection(text);
  EXPECT_TRUE(selection) << text << ": " << (selection ? "" : selection.error().message);
  return selection ? *selection : Selection{};
}

TEST(MsrSelection, ANumberIsDecimalOrHexadecimal) {
  EXPECT_EQ(select("27").number, 0x1bu);
  EXPECT_EQ(select("0x1b").number, 0x1bu);
  EXPECT_EQ(select("0xC0000080").number, 0xc0000080u);
  EXPECT_TRUE(select("0x1b").whole());
  EXPECT_STREQ(select("0x1b").known->name, "IA32_APIC_BASE");
  EXPECT_EQ(select("0x12345").known, nullptr);
}

TEST(MsrSelection, NamesIgnoreCaseAndNeedNoPrefix) {
  for (const char* name : {"IA32_APIC_BASE", "ia32_apic_base", "apic_base"})
    EXPECT_EQ(select(name).number, 0x1bu) << name;
  EXPECT_EQ(select("TSC").number, 0x10u);
}

TEST(MsrSelection, BitsAreARangeOneBitOrAField) {
  const auto range = select("0xce:15-8");
  EXPECT_EQ(range.high, 15u);
  EXPECT_EQ(range.low, 8u);
  const auto bit = select("0x1b:11");
  EXPECT_EQ(bit.high, 11u);
  EXPECT_EQ(bit.low, 11u);
  const auto field = select("apic_base:base");
  EXPECT_EQ(field.high, 51u);
  EXPECT_EQ(field.low, 12u);
}

TEST(MsrSelection, AValueMustFitItsBits) {
  EXPECT_EQ(select("0x10=0xffffffffffffffff").value, ~uint64_t{0});
  EXPECT_EQ(select("0x1b0:BIAS=15").value, 15u);
  EXPECT_FALSE(parse_selection("0x1b0:BIAS=16"));
  EXPECT_FALSE(parse_selection("0x1b:11=2"));
  EXPECT_FALSE(parse_selection("0x10=0x10000000000000000"));
}

TEST(MsrSelection, MalformedTextIsRefused) {
  for (const char* text :
       {"", "=", ":", "NO_SUCH", "0x", "-1", "0x100000000", "0x1b:", "0x1b:64", "0x1b:8-9",
        "0x1b:8-", "0x1b:x", "TSC:BSP", "0x1b=", "0x1b=x", "0x1b=-1", "0x1b=1 ", "0x1b:1=1=1"})
    EXPECT_FALSE(parse_selection(text)) << text;
}

TEST(MsrSelection, BitFieldsAreExtractedAndInserted) {
  constexpr uint64_t value = 0x0123456789abcdef;
  EXPECT_EQ(bits_of(value, 63, 0), value);
  EXPECT_EQ(bits_of(value, 15, 8), 0xcdu);
  EXPECT_EQ(bits_of(value, 63, 60), 0x0u);
  EXPECT_EQ(bits_of(value, 0, 0), 1u);
  EXPECT_EQ(with_bits(value, 63, 0, 5), 5u);
  EXPECT_EQ(with_bits(value, 15, 8, 0), 0x0123456789ab00efu);
  EXPECT_EQ(with_bits(value, 63, 63, 1), 0x8123456789abcdefu);
  for (unsigned low = 0; low < 64; ++low)
    for (unsigned high = low; high < 64; ++high)
      EXPECT_EQ(with_bits(value, high, low, bits_of(value, high, low)), value);
}

TEST(MsrSelection, EveryKnownRegisterIsFoundAndItsFieldsDoNotOverlap) {
  std::set<std::string> names;
  for (const auto& each : known_registers()) {
    EXPECT_TRUE(names.insert(each.name).second) << each.name;
    EXPECT_EQ(select(each.name).number, each.number);
    uint64_t taken = 0;
    for (const auto& field : each.fields) {
      ASSERT_LE(field.low, field.high) << each.name;
      ASSERT_LT(field.high, 64u) << each.name;
      const uint64_t mask = with_bits(0, field.high, field.low, ~uint64_t{0});
      EXPECT_EQ(taken & mask, 0u) << each.name << " " << field.name;
      taken |= mask;
    }
  }
}

}  // namespace
}  // namespace pi::msr
