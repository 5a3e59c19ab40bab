// SPDX-License-Identifier: MIT
// pitrace-push: sends profiles that post has exported to a store, and keeps them while it is away.
#include <cli.h>
#include <fmt/format.h>
#include <pi/files.h>
#include <pi/printable.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstring>
#include <random>
#include <thread>

#include "folder.h"
#include "sender.h"
#include "store.h"

namespace {

namespace cli = pi::cli;
using namespace push;
using Clock = std::chrono::steady_clock;

struct Settings {
  Store store = Store::otlp;
  std::string url, folder, host;
  Connection connection;
  uint64_t limit_bytes = 0;
  std::chrono::seconds patience{0};
  std::chrono::seconds every{0};  // 0: once
};

cli::OptionTable option_table() {
  cli::OptionTable table(
      {"pitrace-push [OPTION]... URL FOLDER",
       "Sends the profiles in FOLDER, which post --export otlp or pprof has written, to an "
       "OpenTelemetry collector, Pyroscope or Parca, the oldest first, and removes what was sent. "
       "What cannot be sent stays for the next time.",
       {"pitrace-push https://collector.example:4318/v1development/profiles profiles",
        "pitrace-push --headers key https://otlp.test/v1development/profiles profiles",
        "pitrace-push --to pyroscope http://localhost:4040 profiles",
        "pitrace-push --to parca --ca ca.pem https://parca.example:7070 profiles"},
       "Each file that is gone is a line on the standard output: sent, refused or removed, its "
       "name and its bytes. Exit status: 0 all were sent; 1 some were not; 255 wrong usage."});
  table.group("The store")("to", cli::text(store_names, "otlp"),
                           "what URL speaks: OTLP over HTTP, for files *.otlp.gz; or the "
                           "interfaces of Pyroscope or Parca, for files *.pb.gz")(
      "host", cli::text("NAME"), "the label host at Pyroscope and Parca (default: this host's)")(
      "hash-key", cli::text("FILE"),
      "that label is a hash with the key in FILE, the same as of post --hash host");
  table.group("Connection")(
      "headers", cli::text("FILE"),
      "further headers, NAME: VALUE in each line, such as Authorization. Only its owner may be "
      "able to read FILE, and URL must be https, or on this host")(
      "ca", cli::text("FILE"), "certificates (PEM) to trust instead of the system's")(
      "cert", cli::text("FILE"), "certificate (PEM) of this client")(
      "key", cli::text("FILE"), "its key, which only its owner may be able to read")(
      "timeout", cli::text("SECONDS", "30"), "of a request");
  table.group("While the store is away")(
      "for", cli::text("SECONDS", "60"),
      "try again, in growing intervals, so long after the last success")(
      "limit", cli::text("MB", "100"), "the most that FOLDER keeps: the oldest are removed")(
      "every", cli::text("SECONDS"),
      "do not end, but look for files again after so long; five times as long after a failure");
  table.positional("words", 2);
  return table;
}

int misuse(const std::string& text) {
  cli::error(text);
  cli::hint("pitrace-push --help lists the options.");
  return cli::exit_usage;
}

int fail(const std::string& text) {
  cli::error(text);
  return cli::exit_failure;
}

template <class Number>
bool take_number(const std::string& text, Number most, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() && number >= 0 && number <= most;
}

// Returns an error message, or "".
std::string take_options(const cli::Values& given, Settings& settings) {
  const auto store = store_of(given.text("to"));
  if (!store) return fmt::format("--to takes one of {}.", store_names);
  settings.store = *store;
  settings.host = given.text("host");
  long seconds = 0;
  uint64_t megabytes = 0;
  if (!take_number(given.text("timeout"), 3600L, settings.connection.timeout_s) ||
      settings.connection.timeout_s == 0)
    return "--timeout takes a number from 1 to 3600.";
  if (!take_number(given.text("for"), 86400L, seconds))
    return "--for takes a number from 0 to 86400.";
  if (given.has("every")) {
    long every = 0;
    if (!take_number(given.text("every"), 86400L, every) || every == 0)
      return "--every takes a number from 1 to 86400.";
    settings.every = std::chrono::seconds(every);
  }
  if (!take_number(given.text("limit"), uint64_t{1'000'000}, megabytes))
    return "--limit takes a number from 0 to 1000000.";
  settings.patience = std::chrono::seconds(seconds);
  settings.limit_bytes = megabytes * 1'000'000;
  if (given.has("cert") != given.has("key")) return "--cert and --key go together.";
  if (const auto good = check_url(settings.url); !good) return good.error().message;
  if ((given.has("headers") || given.has("key")) && is_in_the_clear(settings.url))
    return "--headers and --key need an https address: others could read the credentials.";
  return "";
}

// The files that the options name.
pi::Status read_files(const cli::Values& given, Settings& settings) {
  Connection& connection = settings.connection;
  if (given.has("headers")) {
    const auto text = read_own(given.text("headers"), true);
    if (!text) return text.error();
    const auto headers = headers_in(*text);
    if (!headers) return headers.error();
    connection.headers = *headers;
  }
  for (const auto& [name, to, secret] : {std::tuple("ca", &connection.ca, false),
                                         {"cert", &connection.certificate, false},
                                         {"key", &connection.key, true}}) {
    if (!given.has(name)) continue;
    auto text = read_own(given.text(name), secret);
    if (!text) return text.error();
    if (text->empty()) return pi::Error{-1, fmt::format("the file of --{} is empty.", name)};
    *to = std::move(*text);
  }
  if (settings.host.empty()) {
    char name[256] = "";
    if (::gethostname(name, sizeof name - 1) == 0) settings.host = name;
  }
  if (given.has("hash-key")) {
    auto hashed = hashed_host(settings.host, given.text("hash-key"));
    if (!hashed) return hashed.error();
    settings.host = std::move(*hashed);
  }
  return {};
}

class Pusher {
 public:
  Pusher(const Settings& settings, const Folder& folder)
      : settings_(settings), folder_(folder), random_(std::random_device{}()) {}

