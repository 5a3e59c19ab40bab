// SPDX-License-Identifier: MIT
// Text in zlib data in base64 is unpacked again by zlib and a reference decoder.
#include <gtest/gtest.h>
#include <text/base64.h>
#include <text/deflate.h>
#include <zlib.h>

#include <random>
#include <string>

namespace {

std::string decode(const std::string& base64) {
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  EXPECT_EQ(base64.size() % 4, 0u);
  std::string bytes;
  uint32_t bits = 0, count = 0;
  for (const char c : base64) {
    if (c == '=') break;
    const size_t digit = digits.find(c);
    EXPECT_NE(digit, std::string::npos) << c;
    bits = bits << 6 | static_cast<uint32_t>(digit);
    count += 6;
    if (count >= 8) bytes += static_cast<char>(bits >> (count -= 8) & 0xff);
  }
  return bytes;
}

std::string inflated(const std::string& packed, size_t size) {
  std::string text(size + 1, '\0');
  uLongf length = text.size();
  EXPECT_EQ(uncompress(reinterpret_cast<Bytef*>(text.data()), &length,
                       reinterpret_cast<const Bytef*>(packed.data()), packed.size()),
            Z_OK);
  text.resize(length);
  return text;
}

TEST(Deflate, InBase64IsUnpackedToTheSameText) {
  std::mt19937 random(1);
  for (const size_t size : {0u, 1u, 2u, 3u, 1000u, 100'000u, 1'000'000u}) {
    std::string text;
    for (size_t i = 0; i < size; ++i) text += static_cast<char>(random() % (i % 2 ? 256 : 3));
    post::StringSink sink;
    post::Base64Writer encoded(sink);
    post::DeflateWriter packed(encoded, post::Container::zlib);
    for (size_t at = 0; at < size; at += 777) EXPECT_TRUE(packed.write(text.substr(at, 777)));
    EXPECT_TRUE(packed.finish() && encoded.finish());
    EXPECT_EQ(inflated(decode(sink.text), size), text) << size;
  }
}

class FullSink final : public post::Sink {
 public:
  bool write(std::string_view) override { return false; }
};

TEST(Deflate, AFailedWriteIsReported) {
  FullSink sink;
  post::DeflateWriter packed(sink, post::Container::gzip);
  packed.write("text");
  EXPECT_FALSE(packed.finish());
}

}  // namespace
