// SPDX-License-Identifier: MIT
// Sends commands to the JVMs and prints their answers.
#include "session.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <ctime>
#include <system_error>
#include <thread>

#include <fmt/format.h>
#include <pi/printable.h>
#include <pi/uninterrupted.h>

#include "cli.h"
#include "json.h"
#include "words.h"

namespace pi::rtdriver {
namespace {

constexpr std::chrono::milliseconds patience{120'000};  // until all JVMs have answered

std::string time_of_day() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  char text[16];
  ::localtime_r(&now, &parts);
  return {text, std::strftime(text, sizeof text, "%H:%M:%S", &parts)};
}

// A reader of the output sees each answer when it is there.
void print_line(const std::string& line) {
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

// A typed line without its end. False at the end of the input. Of a line that is too long nothing
// is used.
bool read_line(std::string& line, bool& too_long) {
  line.clear();
  too_long = false;
  for (int c = std::getchar(); c != EOF; c = std::getchar()) {
    if (c == '\n') return true;
    if (line.size() == max_line)
      too_long = true;
    else
      line += static_cast<char>(c);
  }
  return !line.empty();
}

}  // namespace

void Session::run(const std::vector<Step>& steps) {
  auto before = begin_;
  for (const auto& step : steps) {
    if (ended_) return;
    std::this_thread::sleep_until((settings_.from_start ? begin_ : before) +
                                  std::chrono::seconds(step.seconds));
    if (step.local)
      execute_locally(step.command);
    else
      execute(step.command);
    before = Clock::now();
  }
}

void Session::interact() {
  const bool prompts = ::isatty(STDIN_FILENO) == 1 && !settings_.json;
  std::string line;
  bool too_long = false;
  while (!ended_) {
    if (prompts) {
      fmt::print("Command> ");
      std::fflush(stdout);
    }
    if (!read_line(line, too_long)) break;
    if (too_long) {
      cli::error(fmt::format("A line has at most {} bytes; nothing was sent.", max_line));
      failed_ = true;
    } else {
      execute(line);
    }
  }
}

void Session::execute(const std::string& line) {
  const auto translated = translate(line);
  if (translated.help && !settings_.json) print_line(words_help());
  if (!translated.message.empty())
    send(translated.message, translated.to_all, translated.shuts_down);
  ended_ = ended_ || translated.ends;
}

// All JVMs get the command before the first answer is awaited.
void Session::send(const std::string& message, bool to_all, bool shuts_down) {
  const std::string sent = settings_.comma ? "," + message : message;
  const size_t count = to_all ? jvms_.size() : 1;
  const Deadline deadline(patience);
  std::vector<Status> states;
  for (size_t i = 0; i < count; ++i) states.push_back(jvms_[i].connection.send(sent));
  std::vector<Jvm> left;
  for (size_t i = 0; i < jvms_.size(); ++i) {
    Jvm& jvm = jvms_[i];
    if (i >= count) {
      left.push_back(std::move(jvm));
      continue;
    }
    const auto answer =
        states[i] ? jvm.connection.receive(deadline) : Result<Answer>(states[i].error());
    if (answer) {
      print_answer(jvm, message, *answer);
      failed_ = failed_ || !answer->done;
      left.push_back(std::move(jvm));
    } else if (!shuts_down) {
      cli::error(fmt::format("{}: {}: {}", jvm.name, printable(message), answer.error().message));
      failed_ = true;
    }
  }
  jvms_ = std::move(left);
  if (jvms_.empty()) ended_ = true;
}

void Session::print_answer(const Jvm& jvm, const std::string& message, const Answer& answer) const {
  if (settings_.json) {
    Json line = Json::object();
    line["time"] = time_of_day();
    if (jvm.port != 0)
      line["port"] = jvm.port;
    else
      line["pid"] = jvm.pid;
    line["command"] = message;
    line["done"] = answer.done;
    line["text"] = answer.text;
    return print_line(line.dump());
  }
  // Further lines are indented: they cannot be taken for the answer of another JVM.
  std::string text = printable(answer.text, "\n");
  for (size_t at = text.find('\n'); at != text.npos; at = text.find('\n', at + 1))
    text.insert(at + 1, "  ");
  std::string line = fmt::format("{} {}: {}: {}", time_of_day(), jvm.name, printable(message),
                                 answer.done ? "done" : "not done");
  if (!text.empty()) line += (text.find('\n') == text.npos ? "; " : "\n  ") + text;
  print_line(line);
}

// The command is the user's own, as in a script.
void Session::execute_locally(const std::string& command) {
  std::fflush(stdout);
  std::string text = command;
  char shell[] = "sh", option[] = "-c";
  char* const words[] = {shell, option, text.data(), nullptr};
  pid_t pid = 0;
  if (const int error = ::posix_spawn(&pid, "/bin/sh", nullptr, nullptr, words, environ);
      error != 0) {
    cli::error(fmt::format("Cannot run '{}': {}.", printable(command),
                           std::generic_category().message(error)));
    failed_ = true;
    return;
  }
  int status = 0;
  (void)uninterrupted([&] { return ::waitpid(pid, &status, 0); });
  constexpr int signal_base = 128;
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : signal_base + WTERMSIG(status);
  if (settings_.json) {
    Json line = Json::object();
    line["time"] = time_of_day();
    line["local"] = command;
    line["return_code"] = code;
    return print_line(line.dump());
  }
  print_line(fmt::format("{} {}: return code {}", time_of_day(), printable(command), code));
}

}  // namespace pi::rtdriver