  // Returns the exit status.
  int run() {
    while (true) {
      const auto files = folder_.files();
      if (!files) return fail(files.error().message + ".");
      const size_t above = count_above(*files, settings_.limit_bytes);
      for (size_t i = 0; i < above; ++i)
        if (!take_out("removed", (*files)[i])) return cli::exit_failure;
      if (above != 0)
        cli::warning(
            fmt::format("the folder had more than {} MB (--limit): removed the {} oldest "
                        "files.",
                        settings_.limit_bytes / 1'000'000, above));
      if (above == files->size()) return complete_ ? cli::exit_good : cli::exit_failure;
      if (!send_all(*files, above)) return cli::exit_failure;
    }
  }

 private:
  // Sends until one has to wait. False: no further attempt.
  bool send_all(const std::vector<Folder::File>& files, size_t first) {
    for (size_t i = first; i < files.size(); ++i) {
      const Outcome outcome = send_one(files[i]);
      switch (outcome.kind) {
        case Outcome::Kind::sent:
          if (!outcome.text.empty())
            cli::warning(fmt::format("{}: the store took it, but {}", pi::printable(files[i].name),
                                     outcome.text));
          if (!take_out("sent", files[i])) return false;
          attempts_ = 0;
          since_ = Clock::now();
          break;
        case Outcome::Kind::refused:
          cli::warning(fmt::format("{} is refused and removed: {}.", pi::printable(files[i].name),
                                   reason(outcome)));
          if (!take_out("refused", files[i])) return false;
          break;
        case Outcome::Kind::later:
          return wait(outcome, files.size() - i);
        case Outcome::Kind::stop:
          fail(fmt::format("{}; {}.", reason(outcome), waiting(files.size() - i)));
          return false;
      }
    }
    return true;
  }

  Outcome send_one(const Folder::File& file) const {
    auto bytes = folder_.read(file.name);
    if (!bytes)
      return {bytes.error().code == -1 ? Outcome::Kind::refused : Outcome::Kind::stop, 0, 0,
              fmt::format("cannot read {}: {}", pi::printable(file.name), bytes.error().message)};
    const auto request =
        request_for(settings_.store, settings_.url, settings_.host, std::move(*bytes));
    if (!request) return {Outcome::Kind::refused, 0, 0, request.error().message};
    return send(*request, settings_.connection, settings_.store);
  }

  static std::string waiting(size_t files) {
    return files == 1 ? "1 file waits" : fmt::format("{} files wait", files);
  }

  static std::string reason(const Outcome& outcome) {
    if (outcome.status == 0) return outcome.text;
    return fmt::format("the store answered {}", outcome.status);
  }

  // One file less. False if it cannot be removed, as it would be sent again for ever.
  bool take_out(const char* what, const Folder::File& file) {
    if (std::strcmp(what, "sent") != 0) complete_ = false;
    if (const int problem = folder_.remove(file.name); problem != 0) {
      fail(fmt::format("cannot remove {}: {}.", pi::printable(file.name), std::strerror(problem)));
      return false;
    }
    const std::string line = fmt::format("{} {} {}\n", what, pi::printable(file.name), file.bytes);
    pi::write_all(STDOUT_FILENO, pi::text_bytes(line));
    return true;
  }

  // 1, 2, 4 seconds and so on up to a minute, or as long as the store says; up to a half less or
  // more by chance, so that hosts do not come together. False: no time is left.
  bool wait(const Outcome& outcome, size_t left) {
    const double usual = std::min(60.0, static_cast<double>(1u << std::min(attempts_++, 6u)));
    std::uniform_real_distribution<double> part(0.5, 1.5);
    const double seconds =
        std::max(usual * part(random_),
                 static_cast<double>(outcome.retry_after_s) * (1 + (part(random_) - 0.5) / 10));
    const std::chrono::duration<double> pause(seconds);
    if (Clock::now() + pause > since_ + settings_.patience) {
      fail(fmt::format("{}; {} for the next time.", reason(outcome), waiting(left)));
      return false;
    }
    std::this_thread::sleep_for(pause);
    return true;
  }

  const Settings& settings_;
  const Folder& folder_;
  std::mt19937 random_;
  unsigned attempts_ = 0;  // that failed, one after the other
  Clock::time_point since_ = Clock::now();
  bool complete_ = true;  // nothing was refused or removed
};

int run(const std::vector<std::string>& words) {
  const auto outcome = option_table().parse(words);
  if (outcome.exit) return *outcome.exit;
  const auto& named = outcome.values.words("words");
  if (named.size() != 2) return misuse("an address and a folder are to be named.");
  Settings settings;
  settings.url = named[0];
  settings.folder = named[1];
  if (const std::string problem = take_options(outcome.values, settings); !problem.empty())
    return misuse(problem);
  if (const auto status = read_files(outcome.values, settings); !status)
    return fail(status.error().message);
  const auto folder = Folder::open(settings.folder, suffix_of(settings.store));
  if (!folder) return fail(folder.error().message);
  while (true) {
    const int status = Pusher(settings, *folder).run();
    if (settings.every.count() == 0) return status;
    std::this_thread::sleep_for(settings.every * (status == cli::exit_good ? 1 : 5));
  }
}

}  // namespace

int main(int count, char** words) {
  return cli::run_tool("pitrace-push", count, words, run);
}
