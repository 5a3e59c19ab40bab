// SPDX-License-Identifier: MIT
// What kinds of profile stores take: names of files, addresses and requests.
#ifndef PUSH_STORE_H
#define PUSH_STORE_H

#include <pi/result.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace push {

enum class Store { otlp, pyroscope, parca };
constexpr const char* store_names = "otlp|pyroscope|parca";
std::optional<Store> store_of(std::string_view name);

// The end of the names of files for a store: .otlp.gz or .pb.gz.
const char* suffix_of(Store store);

// OTLP recommends this as the largest message. Of any file, before and after compression.
constexpr size_t most_bytes = size_t{64} << 20;

struct Request {
  std::string url;
  std::vector<std::string> headers;
  std::string body;
};

// The request for a file; an error if it is not what the store takes. url: that of the store,
// without the path for Pyroscope and Parca. host: a label there; OTLP has it in the file.
pi::Result<Request> request_for(Store store, const std::string& url, const std::string& host,
                                std::string file);

// The host's name as post --hash host shows it, with the key in that file.
pi::Result<std::string> hashed_host(const std::string& host, const std::string& key_file);

// What a store of OTLP says in a successful answer: why profiles were rejected, or a warning; empty
// if all is well.
std::string remark_in(std::string_view otlp_answer);

// Decompresses a gzip file of at most most_bytes.
pi::Result<std::string> gunzip(std::string_view file);

}  // namespace push

#endif  // PUSH_STORE_H
