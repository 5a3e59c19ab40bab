// SPDX-License-Identifier: MIT
// A fuzzer of the module's ioctls and mappings with a model of the expected results: processes of
// several users make calls that the model predicts, then concurrent calls that are not predicted,
// and are killed.
#include "statefuzz.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "statefuzz_epoch.h"

namespace statefuzz {

namespace {

constexpr const char* usage =
    "Usage: statefuzz [OPTION]...           random calls; root on a machine for this test\n"
    "       statefuzz cycles MODULE [OPTION]...   start, SIGKILL, unload, load\n"
    "  --seed N     default 1\n"
    "  --from N     continue at N, a printed position\n"
    "  --calls N    stop after N calls (cycles: N cycles); default 20000\n"
    "  --seconds N  or after N seconds\n"
    "  --timeout N  seconds until a call that has not returned is a finding; default 120\n"
    "  --progress N print the position each N seconds; default 60\n"
    "  --failing 1  let allocations of marked tasks fail in storms, if fault "
    "injection is set up\n"
    "  --bold 0     threads that are traced in the kernel make no long calls\n"
    "  --trace 1    print each call\n";

void copy_program(char (&path)[128], const char* name, mode_t mode) {
  std::snprintf(path, sizeof path, "/tmp/statefuzz-%s-%d", name, ::getpid());
  const int from = ::open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  const int to = ::open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
  static char buffer[65536];
  ssize_t count = 0;
  while ((count = ::read(from, buffer, sizeof buffer)) > 0)
    if (::write(to, buffer, static_cast<size_t>(count)) != count) std::exit(3);
  if (from < 0 || to < 0 || ::fchmod(to, mode) != 0) {
    std::fprintf(stderr, "statefuzz: cannot write %s: %s\n", path, std::strerror(errno));
    std::exit(3);
  }
  ::close(from);
  ::close(to);
}

void make_shared() {
  const int fd = static_cast<int>(::syscall(SYS_memfd_create, "statefuzz", 0));
  if (fd < 0 || ::ftruncate(fd, sizeof(Shared)) != 0 || ::dup2(fd, shared_fd) < 0) std::exit(3);
  ::close(fd);
}

void map_shared() {
  void* at = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, shared_fd, 0);
  if (at == MAP_FAILED) {
    std::perror("statefuzz: the shared memory");
    std::exit(3);
  }
  shared = static_cast<Shared*>(at);
}

uint64_t calls_made() {
  uint64_t sum = 0;
  for (const auto& count : shared->counts.calls) sum += count;
  return sum;
}

void summarize(const Options& options, uint64_t to, double seconds) {
  const Counts& counts = shared->counts;
  std::printf("run seed %llu from %llu to %llu calls %llu seconds %.0f mismatches %llu kinds",
              static_cast<unsigned long long>(options.seed),
              static_cast<unsigned long long>(options.from), static_cast<unsigned long long>(to),
              static_cast<unsigned long long>(calls_made()), seconds,
              static_cast<unsigned long long>(counts.mismatches));
  for (int kind = 0; kind < kinds; ++kind)
    std::printf(" %s=%llu", name_of(static_cast<Kind>(kind)),
                static_cast<unsigned long long>(counts.calls[kind]));
  std::printf(" commands");
  for (int i = 0; i <= index_of_command(0); ++i)
    std::printf(" %s=%llu/%llu", name_of_index(i).c_str(),
                static_cast<unsigned long long>(counts.successes[i]),
                static_cast<unsigned long long>(counts.commands[i]));
  std::printf(" errors");
  for (int error = 0; error < errors_max; ++error)
    if (counts.errors[error])
      std::printf(" %s=%llu", error ? ::strerrorname_np(error) : "0",
                  static_cast<unsigned long long>(counts.errors[error]));
  std::printf(" longest %.3f s\n", static_cast<double>(counts.longest) / 1e6);
  if (!options.trace) return;
  for (int i = 0; i < 64; ++i)
    if (counts.microseconds[i] > 1000)
      std::printf("# %s %.0f ms\n",
                  i == 63           ? "children"
                  : i >= 63 - kinds ? name_of(static_cast<Kind>(i - 63 + kinds))
                                    : name_of_index(i).c_str(),
                  static_cast<double>(counts.microseconds[i]) / 1e3);
}

int run(const Options& options) {
  make_shared();
  map_shared();
  new (shared) Shared{};
  shared->processors = static_cast<int>(::sysconf(_SC_NPROCESSORS_CONF));
  copy_program(shared->program, "program", 0755);
  copy_program(shared->set_user, "set-user", 04755);
  shared->bold = options.bold;
  // Become the reaper of the workers' orphans, which are waited for.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const double begin = seconds_now();
  double last_report = begin;
  uint64_t position = options.from - options.from % epoch_calls;
  const uint64_t end = options.from + options.calls;
  int status = 0;
  while (position < end && status == 0 && seconds_now() - begin < options.seconds) {
    status = run_epoch(options, position);
    position += epoch_calls;
    if (shared->counts.mismatches >= 20) status = 1;
    if (seconds_now() - last_report < options.progress) continue;
    last_report = seconds_now();
    std::printf("position %llu calls %llu seconds %.0f\n",
                static_cast<unsigned long long>(position),
                static_cast<unsigned long long>(calls_made()), last_report - begin);
    std::fflush(stdout);
  }
  expedite_rcu(false);
  summarize(options, position, seconds_now() - begin);
  ::unlink(shared->program);
  ::unlink(shared->set_user);
  if (status == 0 && shared->counts.mismatches) status = 1;
  return status;
}

int main_program(int argc, char** argv) {
  if (argc == 4 && std::strcmp(argv[1], "--execute") == 0) {
    map_shared();
    return executed(std::atoi(argv[2]), std::atoi(argv[3]));
  }
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const bool cycles = argc > 2 && std::strcmp(argv[1], "cycles") == 0;
  Options options;
  for (int i = cycles ? 3 : 1; i < argc; ++i) {
    const std::string name = argv[i];
    const char* value = i + 1 < argc ? argv[++i] : nullptr;
    const auto number = value ? std::strtoull(value, nullptr, 0) : 0;
    if (value && name == "--seed")
      options.seed = number;
    else if (value && name == "--from")
      options.from = number;
    else if (value && name == "--calls")
      options.calls = number;
    else if (value && name == "--seconds")
      options.seconds = static_cast<double>(number);
    else if (value && name == "--timeout")
      options.timeout = static_cast<double>(number);
    else if (value && name == "--progress")
      options.progress = static_cast<double>(number);
    else if (value && name == "--trace")
      options.trace = number;
    else if (value && name == "--failing")
      options.failing = number;
    else if (value && name == "--bold")
      options.bold = number;
    else {
      std::fputs(usage, stderr);
      return 2;
    }
  }
  return cycles ? run_cycles(argv[2], options) : run(options);
}

}  // namespace

}  // namespace statefuzz

int main(int argc, char** argv) {
  return statefuzz::main_program(argc, argv);
}
