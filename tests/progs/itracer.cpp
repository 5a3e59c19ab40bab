// SPDX-License-Identifier: MIT
// Drives ITrace with only the module's ioctls and mappings, and checks the recorded flow, for the
// lab tests.
#include "itracer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pi/unique_fd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <x86intrin.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iostream>

#include "itracer_work.h"

namespace itracer {

void fail(const std::string& what) {
  std::cerr << "itracer: " << what << ": " << std::strerror(errno) << '\n';
  std::exit(1);
}

namespace {

constexpr const char* usage =
    "Usage: itracer [OPTION]... self WORK [N]    traces a workload in itself\n"
    "       itracer [OPTION]... run COMMAND...   traces a command from its first instruction\n"
    "       itracer [OPTION]... count WORK [N]   ... and the time-stamp counter's difference "
    "without\n"
    "       itracer crowd CYCLES                 traces a crowd, on and off CYCLES times\n"
    "       itracer hold PID                     traces it until killed; prints ready when on\n"
    "       itracer sleepers N                   N waiting processes; prints ready; end with it\n"
    "       itracer loop-for-ever | step PID N | misuse | enable-all | ends-itself\n"
    "  -i count  -I interrupts  -k kernel only  -u user only  -c children  -t KB trace buffer  -d "
    "print records\n"
    "  -n do not decode the code  -s single steps also where branches can be trapped\n"
    "  -E record exceptions  -m N at most N threads at a time\n";

struct Options {
  uint32_t flags = PITRACE_ITRACE_RING;
  uint64_t bytes = 64u << 20;
  uint32_t threads = 0;
  bool dump = false;
  bool decode = true;
  bool exceptions = false;
  bool names = false;
};

class Tracer {
 public:
  explicit Tracer(const Options& options) : options_(options) {
    fd_ = pi::UniqueFd(::open(PITRACE_DEVICE_PATH, O_RDWR | O_CLOEXEC));
    if (!fd_) fail("open " PITRACE_DEVICE_PATH);
    pitrace_alloc alloc{};
    alloc.trace_bytes = options.bytes;
    alloc.mte_bytes = 1 << 20;
    call(PITRACE_IOC_ALLOC, &alloc, "alloc");
    if (options.exceptions) enable_major(PITRACE_MAJOR_EXCEPTION);
    if (options.names) enable_major(PITRACE_MAJOR_MTE);
    call(PITRACE_IOC_ON, nullptr, "on");
    pitrace_itrace wanted{};
    wanted.flags = options.flags;
    wanted.threads = options.threads;
    call(PITRACE_IOC_IT_INSTALL, &wanted, "install");
  }

  void enable(pid_t pid) const { enable(uint32_t(pid), uint32_t(pid)); }
  void enable(uint32_t first, uint32_t last) const {
    pitrace_itrace_pids pids{first, last};
    call(PITRACE_IOC_IT_ENABLE, &pids, "enable");
  }

  void enable_major(uint32_t major) const { call(PITRACE_IOC_ENABLE, &major, "enable a major"); }
  void on(uint32_t what) const { call(PITRACE_IOC_IT_ON, &what, "itrace on"); }
  void off(uint32_t what) const { call(PITRACE_IOC_IT_OFF, &what, "itrace off"); }
  void remove() const { call(PITRACE_IOC_IT_REMOVE, nullptr, "remove"); }
  void stop() const { call(PITRACE_IOC_OFF, nullptr, "off"); }

  pitrace_itrace_info info() const {
    pitrace_itrace_info info{};
    call(PITRACE_IOC_IT_INFO, &info, "info");
    return info;
  }

  std::vector<Record> records() {
    exceptions_ = 0;
    pitrace_info info{};
    call(PITRACE_IOC_INFO, &info, "info");
    std::vector<Record> records;
    for (uint32_t cpu = 0; cpu < info.cpus_possible; ++cpu) add_cpu(cpu, info, records);
    return records;
  }
  // Number of debug exceptions (vector 1) among the records read last.
  uint64_t exceptions() const { return exceptions_; }

 private:
  void call(unsigned long command, void* argument, const char* what) const {
    if (::ioctl(fd_.get(), command, argument) != 0) fail(what);
  }

