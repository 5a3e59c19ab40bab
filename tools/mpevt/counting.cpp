// SPDX-License-Identifier: MIT
// mpevt start, stop, reset, read, term: sends requests to the counter daemon.
#include <ctime>

#include <fmt/format.h>

#include "cli.h"
#include "commands.h"
#include "daemon.h"
#include "event_table.h"
#include "perfutil.h"

namespace pi::mpevt {
namespace {

using service::Reply;
using service::Request;

int failed(const std::string& text) {
  cli::error(text);
  return cli::exit_failure;
}

// A running daemon has not read the definitions that this process has read.
Result<Reply> ask_to_start(const std::string& path, const Request& start,
                           const std::vector<std::string>& files) {
  for (const auto& file : files) {
    auto reply = service::ask_service(path, daemon_names, {"define", file});
    if (!reply || reply->rc != PU_SUCCESS) return reply;
  }
  return service::ask_service(path, daemon_names, start);
}

// Retries until a daemon answers: one that another process just started may not listen yet.
Result<Reply> start_anywhere(const std::string& path, const Request& start,
                             const std::vector<std::string>& files) {
  constexpr int max_attempts = 50;
  constexpr timespec pause{0, 100'000'000};
  for (int attempt = 0;; ++attempt) {
    auto reply = ask_to_start(path, start, files);
    if (reply || reply.error().code != service::not_running) return reply;
    reply = start_daemon(path, start);
    if (reply->rc != service::already_runs || attempt == max_attempts) return reply;
    ::nanosleep(&pause, nullptr);
  }
}

int start(const Wanted& wanted, const std::string& path) {
  std::vector<std::string> files;
  if (!load_definitions(wanted.files, files)) return cli::exit_failure;
  Request request{"start", wanted.privilege};
  request.insert(request.end(), wanted.events.begin(), wanted.events.end());
  const auto reply = start_anywhere(path, request, files);
  if (!reply) return failed(reply.error().message);
  return reply->rc == PU_SUCCESS ? cli::exit_good : failed(reply->text);
}

// For commands that print nothing on success.
int ask(const Wanted& wanted, const std::string& path) {
  Request request{wanted.command};
  request.insert(request.end(), wanted.events.begin(), wanted.events.end());
  const auto reply = service::ask_service(path, daemon_names, request);
  if (!reply) return failed(reply.error().message);
  return reply->rc == PU_SUCCESS ? cli::exit_good : failed(reply->text);
}

// Reads the named events, or all. The error's text says what failed.
Result<std::vector<EventCounts>> read_all(const Wanted& wanted, const std::string& path) {
  auto names = wanted.events;
  if (names.empty()) {
    const auto reply = service::ask_service(path, daemon_names, {"list"});
    if (!reply) return reply.error();
    names = service::values_of(reply->text, "event");
  }
  std::vector<EventCounts> all;
  for (const auto& name : names) {
    const auto reply = service::ask_service(path, daemon_names, {"read", name});
    if (!reply) return reply.error();
    if (reply->rc != PU_SUCCESS) return Error{reply->rc, reply->text};
    auto counts = decode_counts(reply->text);
    if (!counts)
      return Error{PU_ERROR_INTERNAL,
                   "The counter daemon's reply is malformed: the daemon is of another version. Run "
                   "'mpevt term', then start again."};
    all.push_back(std::move(*counts));
  }
  return all;
}

int read(const Wanted& wanted, const std::string& path) {
  const auto all = read_all(wanted, path);
  if (!all) return failed(all.error().message);
  if (wanted.json) {
    pi::Json events = pi::Json::array();
    for (const auto& each : *all) events.push_back(json_of(each));
    fmt::print("{}\n", pi::Json{{"events", events}}.dump(2));
    return cli::exit_good;
  }
  for (size_t i = 0; i < all->size(); ++i) {
    fmt::print("{}{}", i == 0 ? "" : "\n", table_of((*all)[i]));
    for (const auto& gap : gaps_of((*all)[i]))
      cli::warning(fmt::format("{}: {}", (*all)[i].name, gap));
  }
  return cli::exit_good;
}

}  // namespace

bool is_counting_command(const std::string& name) {
  return name == "start" || name == "stop" || name == "reset" || name == "read" || name == "term";
}

int run_counting(const Wanted& wanted) {
  const auto path = service::socket_path(daemon_names);
  if (!path) return failed(path.error().message);
  if (wanted.command == "start") return start(wanted, *path);
  if (wanted.command == "read") return read(wanted, *path);
  return ask(wanted, *path);
}

}  // namespace pi::mpevt
