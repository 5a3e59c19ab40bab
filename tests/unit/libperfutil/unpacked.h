// SPDX-License-Identifier: MIT
// Decompresses a text of a trace file.
#ifndef TESTS_UNPACKED_H
#define TESTS_UNPACKED_H

#include <gtest/gtest.h>
#include <zstd.h>

#include <string>

namespace pi::test {

inline std::string unpacked(const std::string& frame) {
  std::string text(ZSTD_getFrameContentSize(frame.data(), frame.size()), '\0');
  EXPECT_EQ(ZSTD_decompress(text.data(), text.size(), frame.data(), frame.size()), text.size());
  return text;
}

}  // namespace pi::test

#endif  // TESTS_UNPACKED_H
