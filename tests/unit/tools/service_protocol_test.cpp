// SPDX-License-Identifier: MIT
// Packets between commands and their server process, including hostile ones.
#include "service_protocol.h"

#include <gtest/gtest.h>

namespace pi::service {
namespace {

TEST(Protocol, AnEncodedRequestIsDecodedUnchanged) {
  const Request request{"get", "/tmp/a b.nrm2"};
  EXPECT_EQ(decode_request(encode_request(request)), request);
}

TEST(Protocol, MalformedRequestsAreRefused) {
  using namespace std::string_literals;
  EXPECT_FALSE(decode_request(""));
  EXPECT_FALSE(decode_request("on"));
  EXPECT_FALSE(decode_request("\0"s));
  EXPECT_FALSE(decode_request("on\0\0"s));
  EXPECT_FALSE(decode_request("on\0x"s));
  EXPECT_FALSE(decode_request(std::string(max_request_bytes, 'x') + '\0'));
  std::string many;
  for (size_t i = 0; i <= max_request_words; ++i) many += "1\0"s;
  EXPECT_FALSE(decode_request(many));
}

TEST(Protocol, ARequestWithEveryMajorFits) {
  Request request{"enable"};
  for (int major = 0; major < 256; ++major) request.push_back(std::to_string(major));
  EXPECT_EQ(decode_request(encode_request(request)), request);
}

TEST(Protocol, AnEncodedReplyKeepsCodeAndText) {
  const auto reply = decode_reply(encode_reply({-205, "first\nsecond"}));
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->rc, -205);
  EXPECT_EQ(reply->text, "first\nsecond");
  EXPECT_FALSE(decode_reply("0"));
  EXPECT_FALSE(decode_reply("x\n"));
  EXPECT_FALSE(decode_reply("\n"));
  EXPECT_EQ(encode_reply({0, std::string(1 << 20, 'x')}).size(), max_reply_bytes);
}

TEST(Protocol, ValuesAreFoundByTheCompleteKey) {
  const std::string lines = "rate=100\nrate_x=5\nnote=a=b\nnote=\nrat=1\nrate";
  EXPECT_EQ(value_of(lines, "rate"), "100");
  EXPECT_EQ(values_of(lines, "note"), (std::vector<std::string>{"a=b", ""}));
  EXPECT_EQ(value_of(lines, "none"), "");
}

}  // namespace
}  // namespace pi::service