  void add_cpu(uint32_t cpu, const pitrace_info& info, std::vector<Record>& records) {
    const size_t bytes = PITRACE_HEAD_BYTES + info.trace_bytes;
    const auto* place = static_cast<const std::byte*>(
        ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd_.get(),
               off_t(PITRACE_MMAP_OFFSET(PITRACE_BUFFER_TRACE, cpu))));
    if (place == MAP_FAILED) return;
    const auto* head = reinterpret_cast<const pitrace_buffer_head*>(place);
    const auto* data = place + PITRACE_HEAD_BYTES;
    uint64_t high = 0;
    for (uint64_t at = 0; at < head->committed;) {
      pitrace_record raw;
      std::memcpy(&raw, data + at, sizeof raw);
      const size_t length = raw.type_length & PITRACE_LENGTH_MASK;
      Record record{0, cpu, raw.major, raw.minor, {}};
      record.ints.resize((length - sizeof raw) / 4);
      std::memcpy(record.ints.data(), data + at + sizeof raw, length - sizeof raw);
      if (raw.major == PITRACE_MAJOR_TIME) high = uint64_t{record.ints.at(0)} << 32;
      record.time = high | raw.time_lo;
      if (raw.major == PITRACE_MAJOR_EXCEPTION && raw.minor == 1) ++exceptions_;
      if (raw.major >= PITRACE_MAJOR_BRANCH_KERNEL && raw.major <= PITRACE_MAJOR_ITRACE_STOP)
        records.push_back(std::move(record));
      at += length;
    }
    ::munmap(const_cast<std::byte*>(place), bytes);
  }

