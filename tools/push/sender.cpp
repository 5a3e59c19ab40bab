// SPDX-License-Identifier: MIT
// Sends requests by libcurl, each from a child process without rights.
#include "sender.h"

#include <cli.h>
#include <curl/curl.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <nobody.h>
#include <pi/deadline.h>
#include <pi/files.h>
#include <pi/printable.h>
#include <pi/uninterrupted.h>
#include <pi/unique_fd.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>

namespace push {
namespace {

constexpr size_t most_answer = 64 << 10;  // bytes of an answer, and of its headers
constexpr size_t most_text = 300;         // bytes of Outcome::text
constexpr long connect_seconds = 10;
constexpr long most_retry_after_s = 86400;

struct FreeUrl {
  void operator()(CURLU* url) const { ::curl_url_cleanup(url); }
};
using Url = std::unique_ptr<CURLU, FreeUrl>;

Url parsed(const std::string& text) {
  Url url(::curl_url());
  if (!url || ::curl_url_set(url.get(), CURLUPART_URL, text.c_str(), 0) != CURLUE_OK) return {};
  return url;
}

std::string part(const Url& url, CURLUPart which) {
  char* text = nullptr;
  if (!url || ::curl_url_get(url.get(), which, &text, 0) != CURLUE_OK) return {};
  std::string copy = text;
  ::curl_free(text);
  return copy;
}

bool is_local(const Url& url) {
  const std::string host = part(url, CURLUPART_HOST);
  return host == "localhost" || host == "127.0.0.1" || host == "[::1]";
}

// ---- in the child ----

struct Answer {
  std::string body;
  size_t header_bytes = 0;
};

size_t take_body(char* bytes, size_t, size_t count, void* to) {
  auto& body = static_cast<Answer*>(to)->body;
  body.append(bytes, std::min(count, most_answer - body.size()));
  return body.size() == most_answer ? 0 : count;  // 0 ends the transfer
}

size_t take_header(char*, size_t, size_t count, void* to) {
  auto& sum = static_cast<Answer*>(to)->header_bytes;
  sum += count;
  return sum > most_answer ? 0 : count;
}

curl_slist* list_of(std::initializer_list<const std::vector<std::string>*> headers) {
  curl_slist* list = ::curl_slist_append(nullptr, "Expect:");
  for (const auto* some : headers)
    for (const std::string& header : *some) list = ::curl_slist_append(list, header.c_str());
  return list;
}

bool set_blob(CURL* curl, CURLoption option, const std::string& bytes) {
  if (bytes.empty()) return true;
  curl_blob blob{const_cast<char*>(bytes.data()), bytes.size(), CURL_BLOB_COPY};
  return ::curl_easy_setopt(curl, option, &blob) == CURLE_OK;
}

bool prepare(CURL* curl, const Request& request, const Connection& connection, Answer& answer) {
  const auto set = [curl](CURLoption option, auto value) {
    return ::curl_easy_setopt(curl, option, value) == CURLE_OK;
  };
  return set(CURLOPT_URL, request.url.c_str()) && set(CURLOPT_PROTOCOLS_STR, "http,https") &&
         set(CURLOPT_FOLLOWLOCATION, 0L) && set(CURLOPT_NOSIGNAL, 1L) &&
         set(CURLOPT_SSL_VERIFYPEER, 1L) && set(CURLOPT_SSL_VERIFYHOST, 2L) &&
         set(CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2)) &&
         set(CURLOPT_CONNECTTIMEOUT, connect_seconds) &&
         set(CURLOPT_TIMEOUT, connection.timeout_s) && set(CURLOPT_POST, 1L) &&
         set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size())) &&
         set(CURLOPT_POSTFIELDS, request.body.data()) && set(CURLOPT_USERAGENT, "pitrace-push") &&
         set(CURLOPT_HTTPHEADER, list_of({&request.headers, &connection.headers})) &&
         // Neither a proxy of https nor, on the way to this host, one of http gets the headers.
         set(CURLOPT_HEADEROPT, static_cast<long>(CURLHEADER_SEPARATE)) &&
         (!is_local(parsed(request.url)) || set(CURLOPT_NOPROXY, "*")) &&
         set(CURLOPT_WRITEFUNCTION, take_body) && set(CURLOPT_WRITEDATA, &answer) &&
         set(CURLOPT_HEADERFUNCTION, take_header) && set(CURLOPT_HEADERDATA, &answer) &&
         set_blob(curl, CURLOPT_CAINFO_BLOB, connection.ca) &&
         set_blob(curl, CURLOPT_SSLCERT_BLOB, connection.certificate) &&
         set_blob(curl, CURLOPT_SSLKEY_BLOB, connection.key);
}

// Settings that no later attempt can make good.
bool is_final(CURLcode code) {
  return code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CERTPROBLEM ||
         code == CURLE_SSL_CACERT_BADFILE || code == CURLE_URL_MALFORMAT;
}

