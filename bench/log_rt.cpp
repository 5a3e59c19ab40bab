// SPDX-License-Identifier: MIT
// Writing the call flow of a large tree: a binary tree of 1,048,574 nodes in one thread, with one
// metric, each node called once. Processor time, so that other programs disturb little. Usage:
// log_rt_bench DIRECTORY
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include <pi/files.h>

#include "engine.h"
#include "report.h"
#include "snapshot.h"

namespace {

using namespace pi::callflow;

constexpr unsigned depth = 19;
constexpr uint64_t methods = 10'000;

thread_local ThreadTree* tree = nullptr;
uint64_t next_method = 0;

void call(unsigned left) {
  const uint64_t method = next_method++ % methods + 1;
  enter(tree, method, Type::jitted);
  if (left > 1)
    for (int i = 0; i < 2; ++i) call(left - 1);
  leave(tree, method, Type::jitted, Transition::exit);
}

double seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

size_t resident_bytes() {
  size_t all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * static_cast<size_t>(::sysconf(_SC_PAGESIZE));
}

std::string name_of(uint64_t method) {
  return "com/example/application/service/Handler" + std::to_string(method) +
         ".process(Ljava/lang/String;I)V";
}

// Returns how many bytes were written.
template <class Format>
size_t write_file(const std::string& path, Format format) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  size_t bytes = 0;
  const int error = file < 0 ? errno : format([&](std::string_view part) {
    bytes += part.size();
    return pi::write_all(file, pi::text_bytes(part));
  });
  if (error != 0) std::fprintf(stderr, "%s: error %d\n", path.c_str(), error), std::exit(1);
  ::close(file);
  return bytes;
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) return std::fputs("Usage: log_rt_bench DIRECTORY\n", stderr), 2;
  Settings settings;
  settings.meter = raw_cycles();
  if (!start(settings)) return 1;
  const size_t before = resident_bytes();
  const double begin = seconds();
  for (int i = 0; i < 2; ++i) call(depth);
  const double recorded = seconds();
  stop();
  const auto memory = static_cast<double>(resident_bytes() - before);
  const Snapshot snapshot = take_snapshot({});
  const double copied = seconds();
  const std::string path = std::string(words[1]) + "/log-rt";
  const size_t text =
      write_file(path, [&](const Sink& sink) { return log_rt(snapshot, {}, name_of, sink); });
  const double written = seconds();
  const size_t json = write_file(
      path + ".json", [&](const Sink& sink) { return log_rt_json(snapshot, name_of, sink); });
  const double json_written = seconds();
  const auto nodes = static_cast<double>(snapshot.threads.at(0).nodes.size() - 1);
  std::printf("%.0f nodes, recorded in %.2f s; %.0f bytes of memory a node\n", nodes,
              recorded - begin, memory / nodes);
  std::printf("copied and calibrated in %.2f s\n", copied - recorded);
  std::printf("log-rt: %.2f s, %.0f bytes a node; with the copy %.2f s\n", written - copied,
              static_cast<double>(text) / nodes, written - recorded);
  std::printf("log-rt.json: %.2f s, %.0f bytes a node\n", json_written - written,
              static_cast<double>(json) / nodes);
}
