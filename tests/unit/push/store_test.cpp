// SPDX-License-Identifier: MIT
// The requests for Pyroscope and Parca, and answers of OTLP.
#include <gmock/gmock.h>
#include <json.h>
#include <store.h>
#include <text/deflate.h>

#include <protozero/pbf_writer.hpp>

namespace {

using namespace push;
using testing::HasSubstr;

std::string packed(const std::string& bytes) {
  post::StringSink sink;
  post::DeflateWriter writer(sink, post::Container::gzip);
  writer.write(bytes);
  writer.finish();
  return sink.text;
}

// Of pprof's profile.proto: time_nanos and duration_nanos.
std::string pprof(int64_t time, int64_t duration) {
  std::string bytes;
  protozero::pbf_writer profile(bytes);
  profile.add_string(6, "");
  profile.add_int64(9, time);
  profile.add_int64(10, duration);
  return packed(bytes);
}

constexpr int64_t second = 1'000'000'000;

TEST(PushStore, PyroscopeGetsTheTimesOfTheProfileAndAPlainName) {
  const std::string file = pprof(1'795'737'600 * second + 5, 600 * second);
  const auto request = request_for(Store::pyroscope, "http://localhost:4040/", "a b}&c", file);
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->url,
            "http://localhost:4040/ingest?name=pitrace%7Bhost%3Da_b__c%7D&format=pprof"
            "&from=1795737600&until=1795738200");
  EXPECT_EQ(request->body, file);
}

TEST(PushStore, ParcaGetsTheFileInJson) {
  const std::string file = pprof(1'795'737'600 * second, 0);
  const auto request = request_for(Store::parca, "https://parca.example", "web1", file);
  ASSERT_TRUE(request);
  EXPECT_EQ(request->url, "https://parca.example/profiles/writeraw");
  const auto json = pi::Json::parse(request->body);
  ASSERT_TRUE(json);
  const pi::Json& series = json->find("series")->elements().at(0);
  const pi::Json& label = series.find("labels")->find("labels")->elements().at(1);
  EXPECT_EQ(*label.find("name")->text() + *label.find("value")->text(), "hostweb1");
  // Base64 of the beginning of each gzip file.
  EXPECT_TRUE(
      series.find("samples")->elements().at(0).find("rawProfile")->text()->starts_with("H4sI"));
}

TEST(PushStore, FilesThatAreNoProfilesAreErrors) {
  for (const Store store : {Store::pyroscope, Store::parca}) {
    EXPECT_FALSE(request_for(store, "http://a", "h", packed("\xff\xff\xff")));
    EXPECT_FALSE(request_for(store, "http://a", "h", pprof(0, 1)));
    EXPECT_FALSE(request_for(store, "http://a", "h", pprof(second, -1)));
    EXPECT_FALSE(request_for(store, "http://a", "h", pprof(second, INT64_MAX)));
  }
  for (const std::string& file : {std::string(), std::string("x"), packed("x") + "x"})
    EXPECT_FALSE(request_for(Store::otlp, "http://a", "h", file));
}

TEST(PushStore, AnswersOfOtlpAreReadWithoutTrust) {
  const auto answer = [](int64_t rejected, const std::string& text) {
    std::string partial, bytes;
    protozero::pbf_writer message(partial);
    message.add_int64(1, rejected);
    message.add_string(2, text);
    protozero::pbf_writer(bytes).add_message(1, partial);
    return bytes;
  };
  EXPECT_EQ(remark_in(""), "");
  EXPECT_EQ(remark_in(answer(0, "")), "");
  EXPECT_EQ(remark_in(answer(3, "old\x1b[2J")), "it rejected 3 profiles: old\\x1b[2J");
  EXPECT_EQ(remark_in(answer(0, "slow")), "it warns: slow");
  EXPECT_LT(remark_in(answer(1, std::string(100'000, 'x'))).size(), 300u);
  EXPECT_THAT(remark_in("\x0a\xff\xff"), HasSubstr("not one of OTLP"));
  EXPECT_THAT(remark_in("<html>"), HasSubstr("not one of OTLP"));
}

}  // namespace
