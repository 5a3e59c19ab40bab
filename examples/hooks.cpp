// SPDX-License-Identifier: MIT
// A program that writes into the trace that runs on the machine, whoever started it: spans of time
// of several threads. Usage, while a trace with major 0x71 enabled is on: hooks
//
// It prints what it has written; it works the same, and as fast, when there is no trace.
#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <perfutil.h>

namespace {

constexpr uint32_t major = 0x71;
enum Minor : uint32_t { begin = 1, end = 2 };

// One record; false when it is not in the trace although one is on.
bool put(Minor minor, std::array<uint32_t, 2> ints, std::string_view text) {
  const pi_hook_string string{text.data(), text.size()};
  const int rc = PiTraceHook(major, minor, ints.data(), ints.size(), &string, 1);
  // No trace is no error for a program that always has its hooks compiled in.
  return rc == PU_SUCCESS || rc == PU_ERROR_NO_BUFFER;
}

// A span of time from construction to the end of the scope, as two records. They carry the thread
// and a number, so that who reads the trace can tell which belong together.
class Span {
 public:
  Span(uint32_t thread, uint32_t number, std::string_view name, std::string& log)
      : thread_(thread), number_(number), name_(name), log_(log) {
    write(begin);
  }
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;
  ~Span() { write(end); }

 private:
  void write(Minor minor) {
    const bool stored = put(minor, {thread_, number_}, name_);
    log_ += (stored ? "71/" : "lost 71/") + std::to_string(minor) + ' ' + std::to_string(thread_) +
            ' ' + std::to_string(number_) + ' ' + std::string(name_) + '\n';
  }

  uint32_t thread_, number_;
  std::string_view name_;
  std::string& log_;
};

std::string work(uint32_t thread) {
  std::string log;
  for (uint32_t i = 0; i < 200; i += 2) {
    const Span outer(thread, i, "outer", log);
    const Span inner(thread, i + 1, "inner", log);
  }
  return log;
}

}  // namespace

int main() {
  constexpr uint32_t count = 4;
  std::array<std::string, count> logs;
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < count; ++i) threads.emplace_back([&, i] { logs[i] = work(i); });
  for (auto& thread : threads) thread.join();
  bool lost = false;
  for (const auto& log : logs) {
    std::fputs(log.c_str(), stdout);
    lost = lost || log.find("lost") != std::string::npos;
  }
  return lost;
}
