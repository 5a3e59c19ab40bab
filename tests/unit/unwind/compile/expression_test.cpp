// SPDX-License-Identifier: MIT
// The DWARF expressions of unwind tables.
#include "compile/expression.h"

#include <dwarf.h>
#include <gtest/gtest.h>

#include <string>

namespace {

using unwind::CfaKind;

std::string expression(std::initializer_list<int> bytes) {
  std::string text;
  for (const int byte : bytes) text += static_cast<char>(byte);
  return text;
}

TEST(UnwindExpression, TheLinkersExpressionForAPltPushesAWordFromItsEleventhByteOn) {
  const auto cfa = unwind::cfa_of_expression(
      expression({DW_OP_breg7, 8, DW_OP_breg16, 0, DW_OP_lit15, DW_OP_and, DW_OP_lit11, DW_OP_ge,
                  DW_OP_lit3, DW_OP_shl, DW_OP_plus}));
  EXPECT_EQ(cfa.kind, CfaKind::plt);
  EXPECT_EQ(cfa.base, 7);
  EXPECT_EQ(cfa.offset, 8);
  EXPECT_EQ(cfa.second, 11);
}

TEST(UnwindExpression, TheWordAtARegisterPlusAnOffset) {
  auto cfa = unwind::cfa_of_expression(expression({DW_OP_breg6, 0x78, DW_OP_deref}));
  EXPECT_EQ(cfa.kind, CfaKind::dereference);
  EXPECT_EQ(cfa.base, 6);
  EXPECT_EQ(cfa.offset, -8);
  EXPECT_EQ(cfa.second, 0);
  cfa = unwind::cfa_of_expression(
      expression({DW_OP_breg7, 0xa0, 0x01, DW_OP_deref, DW_OP_plus_uconst, 8}));
  EXPECT_EQ(cfa.kind, CfaKind::dereference);
  EXPECT_EQ(cfa.offset, 160);
  EXPECT_EQ(cfa.second, 8);
  cfa = unwind::cfa_of_expression(expression({DW_OP_breg10, 0}));
  EXPECT_EQ(cfa.kind, CfaKind::offset);
  EXPECT_EQ(cfa.base, 10);
}

TEST(UnwindExpression, OthersAndTruncatedOnesAreNotSupported) {
  const std::string plt = expression({DW_OP_breg7, 8, DW_OP_breg16, 0, DW_OP_lit15, DW_OP_and,
                                      DW_OP_lit11, DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus});
  for (size_t size = 3; size < plt.size(); ++size)
    EXPECT_EQ(unwind::cfa_of_expression(plt.substr(0, size)).kind, CfaKind::unsupported) << size;
  EXPECT_EQ(unwind::cfa_of_expression("").kind, CfaKind::unsupported);
  EXPECT_EQ(unwind::cfa_of_expression(expression({DW_OP_addr, 0})).kind, CfaKind::unsupported);
  EXPECT_EQ(unwind::cfa_of_expression(expression({DW_OP_breg0 + 17, 0})).kind,
            CfaKind::unsupported);
  EXPECT_EQ(unwind::cfa_of_expression(expression({DW_OP_breg7, 0, DW_OP_deref, DW_OP_deref})).kind,
            CfaKind::unsupported);
  EXPECT_FALSE(unwind::sum_of_expression(expression({DW_OP_breg7, 0x80})));
  EXPECT_FALSE(unwind::sum_of_expression(expression({DW_OP_breg7, 0, DW_OP_deref})));
}

}  // namespace
