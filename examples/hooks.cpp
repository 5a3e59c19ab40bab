// SPDX-License-Identifier: MIT
// A program that writes time spans of several threads into the trace that runs on this machine,
// whichever process started it. Usage, while a trace with major 0x71 enabled is on: hooks
//
// It prints the records that it writes. Without a trace it works the same, and as fast.
#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <perfutil.hpp>

namespace {

// The records: thread, number, name. The compiler checks the major, the types and the size.
template <uint32_t minor>
constexpr pitrace::Hook<0x71, minor, uint32_t, uint32_t, std::string_view> span_hook;
constexpr auto& span_begins = span_hook<1>;
constexpr auto& span_ends = span_hook<2>;

// A time span from construction to the end of the scope, as two records. They contain the thread
// and a number, so that a reader of the trace can match the two.
class Span {
 public:
  Span(uint32_t thread, uint32_t number, std::string_view name, std::string& log)
      : thread_(thread), number_(number), name_(name), log_(log) {
    write(span_begins);
  }
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;
  ~Span() { write(span_ends); }

 private:
  template <class Hook>
  void write(const Hook& hook) {
    // True also without a trace: a program's hooks are always compiled in.
    const bool stored = hook(thread_, number_, name_).ok();
    log_ += (stored ? "71/" : "lost 71/") + std::to_string(Hook::minor) + ' ' +
            std::to_string(thread_) + ' ' + std::to_string(number_) + ' ' + std::string(name_) +
            '\n';
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
