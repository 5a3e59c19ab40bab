// SPDX-License-Identifier: MIT
// Unpacks a gzip file in memory.
#ifndef TESTS_SUPPORT_GUNZIP_H
#define TESTS_SUPPORT_GUNZIP_H

#include <gtest/gtest.h>
#include <zlib.h>

#include <string>

namespace test_support {

// At most a megabyte.
inline std::string gunzip(const std::string& gzip) {
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
  std::string text(1 << 20, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(gzip.data()));
  stream.avail_in = static_cast<uInt>(gzip.size());
  stream.next_out = reinterpret_cast<Bytef*>(text.data());
  stream.avail_out = static_cast<uInt>(text.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  text.resize(stream.total_out);
  inflateEnd(&stream);
  return text;
}

}  // namespace test_support

#endif  // TESTS_SUPPORT_GUNZIP_H
