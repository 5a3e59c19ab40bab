// SPDX-License-Identifier: MIT
// What kinds of profile stores take: names of files, addresses and requests.
#include "store.h"

#include <fmt/format.h>
#include <json.h>
#include <pi/printable.h>
#include <zlib.h>

#include <algorithm>
#include <protozero/exception.hpp>
#include <protozero/pbf_reader.hpp>

#include "text/base64.h"
#include "text/private_names.h"
#include "text/sink.h"

namespace push {
namespace {

// When a profile of pprof begins and ends, in seconds since 1970.
struct Times {
  int64_t from = 0;
  int64_t until = 0;
};

pi::Result<Times> times_of(const std::string& file) {
  constexpr int64_t second = 1'000'000'000;
  const auto bytes = gunzip(file);
  if (!bytes) return bytes.error();
  int64_t time = 0, duration = 0;
  try {
    protozero::pbf_reader profile(*bytes);
    while (profile.next()) {
      constexpr auto number = protozero::pbf_wire_type::varint;
      // time_nanos and duration_nanos of pprof's profile.proto
      if (profile.tag() == 9 && profile.wire_type() == number)
        time = profile.get_int64();
      else if (profile.tag() == 10 && profile.wire_type() == number)
        duration = profile.get_int64();
      else
        profile.skip();
    }
  } catch (const protozero::exception&) {
    return pi::Error{-1, "it is not a file of pprof"};
  }
  if (time <= 0 || duration < 0 || duration > 366 * 86400 * second)
    return pi::Error{-1, "it has no time of day"};
  return Times{time / second, (time / second) + std::max<int64_t>(1, duration / second)};
}

// In a name of Pyroscope other characters have a meaning.
std::string plain(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '.' || c == '-' || c == '_';
    out += good ? c : '_';
  }
  return out;
}

// Parca's WriteRaw, as JSON.
std::string parca_body(const std::string& host, const std::string& file) {
  using pi::Json;
  post::StringSink text;
  post::Base64Writer base64(text);
  base64.write(file);
  base64.finish();
  Json labels = Json::array();
  for (const auto& [name, value] :
       {std::pair<const char*, std::string>{"__name__", "pitrace_cpu"}, {"host", plain(host)}})
    labels.push_back({{"name", name}, {"value", value}});
  Json samples = Json::array(), series = Json::array();
  samples.push_back({{"rawProfile", std::move(text.text)}});
  series.push_back({{"labels", {{"labels", std::move(labels)}}}, {"samples", std::move(samples)}});
  return Json{{"series", std::move(series)}, {"normalized", false}}.dump();
}

std::string without_slash(std::string url) {
  while (url.ends_with('/')) url.pop_back();
  return url;
}

}  // namespace

std::optional<Store> store_of(std::string_view name) {
  if (name == "otlp") return Store::otlp;
  if (name == "pyroscope") return Store::pyroscope;
  if (name == "parca") return Store::parca;
  return {};
}

const char* suffix_of(Store store) {
  return store == Store::otlp ? ".otlp.gz" : ".pb.gz";
}

pi::Result<Request> request_for(Store store, const std::string& url, const std::string& host,
                                std::string file) {
  if (store == Store::otlp) {
    if (const auto bytes = gunzip(file); !bytes) return bytes.error();
    return Request{url,
                   {"Content-Type: application/x-protobuf", "Content-Encoding: gzip",
                    "OTLP-Profiles-Development-Version: 1"},
                   std::move(file)};
  }
  const auto times = times_of(file);
  if (!times) return times.error();
  if (store == Store::parca)
    return Request{without_slash(url) + "/profiles/writeraw",
                   {"Content-Type: application/json"},
                   parca_body(host, file)};
  return Request{fmt::format("{}/ingest?name=pitrace%7Bhost%3D{}%7D&format=pprof&from={}&until={}",
                             without_slash(url), plain(host), times->from, times->until),
                 {"Content-Type: application/octet-stream"},
                 std::move(file)};
}

pi::Result<std::string> hashed_host(const std::string& host, const std::string& key_file) {
  auto key = post::read_hash_key(key_file);
  if (!key) return key.error();
  post::StringTable unused;
  const post::Privacy privacy{
      .omitted = {}, .hashed = {post::PrivateKind::host}, .key = std::move(*key)};
  return post::PrivateNames(unused, privacy).shown(post::PrivateKind::host, host);
}

std::string remark_in(std::string_view otlp_answer) {
  int64_t rejected = 0;
  std::string text;
  try {
    protozero::pbf_reader answer(otlp_answer.data(), otlp_answer.size());
    while (answer.next(1, protozero::pbf_wire_type::length_delimited)) {
      protozero::pbf_reader partial = answer.get_message();
      while (partial.next()) {
        if (partial.tag() == 1 && partial.wire_type() == protozero::pbf_wire_type::varint)
          rejected = partial.get_int64();
        else if (partial.tag() == 2 &&
                 partial.wire_type() == protozero::pbf_wire_type::length_delimited)
          text = partial.get_string();
        else
          partial.skip();
      }
    }
  } catch (const protozero::exception&) {
    return "its answer is not one of OTLP";
  }
  if (rejected == 0 && text.empty()) return {};
  const std::string shown = pi::printable(text.substr(0, 200));
  return rejected == 0 ? "it warns: " + shown
                       : fmt::format("it rejected {} profiles: {}", rejected, shown);
}

pi::Result<std::string> gunzip(std::string_view file) {
  z_stream stream{};
  if (::inflateInit2(&stream, 16 + MAX_WBITS) != Z_OK) throw std::bad_alloc();
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(file.data()));
  stream.avail_in = static_cast<uInt>(file.size());
  std::string bytes;
  int state = Z_OK;
  while (state == Z_OK && bytes.size() <= most_bytes) {
    char piece[64 << 10];
    stream.next_out = reinterpret_cast<Bytef*>(piece);
    stream.avail_out = sizeof piece;
    state = ::inflate(&stream, Z_NO_FLUSH);
    bytes.append(piece, sizeof piece - stream.avail_out);
  }
  const bool whole = state == Z_STREAM_END && stream.avail_in == 0;
  ::inflateEnd(&stream);
  if (bytes.size() > most_bytes)
    return pi::Error{-1, fmt::format("it has more than {} MB", most_bytes >> 20)};
  if (!whole) return pi::Error{-1, "it is not a whole file of gzip"};
  return bytes;
}

}  // namespace push
