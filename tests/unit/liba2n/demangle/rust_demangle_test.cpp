// SPDX-License-Identifier: MIT
// Rust's two manglings: pairs of mangled and readable names, and damaged names.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "demangle/demangle.h"
#include "demangle/punycode.h"

namespace {

struct Pair {
  const char* mangled;
  const char* readable;
};

const Pair legacy_pairs[] = {
    {"_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad"},
    {"_ZN3foo3bar17h05af221e174051e9E", "foo::bar"},
    {"_ZN3foo3bar17h05af221e174051e9E.llvm.1234", "foo::bar"},
    {"_ZN3foo3bar17h05af221e174051e9E.cold", "foo::bar [clone .cold]"},
    {"_ZN3foo3bar17h05af221e174051e9E.12", "foo::bar [clone .12]"},
    {"_ZN3foo3bar17h05af221e174051e9E.llvm.99.part.0.cold.1",
     "foo::bar [clone .part.0] [clone .cold.1]"},
    {"_ZN3foo3bar17h05af221e174051e9E.-odd", "foo::bar.-odd"},
    {"_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$"
     "3bar17h930b740aa94f1d3aE",
     "<Test + 'static as foo::Bar<Test>>::bar"},
    {"_ZN36_$LT$$RF$T$u20$as$u20$fmt..Debug$GT$3fmt17h0123456789abcdefE",
     "<&T as fmt::Debug>::fmt"},
    {"_ZN13test$C$$BP$$SP14_$LP$$RP$x$u7e$17h0123456789abcdefE", nullptr},
    {"_ZN20test$C$$BP$$SP$$u7e$3foo17h0123456789abcdefE", "test,*@~::foo"},
    {"_ZN12test$LP$x$RP3foo17h0123456789abcdefE", "test(x$RP::foo"},
};

const Pair v0_pairs[] = {
    {"_RNvC6_123foo3bar", "123foo::bar"},
    {"_RNvCs1234_7mycrate3foo", "mycrate::foo"},
    {"_RNCNCNgCs6DXkGYLi8lr_2cc5spawn00B5_", "cc::spawn::{closure#0}::{closure#0}"},
    {"_RNCINkXs25_NgCsbmNqQUJIY6D_4core5sliceINyB9_4IterhENuNgNoBb_"
     "4iter8iterator8Iterator9rpositionNCNgNpB9_"
     "6memchr7memrchrs_0E0Bb_",
     "<core::slice::Iter<u8> as "
     "core::iter::iterator::Iterator>::rposition::<core::slice::memchr::memrchr::"
     "{closure#1}>::{closure#0}"},
    {"_RINbNbCskIICzLVDPPb_5alloc5alloc8box_freeDINbNiB4_5boxed5FnBoxuEp6OutputuEL_ECs1iopQbuBiw2_"
     "3std",
     "alloc::alloc::box_free::<dyn alloc::boxed::FnBox<(), Output = ()>>"},
    {"_RMC0INtC8arrayvec8ArrayVechKj7b_E", "<arrayvec::ArrayVec<u8, 123>>"},
    {"_RMCs4fqI2P2rA04_13const_genericINtB0_8UnsignedKhb_E", "<const_generic::Unsigned<11>>"},
    {"_RMCs4fqI2P2rA04_13const_genericINtB0_6SignedKanb_E", "<const_generic::Signed<-11>>"},
    {"_RMCs4fqI2P2rA04_13const_genericINtB0_4BoolKb1_E", "<const_generic::Bool<true>>"},
    {"_RMCs4fqI2P2rA04_13const_genericINtB0_4CharKc76_E", "<const_generic::Char<'v'>>"},
    {"_RMCs4fqI2P2rA04_13const_genericINtB0_4CharKca_E", "<const_generic::Char<'\\n'>>"},
    {"_RMCs4fqI2P2rA04_13const_genericINtB0_4CharKc2202_E",
     "<const_generic::Char<'\xe2\x88\x82'>>"},
    {"_RNvNvMCs4fqI2P2rA04_13const_genericINtB4_3FooKpE3foo3FOO",
     "<const_generic::Foo<_>>::foo::FOO"},
    {"_RC3foo.llvm.9D1C9369", "foo"},
    {"_RC3foo.cold", "foo [clone .cold]"},
    {"_RNvC3foo3bar.llvm.9D1C9369.7", "foo::bar [clone .7]"},
    {"_RIC3fooAhj8_E", "foo::<[u8; 8]>"},
    {"_RIC3fooShE", "foo::<[u8]>"},
    {"_RIC3fooThlEE", "foo::<(u8, i32)>"},
    {"_RIC3fooThEE", "foo::<(u8,)>"},
    {"_RIC3fooTEE", "foo::<()>"},
    {"_RIC3fooRehE", "foo::<&str, u8>"},
    {"_RIC3fooQOhPeE", "foo::<&mut *mut u8, *const str>"},
    {"_RIC3fooFUKChEuE", "foo::<unsafe extern \"C\" fn(u8)>"},
    {"_RIC3fooFK8fast_abiEhE", "foo::<extern \"fast-abi\" fn() -> u8>"},
    {"_RIC3fooFG_RL0_hEuE", "foo::<for<'a> fn(&'a u8)>"},
    {"_RIC3fooL_E", "foo::<'_>"},
    {"_RIC3fooDC3barEL_E", "foo::<dyn bar>"},
    {"_RNvYhC3bar3baz", "<u8 as bar>::baz"},
    {"_RNSC3foo3barC3std", "foo::{shim:bar#0}"},
    {"_RMC0INtC3foo1BKRe616263_E", "<foo::B<\"abc\">>"},
    {"_RMC0INtC3foo1BKRj1_E", "<foo::B<{&1}>>"},
    {"_RMC0INtC3foo1BKVNtC3foo1CThb1_EE", "<foo::B<{foo::C(177)}>>"},
    {"_RMC0INtC3foo1BKVNtC3foo1CTh1_b1_EE", "<foo::B<{foo::C(1, true)}>>"},
    {"_RMC0INtC3foo1BKVNtC3foo1CS1xh1_EE", "<foo::B<{foo::C { x: 1 }}>>"},
    {"_RNqCs4fqI2P2rA04_11utf8_identsu30____7hkackfecea1cbdathfdh9hlq6y",
     "utf8_idents::\u10e1\u10d0\u10ed\u10db\u10d4\u10da\u10d0\u10d3_"
     "\u10d2\u10d4\u10db\u10e0\u10d8\u10d4\u10da"
     "\u10d8_\u10e1\u10d0\u10d3\u10d8\u10da\u10d8"},
};

TEST(RustDemangle, LegacyNamesLoseHashAndEscapes) {
  for (const Pair& pair : legacy_pairs) {
    const auto readable = a2n::demangle_rust_legacy(pair.mangled);
    EXPECT_EQ(readable.has_value(), pair.readable != nullptr) << pair.mangled;
    EXPECT_EQ(readable.value_or(""), pair.readable ? pair.readable : "") << pair.mangled;
  }
}

TEST(RustDemangle, CppNamesAreNotLegacyRust) {
  for (const char* name : {"_ZN3foo3barEv", "_ZN3foo3barE", "_ZN3foo17h0123456789abcdeE",
                           "_ZN17h0123456789abcdefE", "_ZN3foo17h0123456789abcdefEv"}) {
    EXPECT_EQ(a2n::demangle_rust_legacy(name), std::nullopt) << name;
  }
}

TEST(RustDemangle, V0NamesAreDemangled) {
  for (const Pair& pair : v0_pairs) {
    const auto readable = a2n::demangle_rust_v0(pair.mangled);
    EXPECT_EQ(readable.has_value(), pair.readable != nullptr) << pair.mangled;
    EXPECT_EQ(readable.value_or(""), pair.readable ? pair.readable : "") << pair.mangled;
  }
}

TEST(RustDemangle, DamagedV0NamesAreRefused) {
  for (const char* name :
       {"_R", "_RN", "_RNvC3foo", "_RNvC9foo3bar", "_RC3foo!", "_RB_", "_RNvB_3foo", "_RIC3foo",
        "_R0C3foo", "_RIC3fooRL5_hE", "_RIC3fooKb2_E", "_RIC3fooKcd800_E"}) {
    EXPECT_EQ(a2n::demangle_rust_v0(name), std::nullopt) << name;
  }
}

TEST(RustDemangle, DamagedV0NamesExceedNoLimit) {
  std::mt19937 random(3);
  for (const Pair& pair : v0_pairs) {
    const std::string good = pair.mangled;
    for (size_t at = 2; at < good.size(); ++at) {
      for (int k = 0; k < 20; ++k) {
        std::string bad = good;
        bad[at] = static_cast<char>(random() % 95 + 32);
        const auto readable = a2n::demangle_rust_v0(bad);
        EXPECT_LE(readable ? readable->size() : 0, size_t{1} << 17);
      }
      a2n::demangle_rust_v0(good.substr(0, at));
    }
  }
}

TEST(RustDemangle, NestedBackReferencesAreLimited) {
  // Each tuple refers twice to the previous one.
  std::string name = "_RIC1a";
  size_t previous = 0;
  const auto base62 = [](size_t n) {
    if (n == 0) return std::string("_");
    std::string text;
    for (--n;; n /= 62) {
      text.insert(text.begin(),
                  "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"[n % 62]);
      if (n < 62) break;
    }
    return text + "_";
  };
  for (int level = 0; level < 60; ++level) {
    const size_t here = name.size() - 2;
    if (level == 0) {
      name += "ThhE";
    } else {
      name += "TB" + base62(previous) + "B" + base62(previous) + "E";
    }
    previous = here;
  }
  EXPECT_EQ(a2n::demangle_rust_v0(name + "E"), std::nullopt);
}

TEST(Punycode, DecodesValidTextOnly) {
  EXPECT_EQ(a2n::decode_punycode("mnchen_3ya"), "m\xc3\xbcnchen");
  EXPECT_EQ(a2n::decode_punycode(""), std::nullopt);
  EXPECT_EQ(a2n::decode_punycode("abc_"), std::nullopt);
  EXPECT_EQ(a2n::decode_punycode("99999999999"), std::nullopt);
}

}  // namespace
