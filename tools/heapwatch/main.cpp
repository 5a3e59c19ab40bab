// SPDX-License-Identifier: MIT
// heapwatch: records the allocations of a process that runs, by uprobes.
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <pi/files.h>
#include <pi/printable.h>
#include <pi/unique_fd.h>

#include "callers.h"
#include "cli.h"
#include "leaks.h"
#include "paths.h"
#include "probes.h"
#include "recording.h"
#include "stacks/table_child.h"

namespace {

namespace cli = pi::cli;
namespace heap_log = pi::heap_log;
using namespace heapwatch;
using Clock = std::chrono::steady_clock;

constexpr int most_pid = 4194304, most_seconds = 1'000'000, most_search_seconds = 3600;

cli::OptionTable option_table() {
  cli::OptionTable table(
      {"heapwatch [OPTION]... PID",
       "Records by call path what process PID allocates from now on by malloc() and others, and "
       "frees, and how long it waits for locks, until the process ends, the time is up, or SIGINT. "
       "run.heap --pid calls this "
       "program and prints the report. Only root can use it.",
       {"heapwatch 4711", "heapwatch --seconds=10 -o heap 4711"},
       "Exit status: 0 done, 1 failed, 255 wrong usage."});
  table.group("Options")("seconds", cli::text("N"), "end after N seconds")(
      "leaks", cli::text("N", "0"),
      "at the end, stop the process for N seconds at most and search for blocks "
      "that nothing refers to any more; 0: do not search")("o", cli::text("DIR", "."),
                                                           "where the log, heap.PID.N, is written")(
      "no-heap", "do not record allocations")("no-locks", "do not record waits for locks")(
      "with-parent", cli::text("PID"),
      "end when process PID, which has started this program, ends");
  table.positional("pid", 1);
  return table;
}

struct Wanted {
  int pid = 0;
  std::optional<int> seconds;
  int search_seconds = 0;
  std::string directory;
  bool heap = true, locks = true;
  std::optional<int> parent;
};

std::optional<int> number(const std::string& text, int least, int most) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least || value > most)
    return std::nullopt;
  return value;
}

// Returns an error message, or "".
std::string read_options(const cli::Values& given, Wanted& wanted) {
  if (given.words("pid").empty()) return "a process is to be named.";
  const auto pid = number(given.words("pid").front(), 1, most_pid);
  if (!pid) return fmt::format("'{}' is not a process id.", given.words("pid").front());
  wanted.pid = *pid;
  if (given.has("seconds")) {
    wanted.seconds = number(given.text("seconds"), 1, most_seconds);
    if (!wanted.seconds)
      return fmt::format("--seconds is a whole number from 1 to {}.", most_seconds);
  }
  const auto search_seconds = number(given.text("leaks"), 0, most_search_seconds);
  if (!search_seconds)
    return fmt::format("--leaks is a whole number from 0 to {}.", most_search_seconds);
  wanted.search_seconds = *search_seconds;
  wanted.directory = given.text("o");
  wanted.heap = !given.flag("no-heap");
  wanted.locks = !given.flag("no-locks");
  if (!wanted.heap && !wanted.locks) return "--no-heap and --no-locks leave nothing to record.";
  if (!wanted.heap && wanted.search_seconds != 0)
    return "--leaks searches for what was allocated, which --no-heap does not record.";
  if (given.has("with-parent")) {
    wanted.parent = number(given.text("with-parent"), 1, most_pid);
    if (!wanted.parent) return "--with-parent is a process id.";
  }
  return "";
}

pi::Result<pi::UniqueFd> open_process(int pid) {
  pi::UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (process) return process;
  if (errno == EINVAL || errno == ENOENT)
    return pi::Error{1, fmt::format("{} is the id of a thread, not of a process.", pid)};
  return pi::Error{1, fmt::format("Cannot open process {}: {}.", pid, std::strerror(errno))};
}

// That its parent is still the one that has started it: one that is killed before it is opened
// would be missed. Without a wish none, which poll() ignores.
pi::Result<pi::UniqueFd> open_parent(std::optional<int> pid) {
  if (!pid) return pi::UniqueFd();
  pi::UniqueFd parent(static_cast<int>(::syscall(SYS_pidfd_open, *pid, 0)));
  if (!parent || ::getppid() != *pid)
    return pi::Error{1,
                     fmt::format("Process {} has not started this program, or has ended.", *pid)};
  return parent;
}