Outcome transfer(const Request& request, const Connection& connection, Store store) {
  if (::curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
    return {Outcome::Kind::later, 0, 0, "libcurl cannot be started"};
  CURL* const curl = ::curl_easy_init();
  char reason[CURL_ERROR_SIZE] = "";
  Answer answer;
  if (!curl || ::curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, reason) != CURLE_OK ||
      !prepare(curl, request, connection, answer))
    return {Outcome::Kind::stop, 0, 0, "libcurl lacks a feature that is needed"};
  const CURLcode code = ::curl_easy_perform(curl);
  // Of a long answer the status says what became of the profile.
  const bool is_long = code == CURLE_WRITE_ERROR && answer.body.size() == most_answer;
  if (code != CURLE_OK && !is_long)
    return {is_final(code) ? Outcome::Kind::stop : Outcome::Kind::later, 0, 0,
            *reason ? reason : ::curl_easy_strerror(code)};
  Outcome outcome;
  ::curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &outcome.status);
  outcome.kind = kind_of(outcome.status);
  curl_off_t wait = 0;
  if (::curl_easy_getinfo(curl, CURLINFO_RETRY_AFTER, &wait) == CURLE_OK)
    outcome.retry_after_s = static_cast<long>(std::clamp<curl_off_t>(wait, 0, most_retry_after_s));
  if (outcome.kind == Outcome::Kind::sent && store == Store::otlp)
    outcome.text = remark_in(answer.body);
  return outcome;
}

// The numbers and the text, as the parent reads them.
struct Packet {
  int32_t kind = 0;
  int64_t status = 0;
  int64_t retry_after_s = 0;
  char text[most_text] = "";
};

[[noreturn]] void run_child(int out, const Request& request, const Connection& connection,
                            Store store) {
  const rlimit none{0, 0};
  Packet packet;
  packet.kind = static_cast<int32_t>(Outcome::Kind::stop);
  const auto put = [&packet](const std::string& text) { text.copy(packet.text, most_text - 1); };
  if (!pi::become_nobody() || !pi::drop_capabilities() ||
      ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0 ||
      ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0 || ::setrlimit(RLIMIT_CORE, &none) != 0 ||
      ::setrlimit(RLIMIT_FSIZE, &none) != 0) {
    put("the rights of the process that sends cannot be dropped");
  } else {
    const Outcome outcome = transfer(request, connection, store);
    packet.kind = static_cast<int32_t>(outcome.kind);
    packet.status = outcome.status;
    packet.retry_after_s = outcome.retry_after_s;
    put(outcome.text);
  }
  pi::write_all(out, std::as_bytes(std::span(&packet, 1)));
  ::_exit(0);
}

// ---- in the parent ----

Outcome outcome_in(const Packet& packet) {
  Outcome outcome;
  outcome.kind = static_cast<Outcome::Kind>(
      std::clamp<int32_t>(packet.kind, 0, static_cast<int32_t>(Outcome::Kind::stop)));
  outcome.status = static_cast<long>(packet.status);
  outcome.retry_after_s =
      static_cast<long>(std::clamp<int64_t>(packet.retry_after_s, 0, most_retry_after_s));
  outcome.text = pi::printable(std::string(packet.text, ::strnlen(packet.text, most_text)));
  return outcome;
}

bool read_packet(int in, long seconds, Packet& packet) {
  const pi::Deadline deadline(std::chrono::seconds{seconds});
  pollfd waiting{in, POLLIN, 0};
  // A pipe passes on so few bytes in one piece.
  return pi::poll_until({&waiting, 1}, deadline) > 0 &&
         ::read(in, &packet, sizeof packet) == ssize_t{sizeof packet};
}

}  // namespace

Outcome::Kind kind_of(long status) {
  if (status >= 200 && status < 300) return Outcome::Kind::sent;
  if (status == 408 || status == 429 || status == 502 || status == 503 || status == 504)
    return Outcome::Kind::later;
  if (status < 400 || status == 401 || status == 403 || status == 404 || status == 405 ||
      status == 407)
    return Outcome::Kind::stop;
  return Outcome::Kind::refused;
}

pi::Status check_url(const std::string& text) {
  const Url url = parsed(text);
  const std::string scheme = part(url, CURLUPART_SCHEME);
  if (scheme != "http" && scheme != "https")
    return pi::Error{-1, fmt::format("'{}' is no address: write https://HOST[:PORT]/PATH.",
                                     pi::printable(text))};
  if (!part(url, CURLUPART_USER).empty() || !part(url, CURLUPART_PASSWORD).empty())
    return pi::Error{-1,
                     "every user can read the address: put credentials in a file of --headers."};
  return {};
}

bool is_in_the_clear(const std::string& text) {
  const Url url = parsed(text);
  return part(url, CURLUPART_SCHEME) != "https" && !is_local(url);
}

Outcome send(const Request& request, const Connection& connection, Store store) {
  const Outcome failed{Outcome::Kind::later, 0, 0, "the process that sends cannot be started"};
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return failed;
  pi::UniqueFd in(ends[0]), out(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) return failed;
  if (child == 0) run_child(out.get(), request, connection, store);
  out.reset();
  Packet packet;
  const bool complete = read_packet(in.get(), connection.timeout_s + 5, packet);
  ::kill(child, SIGKILL);
  int status = 0;
  (void)pi::uninterrupted([&] { return ::waitpid(child, &status, 0); });
  if (!complete) return {Outcome::Kind::later, 0, 0, "the process that sends failed"};
  return outcome_in(packet);
}

}  // namespace push
