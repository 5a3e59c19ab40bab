// SPDX-License-Identifier: MIT
// Candidate paths of modules and debug files, and the checksum of .gnu_debuglink.
#include "elf/debug_search.h"

#include <gmock/gmock.h>

#include <random>
#include <vector>

#include "base/crc32.h"

namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(DebugSearch, SearchPathsAreSplitAtColons) {
  EXPECT_THAT(a2n::split_search_path(""), IsEmpty());
  EXPECT_THAT(a2n::split_search_path(":/a::/b:"), ElementsAre("/a", "/b"));
}

TEST(DebugSearch, ModulesAreSearchedByPathThenByName) {
  EXPECT_THAT(a2n::module_files({"/s", "/t/"}, "/usr/lib/libx.so"),
              ElementsAre("/s/usr/lib/libx.so", "/s/libx.so", "/t/usr/lib/libx.so", "/t/libx.so"));
  EXPECT_THAT(a2n::module_files({"/s"}, "libx.so"), ElementsAre("/s/libx.so"));
}

TEST(DebugSearch, BuildIdsAreSearchedInTheSystemDirectoryLast) {
  EXPECT_THAT(a2n::build_id_files({"/s"}, "abcdef"),
              ElementsAre("/s/.build-id/ab/cdef.debug", "/usr/lib/debug/.build-id/ab/cdef.debug"));
  EXPECT_THAT(a2n::build_id_files({"/s"}, ""), IsEmpty());
  EXPECT_THAT(a2n::build_id_files({"/s"}, "ab"), IsEmpty());
}

TEST(DebugSearch, DebugLinksAreSearchedInTheUsualOrder) {
  EXPECT_THAT(a2n::debug_link_files({"/s"}, "/usr/lib/libx.so", "libx.debug"),
              ElementsAre("/s/usr/lib/libx.debug", "/s/libx.debug", "/usr/lib/libx.debug",
                          "/usr/lib/.debug/libx.debug", "/usr/lib/debug/usr/lib/libx.debug"));
  EXPECT_THAT(a2n::debug_link_files({}, "/usr/lib/libx.so", ""), IsEmpty());
}

TEST(Crc32, TheStandardCheckValueIsCorrect) {
  const std::string digits = "123456789";
  const auto* bytes = reinterpret_cast<const unsigned char*>(digits.data());
  EXPECT_EQ(a2n::crc32(0, {bytes, digits.size()}), 0xcbf43926u);
  EXPECT_EQ(a2n::crc32(0, {}), 0u);
}

TEST(Crc32, PartsGiveTheChecksumOfTheWhole) {
  std::mt19937 random(1);
  std::vector<unsigned char> bytes(1000);
  for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(random());
  const uint32_t whole = a2n::crc32(0, bytes);
  for (size_t cut = 0; cut <= bytes.size(); cut += 7) {
    const std::span<const unsigned char> all(bytes);
    EXPECT_EQ(a2n::crc32(a2n::crc32(0, all.first(cut)), all.subspan(cut)), whole);
  }
}

}  // namespace