// Since Linux 6.11 a probed function returns through a system call, which the filters of programs
// (seccomp) did not know and killed programs for, until 6.14 and late versions of 6.12 and 6.13.
bool may_filter_kill(std::string_view status) {
  utsname system{};
  unsigned major = 0, minor = 0, patch = 0;
  if (::uname(&system) != 0 || std::sscanf(system.release, "%u.%u.%u", &major, &minor, &patch) < 2)
    return true;
  const bool filtered = status.find("\nSeccomp:\t2\n") != status.npos;
  return filtered && major == 6 && minor >= 11 && minor <= 13 && !(minor == 12 && patch >= 22);
}

// A process for which a probe is not safe.
pi::Status check_process(int pid) {
  const auto status = pi::read_system_file(fmt::format("/proc/{}/status", pid), 4 << 20);
  if (!status) return pi::Error{1, fmt::format("/proc/{}/status cannot be read.", pid)};
  if (may_filter_kill(*status))
    return pi::Error{1, fmt::format("Process {} has a filter of system calls (seccomp), which on "
                                    "this kernel may kill it for the return of a probed function.",
                                    pid)};
  const size_t features = status->find("\nx86_Thread_features:\t");
  if (features != status->npos &&
      status->find("shstk", features) < status->find('\n', features + 1))
    return pi::Error{1, fmt::format("Process {} has a shadow stack, with which probes on the "
                                    "return of functions have not been tested.",
                                    pid)};
  return {};
}

pi::UniqueFd ending_signals() {
  sigset_t ending;
  sigemptyset(&ending);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGQUIT}) sigaddset(&ending, signal);
  ::sigprocmask(SIG_BLOCK, &ending, nullptr);
  return pi::UniqueFd(::signalfd(-1, &ending, SFD_CLOEXEC));
}

uint64_t nanoseconds_since(Clock::time_point begin) {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin).count());
}

// The log, and what writes it.
class Watch {
 public:
  Watch(int pid, std::span<const LockFunction> locks)
      : locks_(locks),
        callers_(pid),
        memory_(std::make_unique<std::byte[]>(pi::heapit::Paths::memory_bytes)),
        paths_(memory_.get()),
        recording_(log_) {}

  pi::Status begin(const Wanted& wanted) {
    if (!log_.create(wanted.directory.c_str(), wanted.pid))
      return pi::Error{1, fmt::format("Cannot create the log {}: {}.", pi::printable(log_.path()),
                                      std::strerror(errno))};
    log_.header().recorded_ns = 1;
    if (!paths_.begin(log_)) return pi::Error{1, "The log has no space."};
    callers_.prepare();
    return {};
  }

  // Until the time is up, or one of ends is readable.
  void run(Probes& probes, const std::array<int, 3>& ends, const Wanted& wanted) {
    const auto begin = Clock::now();
    if (!probes.are_gone()) probes.switch_on();
    for (bool more = true; more;) {
      pollfd waits[] = {{ends[0], POLLIN, 0},
                        {ends[1], POLLIN, 0},
                        {ends[2], POLLIN, 0},
                        {probes.ring(), POLLIN, 0}};
      ::poll(waits, std::size(waits), wait_ms);
      const bool are_gone = probes.are_gone();
      if (are_gone) probes.switch_off();
      more = (waits[0].revents | waits[1].revents | waits[2].revents) == 0 && !are_gone &&
             !(wanted.seconds && Clock::now() - begin >= std::chrono::seconds(*wanted.seconds));
      log_.header().recorded_ns = nanoseconds_since(begin);
      drain(probes);
      if (more || wanted.search_seconds == 0) continue;
      // The signal that has ended the recording must not end the search.
      signalfd_siginfo signal;
      if ((waits[0].revents & POLLIN) != 0 && ::read(ends[0], &signal, sizeof signal) < 0) break;
      if ((waits[1].revents | waits[2].revents) == 0 && !probes.are_gone())
        search_leaks(probes, wanted);
    }
    probes.switch_off();
    drain(probes);
    probes.remove();
    drain(probes);
    recording_.lose(probes.lost());
  }

  const char* path() const { return log_.path(); }
  std::vector<std::string> notes() const { return callers_.notes(); }

 private:
  static constexpr int wait_ms = 3;
  static constexpr size_t more_blocks = 8192;  // than there is space for in the ring

