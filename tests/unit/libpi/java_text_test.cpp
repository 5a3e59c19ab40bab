// SPDX-License-Identifier: MIT
// Conversion of Java's modified UTF-8, and names of methods.
#include <gtest/gtest.h>

#include <pi/java_text.h>

namespace pi {
namespace {

const std::string replaced = "\xef\xbf\xbd";

TEST(ModifiedUtf8, ValidUtf8IsUnchanged) {
  for (const std::string text : {"", "java/lang/String.hashCode()I", "\xc3\xb6", "\xe9\x9d\xa2"})
    EXPECT_EQ(plain_utf8(text), text);
}

TEST(ModifiedUtf8, ASurrogatePairBecomesOneCharacter) {
  EXPECT_EQ(plain_utf8("\xed\xa1\x82\xed\xbe\xb7"), "\xf0\xa0\xae\xb7");      // U+20BB7
  EXPECT_EQ(plain_utf8("a\xed\xaf\xbf\xed\xbf\xbf!"), "a\xf4\x8f\xbf\xbf!");  // U+10FFFF
}

TEST(ModifiedUtf8, AnEncodedZeroBecomesOneByte) {
  EXPECT_EQ(plain_utf8("a\xc0\x80z"), std::string("a\0z", 3));
}

TEST(ModifiedUtf8, LoneSurrogatesAndInvalidUtf8AreReplaced) {
  EXPECT_EQ(plain_utf8("\xed\xa1\x82"), replaced);
  EXPECT_EQ(plain_utf8("\xed\xa1\x82x"), replaced + "x");
  EXPECT_EQ(plain_utf8("\xed\xbe\xb7"), replaced);
  EXPECT_EQ(plain_utf8("\xed\xa1\x82\xed\xa1\x82\xed\xbe\xb7"), replaced + "\xf0\xa0\xae\xb7");
  EXPECT_EQ(plain_utf8("\xff\x80"
                       "a"),
            replaced + replaced + "a");
  EXPECT_EQ(plain_utf8("a\xe9\x9d"), "a" + replaced + replaced);
  EXPECT_EQ(plain_utf8("\xf0\xa0\xae\xb7").size(), 4 * replaced.size());
}

TEST(ModifiedUtf8, PlainUtf8IsConvertedForJava) {
  for (const std::string text : {"", "a \xc3\xb6", "\xe9\x9d\xa2"})
    EXPECT_EQ(modified_utf8(text), text);
  EXPECT_EQ(modified_utf8("\xf0\xa0\xae\xb7!"), "\xed\xa1\x82\xed\xbe\xb7!");
  EXPECT_EQ(modified_utf8(std::string("a\0z", 3)), "a\xc0\x80z");
  EXPECT_EQ(plain_utf8(modified_utf8("\xf4\x8f\xbf\xbf")), "\xf4\x8f\xbf\xbf");
}

TEST(ModifiedUtf8, InvalidPlainUtf8IsReplaced) {
  EXPECT_EQ(modified_utf8("\xff"), replaced);
  EXPECT_EQ(modified_utf8("\xf0\xa0\xae").size(), 3 * replaced.size());
  EXPECT_EQ(modified_utf8("\xf4\x90\x80\x80").size(), 4 * replaced.size());  // beyond U+10FFFF
  EXPECT_EQ(modified_utf8("\xed\xa1\x82"), replaced);                        // half a character
}

TEST(JavaMethodName, HasTheFormOfLogs) {
  EXPECT_EQ(java_method_name("java/lang/String", "hashCode", "()I"),
            "java/lang/String.hashCode()I");
  EXPECT_EQ(java_method_name("java/lang/invoke/MethodHandle", "linkToStatic", "(I)V"),
            "java/lang/invoke/MethodHandle.<linker>");
  EXPECT_EQ(java_method_name("Other", "linkToStatic", "(I)V"), "Other.linkToStatic(I)V");
}

}  // namespace
}  // namespace pi
