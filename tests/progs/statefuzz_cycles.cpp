// SPDX-License-Identifier: MIT
// Repeatedly starts a facility of the module, kills the starting process at a random moment, and
// unloads and reloads the module. The process must die by SIGKILL, the module must unload at once,
// and nothing of it may remain.
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include "statefuzz_epoch.h"

namespace statefuzz {

namespace {

constexpr const char* subjects[] = {"trace", "itrace", "ptt", "hooks", "all"};
constexpr int subject_count = sizeof subjects / sizeof subjects[0];
// All files with possible remainders are read after this number of cycles, as that takes longer
// than the cycles.
constexpr uint64_t deep_every = 250;

struct Totals {
  uint64_t cycles[subject_count] = {};
  uint64_t waits = 0;  // unloads that had to wait for a module in use
  double longest = 0;  // longest of these waits, in seconds
  uint64_t bad = 0;
};

// ---- start of a facility; the kill may come after any step ----

class Starter {
 public:
  explicit Starter(Random& random)
      : random_(random), device_(::open(PITRACE_DEVICE_PATH, O_RDWR | O_CLOEXEC)) {
    if (device_ < 0) ::_exit(95);
  }
  void trace();
  void itrace();
  void ptt();
  void hooks();
  [[noreturn]] void work();

 private:
  void call(unsigned long command, void* argument) {
    if (::ioctl(device_, command, argument) == 0) return;
    std::printf("# %s: %s\n", name_of_command(static_cast<uint32_t>(command)).c_str(),
                std::strerror(errno));
    std::fflush(stdout);
    ::_exit(96);
  }
  void allocate(uint32_t major);
  pid_t victim();
  Random& random_;
  int device_;
  bool allocated_ = false;
  bool attached_ = false;
};

void Starter::allocate(uint32_t major) {
  if (!allocated_) {
    pitrace_alloc alloc{};
    alloc.trace_bytes = alloc.mte_bytes = 65536u << random_.below(5);
    alloc.mode = static_cast<uint32_t>(random_.below(3));
    alloc.section_bytes = alloc.mode == PITRACE_MODE_NORMAL ? 0 : 16384;
    call(PITRACE_IOC_ALLOC, &alloc);
    allocated_ = true;
  }
  call(PITRACE_IOC_ENABLE, &major);
}

void Starter::trace() {
  constexpr uint32_t majors[] = {0xff, 0, 0x12, 0x04, 0x05, 0x03, 0x19};
  pitrace_stacks stacks{3, 32};
  allocate(random_.pick(majors));
  pitrace_copies copies{8192, 0, 256 << 10};
  if (random_.one_in(3)) call(PITRACE_IOC_STACKS, &stacks);
  if (random_.one_in(2)) call(PITRACE_IOC_COPIES, &copies);
  if (random_.one_in(2))
    ::mmap(nullptr, 4096, PROT_READ, MAP_SHARED, device_, PITRACE_MMAP_OFFSET(0, 0));
  call(PITRACE_IOC_ON, nullptr);
  if (random_.one_in(4)) call(PITRACE_IOC_SUSPEND, nullptr);
}

void some_work(Random& random) {
  switch (random.below(4)) {
    case 0: {
      const pid_t pid = ::fork();
      if (pid == 0) ::_exit(0);
      ::waitpid(pid, nullptr, 0);
      break;
    }
    case 1:
      ::usleep(static_cast<useconds_t>(random.below(200)));
      break;
    case 2: {
      void* at = ::mmap(nullptr, 65536, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
      ::munmap(at, 65536);
      break;
    }
    default:
      for (int i = 0; i < 100; ++i) ::syscall(SYS_getppid);
  }
}

// Starts a child that must end with its starter, by SIGKILL only.
pid_t Starter::victim() {
  const pid_t starter = ::getpid();
  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The starter may have died before prctl().
  if (::getppid() != starter) ::raise(SIGKILL);
  for (;;) some_work(random_);
}

void Starter::itrace() {
  constexpr uint32_t flags[] = {0, PITRACE_ITRACE_NO_KERNEL, PITRACE_ITRACE_COUNT,
                                PITRACE_ITRACE_INTERRUPTS,
                                PITRACE_ITRACE_NO_KERNEL | PITRACE_ITRACE_CHILDREN};
  uint32_t all = PITRACE_ITRACE_ALL;
  pitrace_itrace wanted{};
  wanted.flags = random_.pick(flags);
  const auto pid = static_cast<uint32_t>(victim());
  pitrace_itrace_pids pids{pid, pid};
  allocate(0x30);
  call(PITRACE_IOC_IT_INSTALL, &wanted);
  call(PITRACE_IOC_IT_ENABLE, &pids);
  call(PITRACE_IOC_ON, nullptr);
  if (random_.one_in(8)) ::kill(static_cast<pid_t>(pid), SIGSTOP);
  call(PITRACE_IOC_IT_ON, &all);
}

void Starter::ptt() {
  pitrace_ptt_init init{};
  init.metrics = 1 + static_cast<uint32_t>(random_.below(2));
  init.threads = 4096;
  init.pids = 65536;
  init.metric[1].kind = PITRACE_PTT_COUNTER;
  init.metric[1].type = 1;
  init.metric[1].config = random_.below(5);
  call(PITRACE_PTT_IOC_INIT, &init);
  const int fd = ::open(PITRACE_PTT_DEVICE_PATH, O_RDWR | O_CLOEXEC);
  uint64_t offset = 0;
  if (fd < 0 || ::ioctl(fd, PITRACE_PTT_IOC_ATTACH, &offset) != 0) ::_exit(97);
  attached_ = true;
  ::mmap(nullptr, PITRACE_PTT_AREA_BYTES, PROT_READ, MAP_SHARED, fd, 0);
}

void Starter::hooks() {
  allocate(0x30);
  call(PITRACE_IOC_ON, nullptr);
  call(PITRACE_IOC_AI_ON, nullptr);
  for (;;) {
    struct {
      pitrace_record header;
      uint32_t ints[60];
    } record{};
    record.header.type_length = static_cast<uint16_t>(sizeof record.header + 4 * random_.below(60));
    record.header.major = 0x30;
    ::ioctl(device_, PITRACE_IOC_HOOK, &record);
    if (random_.one_in(1000)) some_work(random_);
  }
}

void Starter::work() {
  for (;;) some_work(random_);
}

[[noreturn]] void start(int subject, Random random) {
  Starter starter(random);
  switch (subject) {
    case 0:
      starter.trace();
      break;
    case 1:
      starter.itrace();
      break;
    case 2:
      starter.ptt();
      break;
    case 3:
      starter.hooks();
      break;
    default:
      starter.ptt();
      starter.itrace();
  }
  starter.work();
}

// ---- loading and unloading ----

bool load(const char* path) {
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  const bool loaded = fd >= 0 && ::syscall(SYS_finit_module, fd, "", 0) == 0;
  if (!loaded)
    std::printf("finding: the module %s does not load: %s\n", path, std::strerror(errno));
  if (fd >= 0) ::close(fd);
  return loaded;
}

bool unload(Totals& totals, double limit) {
  const double begin = seconds_now();
  bool waited = false;
  while (::syscall(SYS_delete_module, "pitrace", O_NONBLOCK) != 0) {
    if (errno == ENOENT) return true;
    if ((errno != EAGAIN && errno != EBUSY) || seconds_now() - begin > limit) {
      std::printf("finding: the module does not unload: %s\n", std::strerror(errno));
      return false;
    }
    waited = true;
    ::usleep(1000);
  }
  totals.waits += waited;
  if (waited && seconds_now() - begin > totals.longest) totals.longest = seconds_now() - begin;
  return true;
}

bool stays_in(const char* path, const char* what) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.find(what) == std::string::npos) continue;
    std::printf("finding: %s: %s\n", path, line.c_str());
    return true;
  }
  return false;
}