  // Only what was allocated meanwhile can be leaked, and all other memory may refer to it.
  void search_leaks(Probes& probes, const Wanted& wanted) {
    using pi::heapit::LeakSearch;
    const std::string folder = fmt::format("/proc/{}/", wanted.pid);
    const std::string maps = folder + "maps", pagemap = folder + "pagemap";
    const pi::heapit::Searched what{
        wanted.pid, false, {maps.c_str(), nullptr, false}, pagemap.c_str(), wanted.pid};
    const pi::heapit::SearchLimit limit(static_cast<uint64_t>(wanted.search_seconds) *
                                        1'000'000'000);
    // If this program must be killed.
    log_.header().search_limit = limit.nanoseconds();
    log_.header().search = heap_log::no_time;
    LeakSearch search(what, recording_.blocks().count() + more_blocks, limit);
    heap_log::Search state = search.stop();
    if (state == heap_log::searched) {
      drain(probes);
      recording_.lose(probes.lost());
      const bool has_space = recording_.blocks().for_each(
          [&](uint64_t address, const auto& block) { return search.add(address, block, log_); });
      state = !has_space                     ? heap_log::no_memory
              : !recording_.knows_all_ends() ? heap_log::blocks_unknown
                                             : search.run();
    }
    search.resume();
    search.write(log_, state);
  }

  void take_wait(const Call& call, std::span<const std::byte> stack) {
    callers_.find(call, stack, stack_);
    const heap_log::Kind kind = callers_.take_lock(locks_, stack_);
    heap_log::Path& path = paths_.find(kind, stack_, log_, callers_);
    // For a condition the C library uses the other operation, and then this one for the mutex.
    const bool is_for_mutex = (call.registers[rsi] & FUTEX_CMD_MASK) == FUTEX_WAIT;
    if (kind == heap_log::condition && is_for_mutex)
      pi::heapit::add(path.number[heap_log::nanoseconds], call.value);
    else
      pi::heapit::add_wait(path, call.value);
  }

  void drain(Probes& probes) {
    probes.drain([&](const Call& call, std::span<const std::byte> stack) {
      recording_.lose(call.lost);
      const Probe& probe = probes.probe(call);
      if (probe.function == Function::dlclose)
        callers_.code_unloaded();
      else if (probe.function == Function::futex)
        take_wait(call, stack);
      else if (probe.is_return)
        recording_.leave(probe.function, call, [&]() -> heap_log::Path& {
          callers_.find(call, stack, stack_);
          return paths_.find(heap_log::allocation, stack_, log_, callers_);
        });
      else
        recording_.enter(probe.function, call);
    });
  }

  const std::span<const LockFunction> locks_;
  pi::heapit::Log log_;
  Callers callers_;
  const std::unique_ptr<std::byte[]> memory_;
  pi::heapit::Paths paths_;
  pi::heapit::Stack stack_;
  Recording recording_;
};

pi::Status record(const Wanted& wanted) {
  const auto process = open_process(wanted.pid);
  if (!process) return process.error();
  const auto parent = open_parent(wanted.parent);
  if (!parent) return parent.error();
  if (const auto checked = check_process(wanted.pid); !checked) return checked.error();
  const auto allocators = find_allocators(wanted.pid);
  if (!allocators) return allocators.error();
  if (const auto usable = has_allocator(*allocators, wanted.pid); wanted.heap && !usable)
    return usable.error();
  auto probes = Probes::open(wanted.pid, *allocators, wanted.heap);
  if (!probes) return probes.error();
  if (const auto added = wanted.locks ? probes->add_waits(wanted.pid) : pi::Status(); !added) {
    if (!wanted.heap) return added.error();
    cli::warning(fmt::format("Waits for locks are not recorded: {}.", added.error().message));
  }
  if (const auto added = probes->end_at_exec(wanted.pid); !added)
    cli::warning(
        fmt::format("Should the process start another program by exec(), the first milliseconds of "
                    "that are recorded, too: {}.",
                    added.error().message));
  // Before there are other threads, one of which would get them.
  const pi::UniqueFd signals = ending_signals();
  if (!signals) return pi::Error{1, "Signals cannot be waited for."};
  const auto watch = std::make_unique<Watch>(wanted.pid, allocators->locks);
  if (const auto begun = watch->begin(wanted); !begun) return begun.error();
  for (const std::string& note : allocators->notes) cli::warning(note + '.');
  fmt::print("{}\n", pi::printable(watch->path()));
  std::fflush(stdout);
  watch->run(*probes, {signals.get(), process->get(), parent->get()}, wanted);
  for (const std::string& note : watch->notes()) cli::warning(note);
  return {};
}

int run(const std::vector<std::string>& words) {
  const auto outcome = option_table().parse(words);
  if (outcome.exit) return *outcome.exit;
  Wanted wanted;
  if (const auto wrong = read_options(outcome.values, wanted); !wrong.empty()) {
    cli::error(wrong);
    cli::hint("heapwatch --help lists the options.");
    return cli::exit_usage;
  }
  const auto recorded = record(wanted);
  if (recorded) return cli::printed(cli::exit_good);
  cli::error(recorded.error().message);
  return cli::exit_failure;
}

}  // namespace

int main(int count, char** words) {
  if (count == 2 && std::string_view(words[1]) == pi::swtrace::table_child_word)
    ::_exit(pi::swtrace::table_child_main());
  return pi::cli::run_tool("heapwatch", count, words, run);
}
