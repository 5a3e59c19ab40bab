// SPDX-License-Identifier: MIT
// Which files are above a limit, and lines of headers.
#include <folder.h>
#include <gmock/gmock.h>
#include <sender.h>

namespace {

using namespace push;
using testing::ElementsAre;

TEST(PushFolder, TheOldestFilesAreAboveTheLimit) {
  const std::vector<Folder::File> files{{"1", 10}, {"2", 30}, {"3", 20}};
  EXPECT_EQ(count_above(files, 60), 0u);
  EXPECT_EQ(count_above(files, 59), 1u);
  EXPECT_EQ(count_above(files, 50), 1u);
  EXPECT_EQ(count_above(files, 49), 2u);
  EXPECT_EQ(count_above(files, 19), 3u);
  EXPECT_EQ(count_above({}, 0), 0u);
}

TEST(PushHeaders, LinesAreHeadersAndOtherLinesAreRefused) {
  const auto headers = headers_in("# mine\n\nAuthorization: Bearer x\r\nX-Scope-OrgID:7");
  ASSERT_TRUE(headers);
  EXPECT_THAT(*headers, ElementsAre("Authorization: Bearer x", "X-Scope-OrgID:7"));
  for (const char* line : {"none", ": x", "A B: x", "A: \x01", "A: \xc3\xa4", "A\r: x"})
    EXPECT_FALSE(headers_in(line)) << line;
  std::string many;
  for (int i = 0; i < 51; ++i) many += "A: x\n";
  EXPECT_FALSE(headers_in(many));
}

TEST(PushAnswers, StatusesAreThoseOfOtlp) {
  using Kind = Outcome::Kind;
  for (const long status : {200, 202, 204}) EXPECT_EQ(kind_of(status), Kind::sent) << status;
  for (const long status : {408, 429, 502, 503, 504})
    EXPECT_EQ(kind_of(status), Kind::later) << status;
  for (const long status : {400, 413, 415, 422, 500, 501, 505, 999})
    EXPECT_EQ(kind_of(status), Kind::refused) << status;
  for (const long status : {0, 101, 301, 307, 401, 403, 404, 405, 407})
    EXPECT_EQ(kind_of(status), Kind::stop) << status;
}

TEST(PushAddresses, CredentialsAndOtherSchemesAreRefused) {
  EXPECT_TRUE(check_url("https://store.example:4318/v1development/profiles"));
  EXPECT_TRUE(check_url("http://[::1]:4318/"));
  for (const char* url : {"ftp://a/", "file:///etc/passwd", "", "store", "https://a:b@c/",
                          "https://a@c/", "https://", "//c/"})
    EXPECT_FALSE(check_url(url)) << url;
  for (const char* url :
       {"https://a/", "http://localhost/", "http://127.0.0.1:9/", "http://[::1]/"})
    EXPECT_FALSE(is_in_the_clear(url)) << url;
  for (const char* url : {"http://a/", "http://127.0.0.1.example/", "http://localhost.example/"})
    EXPECT_TRUE(is_in_the_clear(url)) << url;
}

}  // namespace