bool nothing_remains(bool deep) {
  bool clean = true;
  for (const char* path : {PITRACE_DEVICE_PATH, PITRACE_PTT_DEVICE_PATH, "/sys/module/pitrace"})
    if (::access(path, F_OK) == 0) {
      std::printf("finding: %s remains\n", path);
      clean = false;
    }
  if (!deep) return clean;
  clean &= !stays_in("/proc/kallsyms", "[pitrace]");
  clean &= !stays_in("/proc/vmallocinfo", "pitrace");
  clean &= !stays_in("/proc/interrupts", "pitrace");
  clean &= !stays_in("/sys/devices/system/cpu/hotplug/states", "pitrace");
  clean &= !stays_in("/sys/kernel/debug/kprobes/list", "pitrace");
  return clean;
}

// Waits until all remaining processes have ended; each must have ended by SIGKILL.
bool all_end(pid_t starter, double limit) {
  const double begin = seconds_now();
  bool good = true;
  for (;;) {
    int status = 0;
    const pid_t pid = ::waitpid(-1, &status, WNOHANG);
    if (pid < 0) return good;
    if (pid == 0) {
      if (seconds_now() - begin > limit) {
        std::printf("finding: a killed process does not end\n");
        return false;
      }
      ::usleep(500);
      continue;
    }
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) continue;
    // Grandchildren may also exit normally.
    if (pid != starter && WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
    std::printf("finding: a process ended with status %x\n", status);
    good = false;
  }
}