  Options options_;
  pi::UniqueFd fd_;
  uint64_t exceptions_ = 0;
};

int report(Tracer& tracer, const Options& options, pid_t pid) {
  auto records = tracer.records();
  if (options.dump)
    for (const auto& record : records) {
      std::cout << fmt::format("{} {} {:02x} {:x}", record.time, record.cpu, record.major,
                               record.minor);
      for (const uint32_t word : record.ints) std::cout << fmt::format(" {:x}", word);
      std::cout << '\n';
    }
  CodeReader code(pid);
  const bool counted = options.flags & PITRACE_ITRACE_COUNT;
  const auto totals = check_flow(records, options.decode ? &code : nullptr, counted);
  const auto info = tracer.info();
  std::cout << fmt::format("user {} {}\nkernel {} {}\n", totals.branches[1], totals.instructions[1],
                           totals.branches[0], totals.instructions[0]);
  std::cout << fmt::format("threads {}\nstarts {}\ncuts {}\nsteps {}\ntrap {}\n",
                           totals.threads.size(), totals.starts, totals.cuts, info.steps,
                           info.branch_trap);
  std::cout << fmt::format("untraced {}\nexceptions {}\n", info.untraced, tracer.exceptions());
  for (size_t reason = 1; reason < totals.gaps.size(); ++reason)
    if (totals.gaps[reason] != 0)
      std::cout << fmt::format("gap {} {}\n", reason, totals.gaps[reason]);
  for (size_t reason = 1; reason < totals.stops.size(); ++reason)
    if (totals.stops[reason] != 0)
      std::cout << fmt::format("stop {} {}\n", reason, totals.stops[reason]);
  std::cout << fmt::format("missing {}\ndecoded {}\nundecoded {}\nbroken {}\n", totals.missing,
                           totals.decoded, totals.undecoded, totals.broken);
  for (const auto& text : totals.first_broken) std::cout << "broken: " << text << '\n';
  return totals.broken == 0 ? 0 : 3;
}

int self(const Options& options, const std::string& work, uint64_t n) {
  const auto piece = find_work(work);
  if (!piece) {
    std::cerr << "itracer: unknown workload " << work << '\n';
    return 2;
  }
  piece(n);  // run once untraced: page faults and lazy binding are done
  Tracer tracer(options);
  tracer.enable(::getpid());
  tracer.on(PITRACE_ITRACE_SELF);
  const uint64_t before = __rdtsc();
  piece(n);
  const uint64_t cycles = __rdtsc() - before;
  tracer.off(PITRACE_ITRACE_SELF);
  tracer.stop();
  std::cout << fmt::format("cycles {}\n", cycles);
  const int result = report(tracer, options, ::getpid());
  tracer.remove();
  return result;
}

// Returns the number of user-code instructions, including those of ITraceOn and ITraceOff while
// tracing is on.
uint64_t traced_instructions(const Options& options, const std::function<void(uint64_t)>& piece,
                             uint64_t n, uint64_t* cycles) {
  Tracer tracer(options);
  tracer.enable(::getpid());
  tracer.on(PITRACE_ITRACE_SELF);
  const uint64_t before = __rdtsc();
  piece(n);
  *cycles = __rdtsc() - before;
  tracer.off(PITRACE_ITRACE_SELF);
  tracer.stop();
  auto records = tracer.records();
  return check_flow(records, nullptr, true).instructions[1];
}

// The minimum of ten runs: one without faults and interrupts.
uint64_t untraced_cycles(const std::function<void(uint64_t)>& piece, uint64_t n) {
  uint64_t least = UINT64_MAX;
  for (int i = 0; i < 10; ++i) {
    const uint64_t before = __rdtsc();
    piece(n);
    least = std::min<uint64_t>(least, __rdtsc() - before);
  }
  return least;
}

// In the instruction-count lab: compares traced and untraced counts, each minus that of an empty
// piece.
int count(Options options, const std::string& work, uint64_t n) {
  const auto piece = find_work(work);
  const auto none = find_work("none");
  if (!piece) {
    std::cerr << "itracer: unknown workload " << work << '\n';
    return 2;
  }
  options.flags |= PITRACE_ITRACE_COUNT;
  uint64_t cycles, idle_cycles;
  const uint64_t counter = untraced_cycles(piece, n) - untraced_cycles(none, n);
  const uint64_t nothing = traced_instructions(options, none, n, &idle_cycles);
  const uint64_t traced = traced_instructions(options, piece, n, &cycles) - nothing;
  std::cout << fmt::format("counter {}\ntraced {}\ncost {:.1f}\n", counter, traced,
                           double(cycles - idle_cycles) / double(std::max<uint64_t>(traced, 1)));
  return 0;
}

void wait_until_asleep(pid_t pid) {
  for (std::string word; word != "S"; ::usleep(1000)) {
    std::ifstream stat(fmt::format("/proc/{}/stat", pid));
    stat >> word >> word >> word;  // the third word is the state: the program's name has no blank
  }
}

int run(const Options& options, char** command) {
  Tracer tracer(options);
  int go[2];
  if (::pipe(go) != 0) fail("pipe");
  const pid_t child = ::fork();
  if (child == 0) {
    char byte;
    if (::read(go[0], &byte, 1) == 1) ::execvp(command[0], command);
    ::_exit(127);
  }
  wait_until_asleep(child);  // so that its flow always begins at the same instruction
  tracer.enable(child);
  tracer.on(PITRACE_ITRACE_ALL);
  if (::write(go[1], "g", 1) != 1) fail("write");
  int status = 0;
  ::waitpid(child, &status, 0);
  tracer.off(PITRACE_ITRACE_ALL);
  tracer.stop();
  std::cout << fmt::format("status {}\n",
                           WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
  const int result = report(tracer, options, 0);
  tracer.remove();
  return result;
}

// The trace's buffers may fill; the traced parts change each time.
int crowd(const Options& options, uint64_t cycles) {
  const pid_t pid = start_crowd();
  uint64_t steps = 0;
  for (uint64_t i = 0; i < cycles; ++i) {
    Options now = options;
    constexpr uint32_t parts[] = {0, PITRACE_ITRACE_NO_KERNEL, PITRACE_ITRACE_NO_USER};
    now.flags |= parts[i % 3] | (i % 2 == 0 ? PITRACE_ITRACE_CHILDREN : 0u);
    now.bytes = 1 << 20;
    const Tracer tracer(now);
    tracer.enable(pid);
    tracer.on(PITRACE_ITRACE_ALL);
    ::usleep(static_cast<useconds_t>(i * 37 % 5000));
    // Alternate three ways to end: in order; the trace first; closing the handle only.
    if (i % 3 == 0) tracer.off(PITRACE_ITRACE_ALL);
    if (i % 3 == 1) tracer.stop();
    steps += tracer.info().steps;
    if (i % 3 == 0) tracer.remove();
  }
  std::cout << end_crowd(pid) << fmt::format(" steps {}\n", steps);
  return 0;
}

double seconds_now() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return double(time.tv_sec) + double(time.tv_nsec) / 1e9;
}

// A thread that is traced in the kernel ends the trace with its name hooks attached, by a call and
// by closing the handle; and attaches hooks.
int ends_itself(Options options) {
  options.names = true;
  double began, ended, attached;
  {
    const Tracer tracer(options);
    tracer.enable(::getpid());
    tracer.on(PITRACE_ITRACE_SELF);
    began = seconds_now();
    tracer.stop();
    ended = seconds_now();
  }
  std::cout << fmt::format("off {:.1f}\n", ended - began) << std::flush;
  {
    const Tracer tracer(options);
    tracer.enable(::getpid());
    tracer.on(PITRACE_ITRACE_SELF);
    began = seconds_now();
  }
  ended = seconds_now();
  std::cout << fmt::format("close {:.1f}\n", ended - began) << std::flush;
  options.names = false;
  const Tracer tracer(options);
  tracer.enable(::getpid());
  tracer.on(PITRACE_ITRACE_SELF);
  began = seconds_now();
  tracer.enable_major(PITRACE_MAJOR_MTE);
  attached = seconds_now();
  std::cout << fmt::format("attach {:.1f}\n", attached - began);
  return 0;
}

int enable_all(const Options& options) {
  const Tracer tracer(options);
  tracer.enable(1, INT32_MAX);
  return 0;
}

int hold(const Options& options, pid_t pid) {
  const Tracer tracer(options);
  tracer.enable(pid);
  tracer.on(PITRACE_ITRACE_ALL);
  std::cout << "ready" << std::endl;
  ::pause();
  return 0;
}

int run_main(int argc, char** argv) {
  Options options;
  int option;
  while ((option = ::getopt(argc, argv, "+iIkucdnsEt:m:")) != -1) switch (option) {
      case 'i':
        options.flags |= PITRACE_ITRACE_COUNT;
        break;
      case 'I':
        options.flags |= PITRACE_ITRACE_INTERRUPTS;
        break;
      case 'k':
        options.flags |= PITRACE_ITRACE_NO_USER;
        break;
      case 'u':
        options.flags |= PITRACE_ITRACE_NO_KERNEL;
        break;
      case 'c':
        options.flags |= PITRACE_ITRACE_CHILDREN;
        break;
      case 'd':
        options.dump = true;
        break;
      case 'n':
        options.decode = false;
        break;
      case 's':
        options.flags |= PITRACE_ITRACE_STEP;
        break;
      case 'E':
        options.exceptions = true;
        break;
      case 'm':
        options.threads = uint32_t(std::strtoul(optarg, nullptr, 10));
        break;
      case 't':
        options.bytes = std::strtoull(optarg, nullptr, 10) << 10;
        break;
      default:
        std::cerr << usage;
        return 2;
    }
  argv += optind;
  const std::string_view command = argv[0] != nullptr ? argv[0] : "";
  if (command == "loop-for-ever")
    for (volatile uint64_t i = 0;;) i = i + 1;
  if (command == "misuse") return misuse();
  if (command == "ends-itself") return ends_itself(options);
  if (command == "enable-all") return enable_all(options);
  if (command == "step" && argv[1] != nullptr && argv[2] != nullptr)
    return step(std::atoi(argv[1]), std::atoi(argv[2]));
  if (command.empty()) {
    std::cerr << usage;
    return 2;
  }
  if (argv[1] != nullptr && command == "sleepers") return sleepers(std::atoi(argv[1]));
  if (argv[1] != nullptr && command == "self")
    return self(options, argv[1], argv[2] != nullptr ? std::strtoull(argv[2], nullptr, 10) : 1);
  if (argv[1] != nullptr && command == "crowd")
    return crowd(options, std::strtoull(argv[1], nullptr, 10));
  if (argv[1] != nullptr && command == "hold") return hold(options, std::atoi(argv[1]));
  if (argv[1] != nullptr && command == "count")
    return count(options, argv[1], argv[2] != nullptr ? std::strtoull(argv[2], nullptr, 10) : 1);
  if (argv[1] != nullptr && command == "run") return run(options, argv + 1);
  std::cerr << usage;
  return 2;
}

}  // namespace
}  // namespace itracer

int main(int argc, char** argv) {
  return itracer::run_main(argc, argv);
}
