// SPDX-License-Identifier: MIT
// Demangling of C++ names, and of names that would expand exponentially.
#include "demangle/demangle.h"

#include <gtest/gtest.h>

#include "effort.h"

namespace {

using a2n::demangle;

TEST(Demangle, CppNamesAreDemangled) {
  EXPECT_EQ(demangle("_Z3foov"), "foo()");
  EXPECT_EQ(demangle("_ZNSt6vectorIiSaIiEE9push_backEOi"),
            "std::vector<int, std::allocator<int> >::push_back(int&&)");
  EXPECT_EQ(demangle("_ZTV3Foo"), "vtable for Foo");
  EXPECT_EQ(demangle("_ZN3fooC2Ev.cold"), "foo::foo() [clone .cold]");
  EXPECT_EQ(demangle("_GLOBAL__I_main"), "global constructors keyed to main");
  EXPECT_EQ(demangle("_GLOBAL__D__ZN3foo3barE"), "global destructors keyed to foo::bar");
}

TEST(Demangle, OtherNamesAreNotDemangled) {
  for (const char* name : {"main", "_start", "_Z", "_ZN", "__libc_start_main", "", "_", "Z3foov",
                           "_GLOBAL_", "_GLOBAL_OFFSET_TABLE_", "_GLOBAL__sub_I_main"}) {
    EXPECT_EQ(demangle(name), std::nullopt) << name;
  }
}

TEST(Demangle, ManySmallSubstitutionsAreDemangled) {
  std::string name = "_Z1fRK5names", arguments = "names const&";
  for (int i = 0; i < 200; ++i) {
    name += i % 2 == 0 ? "S1_" : "S_";
    arguments += i % 2 == 0 ? ", names const&" : ", names";
  }
  EXPECT_EQ(demangle(name.c_str()), "f(" + arguments + ")");
}

// f(pair<S,S>) nested: each level doubles the length of the demangled name.
TEST(Demangle, ExponentiallyGrowingNamesAreNotDemangled) {
  std::string name = "_Z1f1a";
  const auto digits = [](int n) {
    std::string text;
    do {
      text.insert(text.begin(), "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[n % 36]);
    } while ((n /= 36) > 0);
    return text;
  };
  std::string last = "S_";
  for (int level = 0; level < 60; ++level) {
    name += "1pI" + last + last + "E";
    last = "S" + digits(2 * level + 1) + "_";
  }
  const test_support::Effort effort;
  EXPECT_EQ(demangle(name.c_str()), std::nullopt);
  EXPECT_LT(effort.spent(), 10);
}

TEST(Demangle, DeepNestingDoesNotOverflowTheStack) {
  const test_support::Effort effort;
  for (const char* unit :
       {"P", "R", "N", "F", "I", "pp", "cv", "X", "J", "D", "M", "L_Z", "_Z", "nt"}) {
    std::string name = "_Z1f";
    while (name.size() < 8000) name += unit;
    demangle((name + "i").c_str());
    demangle(("_R" + name.substr(4)).c_str());
  }
  EXPECT_LT(effort.spent(), 10);
}

}  // namespace