bool cycle(const char* module, const Options& options, uint64_t number, Totals& totals) {
  Random random(options.seed * 0x100000001b3 ^ number);
  expedite_rcu(number / subject_count % 8 != 0);
  const int subject = static_cast<int>(number % subject_count);
  // Ranges from before the first step to long after the last one.
  const auto moment = static_cast<useconds_t>(random.below(200ull << random.below(11)));
  const pid_t pid = ::fork();
  if (pid == 0) start(subject, Random(random.next()));
  ::usleep(moment);
  ::kill(pid, SIGKILL);
  ++totals.cycles[subject];
  const bool good = all_end(pid, options.timeout) && unload(totals, options.timeout) &&
                    nothing_remains(number % deep_every == deep_every - 1) && load(module);
  if (good) return true;
  std::printf("finding: cycles seed %llu cycle %llu: %s, killed after %u us\n",
              static_cast<unsigned long long>(options.seed),
              static_cast<unsigned long long>(number), subjects[subject], moment);
  ++totals.bad;
  return false;
}

}  // namespace

int run_cycles(const char* module, const Options& options) {
  Totals totals;
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const double begin = seconds_now();
  double last_report = begin;
  uint64_t number = options.from;
  if (::access(PITRACE_DEVICE_PATH, F_OK) != 0 && !load(module)) return 3;
  for (; number < options.from + options.calls && totals.bad == 0 &&
         seconds_now() - begin < options.seconds;
       ++number) {
    cycle(module, options, number, totals);
    if (seconds_now() - last_report < options.progress) continue;
    last_report = seconds_now();
    std::printf("position %llu seconds %.0f\n", static_cast<unsigned long long>(number + 1),
                last_report - begin);
  }
  if (totals.bad == 0 &&
      !(unload(totals, options.timeout) && nothing_remains(true) && load(module)))
    ++totals.bad;
  expedite_rcu(false);
  std::printf("cycles seed %llu from %llu to %llu cycles %llu seconds %.0f bad %llu",
              static_cast<unsigned long long>(options.seed),
              static_cast<unsigned long long>(options.from),
              static_cast<unsigned long long>(number),
              static_cast<unsigned long long>(number - options.from), seconds_now() - begin,
              static_cast<unsigned long long>(totals.bad));
  for (int subject = 0; subject < subject_count; ++subject)
    std::printf(" %s=%llu", subjects[subject],
                static_cast<unsigned long long>(totals.cycles[subject]));
  std::printf(" waits %llu longest %.2f\n", static_cast<unsigned long long>(totals.waits),
              totals.longest);
  return totals.bad ? 1 : 0;
}

}  // namespace statefuzz
