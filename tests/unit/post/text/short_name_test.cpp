// SPDX-License-Identifier: MIT
// Names of functions in fewer columns: the function's own name is kept longest.
#include <gmock/gmock.h>
#include <text/columns.h>
#include <text/short_name.h>

namespace {

using namespace post;
using testing::ElementsAre;
using testing::EndsWith;

TEST(WithoutArguments, LeavesTheNameAndItsTemplateArguments) {
  const struct {
    const char* name;
    const char* expected;
  } names[] = {
      {"main", "main"},
      {"", ""},
      {"ns::f<int (*)(char)>(int, char) const", "ns::f<int (*)(char)>"},
      {"(anonymous namespace)::f(int)", "(anonymous namespace)::f"},
      {"A::(anonymous namespace)::x", "A::(anonymous namespace)::x"},
      {"A::operator()(int) const", "A::operator()"},
      {"A::operator<(A const&)", "A::operator<"},
      {"void std::sort<int*>(int*, int*)", "std::sort<int*>"},
      {"std::enable_if<true, int>::type ns::f<int>(int)", "ns::f<int>"},
      {"decltype (a->b) f<A>(A&)", "f<A>"},
      {"auto f<(A)1>(A) [clone .cold]", "f<(A)1>"},
      {"std::ostream& operator<< <char>(std::ostream&, char)", "operator<< <char>"},
      {"bool operator< <int>(A<int> const&, A<int> const&)", "operator< <int>"},
      {"A::operator->() const", "A::operator->"},
      {"A::operator->*(int A::*)", "A::operator->*"},
      {"A::operator new(unsigned long)", "A::operator new"},
      {"operator delete[](void*)", "operator delete[]"},
      {"A::operator std::vector<int, std::allocator<int> >() const",
       "A::operator std::vector<int, std::allocator<int> >"},
      {"A::operator bool() const", "A::operator bool"},
      {"operator\"\" _km(unsigned long long)", "operator\"\" _km"},
      {"void (*f(int))(char)", "f"},
      {"f(int)::{lambda(int)#1}::operator()(int) const", "f(int)::{lambda(int)#1}::operator()"},
      {"f() const::{lambda()#1}::operator()() const", "f() const::{lambda()#1}::operator()"},
      {"f<((1)>(2))>(int)#2", "f<((1)>(2))>#2"},
      {"f(int) (inlined)", "f (inlined)"},
      {"my_operator(int)", "my_operator"},
      {"operators::f(int)", "operators::f"},
      // Rust
      {"<alloc::vec::Vec<T> as core::iter::Extend<T>>::extend",
       "<alloc::vec::Vec<T> as core::iter::Extend<T>>::extend"},
      {"<fn(i32) -> i32 as core::ops::Fn<(i32,)>>::call",
       "<fn(i32) -> i32 as core::ops::Fn<(i32,)>>::call"},
      // Java, Go and others
      {"java/util/HashMap.put(Ljava/lang/Object;I)Ljava/lang/Object;", "java/util/HashMap.put"},
      {"demo/Main.run([I)V", "demo/Main.run"},
      {"net/http.(*conn).serve", "net/http.(*conn).serve"},
      {"JS:~work /home/a.js:1:2", "JS:~work /home/a.js:1:2"},
      {"Function:~(anonymous) /home/a.js", "Function:~(anonymous) /home/a.js"},
      {"[libx.so+0x1234]", "[libx.so+0x1234]"},
      {"<plt>", "<plt>"},
      {"<<.text>>", "<<.text>>"},
      // Brackets that do not match
      {"f(int", "f(int"},
      {"f<int(char)", "f<int"},
      {"a>b(int)", "a>b"},
      {")(", ")("},
  };
  for (const auto& [name, expected] : names) EXPECT_EQ(without_arguments(name), expected) << name;
}

TEST(NameForms, BecomeShorterStepByStep) {
  EXPECT_THAT(
      name_forms("std::pair<int, int>& std::vector<std::map<int, A<char> > >::emplace_back<std::"
                 "pair<int, int> >(std::pair<int, int>&&)"),
      ElementsAre("std::pair<int, int>& std::vector<std::map<int, A<char> > >::emplace_back<std::"
                  "pair<int, int> >(std::pair<int, int>&&)",
                  "std::vector<std::map<int, A<char> > >::emplace_back<std::pair<int, int> >",
                  "std::vector<std::map<int, A<..> > >::emplace_back<std::pair<int, int> >",
                  "std::vector<std::map<..> >::emplace_back<std::pair<..> >",
                  "std::vector<..>::emplace_back<..>", "emplace_back<..>"));
  EXPECT_THAT(name_forms("(anonymous namespace)::Parser::take[abi:cxx11](char const*)"),
              ElementsAre("(anonymous namespace)::Parser::take[abi:cxx11](char const*)",
                          "(anonymous namespace)::Parser::take", "(anon)::Parser::take", "take"));
  EXPECT_THAT(
      name_forms("A::run(std::string) const::{lambda(int, B<C>)#2}::operator()(int, B<C>) const"),
      ElementsAre("A::run(std::string) const::{lambda(int, B<C>)#2}::operator()(int, B<C>) const",
                  "A::run::{lambda#2}::operator()", "run::{lambda#2}::operator()"));
  EXPECT_THAT(name_forms("<alloc::vec::Vec<a::T> as core::iter::Extend<a::T>>::extend"),
              ElementsAre("<alloc::vec::Vec<a::T> as core::iter::Extend<a::T>>::extend",
                          "<alloc::vec::Vec<..> as core::iter::Extend<..>>::extend",
                          "<Vec<..> as Extend<..>>::extend", "extend"));
  EXPECT_THAT(name_forms("core::str::<impl str>::parse::<core::num::NonZero<u32>>"),
              ElementsAre("core::str::<impl str>::parse::<core::num::NonZero<u32>>",
                          "core::str::<impl str>::parse::<core::num::NonZero<..>>",
                          "core::str::<impl str>::parse::<..>", "parse::<..>"));
  EXPECT_THAT(name_forms("sys_write"), ElementsAre("sys_write", "sys_write"));
}

// Names whose last form is more than their last word.
TEST(NameForms, TheLastOneIsTheFunctionsOwnName) {
  const struct {
    const char* name;
    const char* expected;
  } names[] = {
      {"A::B<int>::operator<(A const&) const", "operator<"},
      {"A::operator<< <int>(int)", "operator<< <..>"},
      {"A::operator()<int>(int)", "operator()<..>"},
      {"A::operator->() const", "operator->"},
      {"A::operator ns::B<int>() const", "operator ns::B<..>"},
      {"a::b::run::{{closure}}", "run::{{closure}}"},
      {"a::b::run::{closure#0}::{closure#1}", "run::{closure#0}::{closure#1}"},
      {"core::ptr::drop_in_place::<alloc::vec::Vec<u8>>", "drop_in_place::<..>"},
      {"core::ops::FnOnce::call_once{{vtable.shim}}", "call_once{{vtable.shim}}"},
      {"f()::{lambda()#1}::operator()() const::{lambda()#2}::operator()() const",
       "f::{lambda#1}::operator()::{lambda#2}::operator()"},
      {"A::~A()", "~A"},
      {"{closure#0}", "{closure#0}"},
  };
  for (const auto& [name, expected] : names) EXPECT_EQ(name_forms(name).back(), expected) << name;
}

TEST(ShortName, IsTheLongestFormThatFits) {
  const std::string name = "void ns::Table<Key<int>, Value>::insert(Key<int> const&, Value)";
  EXPECT_EQ(short_name(name, 100, "..."), name);
  EXPECT_EQ(short_name(name, 62, "..."), "ns::Table<Key<int>, Value>::insert");
  EXPECT_EQ(short_name(name, 34, "..."), "ns::Table<Key<int>, Value>::insert");
  EXPECT_EQ(short_name(name, 33, "..."), "ns::Table<Key<..>, Value>::insert");
  EXPECT_EQ(short_name(name, 32, "..."), "ns::Table<..>::insert");
  EXPECT_EQ(short_name(name, 20, "..."), "ns::Ta.....>::insert");
  EXPECT_EQ(short_name(name, 9, "..."), "...insert");
  EXPECT_EQ(short_name(name, 8, "…"), "n…insert");
  EXPECT_EQ(short_name(name, 5, "..."), "i...t");
  EXPECT_EQ(short_name("a_function_of_the_kernel", 10, "..."), "a_fu...nel");
}

// No name takes more columns than the limit.
TEST(ShortName, NeverTakesMoreColumns) {
  std::string deep;
  for (int i = 0; i < 200; ++i) deep += "A<";
  std::string wild = "operator operator<(<{[::)>>->operator()&&const::{lambda(}#1";
  for (const std::string& name :
       {deep, deep + "(int)", wild, wild + wild, std::string("::"), std::string("f(") + deep,
        std::string(20000, 'x') + "(int)", std::string("größe::äöü(ß)")})
    for (size_t columns = 0; columns < 60; columns += 7)
      EXPECT_LE(columns_of(short_name(name, columns, "…")), columns) << name;
}

}  // namespace
