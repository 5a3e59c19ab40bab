// SPDX-License-Identifier: MIT
// Workloads that itracer traces in itself: each uses one path through the kernel or one instruction
// that a trap flag could disturb.
#include "itracer_work.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <thread>

namespace itracer {
namespace {

void expect(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "itracer: %s\n", what);
  std::exit(4);
}

constexpr uint64_t trap_flag = 0x100;

volatile sig_atomic_t signals;

void none(uint64_t) {}

// 2 n instructions, n - 1 taken branches.
void loop(uint64_t n) {
  asm volatile("1: dec %0\n\tjnz 1b" : "+r"(n) : : "cc");
}

void straight(uint64_t) {
  asm volatile(".rept 1000\n\tlea (%%rax), %%rax\n\t.endr" : : : "rax");
}

[[gnu::noipa]] void recurse(uint64_t n) {
  if (n != 0) recurse(n - 1);
  asm volatile("");  // keeps the recursion from becoming a loop
}
void recursion(uint64_t n) {
  recurse(n);
}

void plt(uint64_t n) {
  while (n-- > 0) ::syscall(SYS_getppid);
}

void getppid(uint64_t n) {
  while (n-- > 0) {
    long result = SYS_getppid;
    asm volatile("syscall" : "+a"(result) : : "rcx", "r11", "memory");
  }
}

// After a system call r11 contains the flags: the trap flag must be clear.
void r11(uint64_t n) {
  while (n-- > 0) {
    long result = SYS_getppid;
    uint64_t flags;
    asm volatile("syscall\n\tmov %%r11, %1" : "+a"(result), "=r"(flags) : : "rcx", "r11", "memory");
    expect((flags & trap_flag) == 0, "r11 shows the trap flag");
  }
}

void pushf(uint64_t n) {
  while (n-- > 0) {
    uint64_t flags;
    asm volatile("lea -128(%%rsp), %%rsp\n\tpushfq\n\tpop %0\n\tlea 128(%%rsp), %%rsp"
                 : "=r"(flags));
    expect((flags & trap_flag) == 0, "pushf shows the trap flag");
  }
}

// The flow must continue after popf.
void popf(uint64_t n) {
  while (n-- > 0)
    asm volatile("lea -128(%%rsp), %%rsp\n\tpushfq\n\tpopfq\n\tlea 128(%%rsp), %%rsp" : : : "cc");
}

// n successive popf instructions: timer interrupts must still be taken.
void popfs(uint64_t n) {
  constexpr uint8_t popfq = 0x9d, ret = 0xc3;
  const size_t flags_bytes = n * 8 + 4096;
  auto* code = static_cast<uint8_t*>(::mmap(nullptr, n + 1, PROT_READ | PROT_WRITE | PROT_EXEC,
                                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0));
  auto* stack = static_cast<uint8_t*>(::mmap(nullptr, flags_bytes, PROT_READ | PROT_WRITE,
                                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0));
  expect(code != MAP_FAILED && stack != MAP_FAILED, "mmap");
  std::memset(code, popfq, n);
  code[n] = ret;
  uint64_t* const flags = reinterpret_cast<uint64_t*>(stack + 2048);
  for (uint64_t i = 0; i < n; ++i) flags[i] = 0x202;
  static uint8_t signal_stack[65536];
  const stack_t other{signal_stack, 0, sizeof signal_stack};
  ::sigaltstack(&other, nullptr);
  struct sigaction action {};
  action.sa_handler = [](int) { signals = signals + 1; };
  action.sa_flags = SA_ONSTACK;
  ::sigaction(SIGALRM, &action, nullptr);
  const itimerval often{{0, 50000}, {0, 50000}}, never{};
  const sig_atomic_t before = signals;
  ::setitimer(ITIMER_REAL, &often, nullptr);
  // The return address is after the flags.
  asm volatile(
      "mov %%rsp, %%rbx\n\tlea 1f(%%rip), %%rax\n\tmov %%rax, (%1, %2, 8)\n\tmov %1, %%rsp\n\t"
      "jmp *%0\n1:\tmov %%rbx, %%rsp"
      :
      : "r"(code), "r"(flags), "r"(n)
      : "rax", "rbx", "cc", "memory");
  ::setitimer(ITIMER_REAL, &never, nullptr);
  std::printf("signals %d\n", static_cast<int>(signals - before));
  ::munmap(code, n + 1);
  ::munmap(stack, flags_bytes);
}

// Writes back flags with the trap flag cleared.
void cleared(uint64_t n) {
  while (n-- > 0) {
    asm volatile(
        "lea -128(%%rsp), %%rsp\n\tpushfq\n\tandq $~0x100, (%%rsp)\n\tpopfq\n\tlea 128(%%rsp), "
        "%%rsp"
        :
        :
        : "cc", "memory");
    loop(100);
    getppid(1);
  }
}

volatile uint64_t frame_flags;

void on_signal(int, siginfo_t*, void* context) {
  signals = signals + 1;
  frame_flags =
      static_cast<uint64_t>(static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_EFL]);
}

void take(int number) {
  struct sigaction action {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(number, &action, nullptr);
}

void kill_self(uint64_t n) {
  take(SIGUSR1);
  while (n-- > 0) {
    const sig_atomic_t before = signals;
    ::raise(SIGUSR1);
    expect(signals == before + 1, "the signal was not handled");
    expect((frame_flags & trap_flag) == 0, "the signal's frame shows the trap flag");
  }
}

// Signals from interrupts in the middle of user code. One timer for each signal: with an interval
// of 1 ms a traced thread would make no progress.
void timer(uint64_t n) {
  take(SIGALRM);
  while (n-- > 0) {
    const sig_atomic_t before = signals;
    const itimerval once{{0, 0}, {0, 1000}};
    ::setitimer(ITIMER_REAL, &once, nullptr);
    while (signals == before) asm volatile("");
    expect((frame_flags & trap_flag) == 0, "the signal's frame shows the trap flag");
  }
}

void fault(uint64_t n) {
  constexpr size_t page = 4096;
  auto* memory = static_cast<char*>(
      ::mmap(nullptr, n * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  for (uint64_t i = 0; i < n; ++i) static_cast<volatile char*>(memory)[i * page] = 1;
  ::munmap(memory, n * page);
}

void sleep(uint64_t n) {
  while (n-- > 0) {
    const timespec a_while{0, 1000000};
    ::nanosleep(&a_while, nullptr);
  }
}

void fork(uint64_t n) {
  while (n-- > 0) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(7);
    int status = 0;
    expect(::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7,
           "the child failed");
  }
}

void vfork(uint64_t n) {
  while (n-- > 0) {
    const pid_t child = ::vfork();
    if (child == 0) {
      ::execl("/bin/true", "true", nullptr);
      ::_exit(7);
    }
    int status = 0;
    expect(::waitpid(child, &status, 0) == child && status == 0, "the child failed");
  }
}

void threads(uint64_t n) {
  while (n-- > 0) std::thread([] { loop(100); }).join();
}

void int3(uint64_t n) {
  take(SIGTRAP);
  while (n-- > 0) {
    const sig_atomic_t before = signals;
    asm volatile("int3");
    expect(signals == before + 1, "int3 did not raise one signal");
  }
}

// Steps itself: the three instructions after popf trap (while the flag is set), none later.
void own_steps(uint64_t n) {
  take(SIGTRAP);
  while (n-- > 0) {
    const sig_atomic_t before = signals;
    asm volatile(
        "lea -128(%%rsp), %%rsp\n\tpushfq\n\torq $0x100, (%%rsp)\n\tpopfq\n\tnop\n\tnop\n\t"
        "pushfq\n\tandq $~0x100, (%%rsp)\n\tpopfq\n\tnop\n\tnop\n\tlea 128(%%rsp), %%rsp"
        :
        :
        : "cc", "memory");
    expect(signals == before + 5, "wrong number of traps");
  }
}

void segv(uint64_t n) {
  static sigjmp_buf back;
  struct sigaction action {};
  action.sa_handler = [](int) { ::siglongjmp(back, 1); };
  ::sigaction(SIGSEGV, &action, nullptr);
  const volatile uint64_t times = n;
  static uint64_t done;
  for (done = 0; done < times; ++done)
    if (sigsetjmp(back, 1) == 0) asm volatile("movb $1, 8");
}

void rep(uint64_t n) {
  static char buffer[4096];
  uint64_t count = n;
  void* to = buffer;
  asm volatile("rep stosb" : "+D"(to), "+c"(count) : "a"(0) : "memory");
}

// Sets a watchpoint on 8 bytes, for writes by a thread of this address space or of a copy of it.
int watch(const volatile uint64_t* place, pid_t thread) {
  perf_event_attr attr{};
  attr.type = PERF_TYPE_BREAKPOINT;
  attr.size = sizeof attr;
  attr.bp_type = HW_BREAKPOINT_W;
  attr.bp_addr = reinterpret_cast<uint64_t>(place);
  attr.bp_len = HW_BREAKPOINT_LEN_8;
  attr.exclude_kernel = 1;
  const auto fd = static_cast<int>(::syscall(SYS_perf_event_open, &attr, thread, -1, -1, 0));
  expect(fd >= 0, "perf_event_open of a watchpoint");
  return fd;
}

uint64_t hits_of(int fd) {
  uint64_t count = 0;
  expect(::read(fd, &count, sizeof count) == sizeof count, "read of a watchpoint's count");
  return count;
}

void watched(uint64_t n) {
  static volatile uint64_t place;
  const int fd = watch(&place, 0);
  for (uint64_t i = 0; i < n; ++i) place = i;
  expect(hits_of(fd) == n, "the watchpoint was not hit each time");
  ::close(fd);
}

// A watchpoint set by another process in the middle of user code.
void watched_later(uint64_t n) {
  struct Shared {
    volatile uint64_t place, stop;
  };
  auto* shared = static_cast<Shared*>(
      ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  shared->place = 0;
  const pid_t thread = ::gettid();
  const pid_t child = ::fork();
  if (child == 0) {
    while (shared->place < 1000) sleep(1);
    const int fd = watch(&shared->place, thread);
    while (hits_of(fd) < n) sleep(1);
    shared->stop = 1;
    ::_exit(0);
  }
  while (shared->stop == 0) shared->place = shared->place + 1;
  int status = 0;
  expect(::waitpid(child, &status, 0) == child && status == 0, "the child failed");
  ::munmap(shared, 4096);
}

extern "C" [[gnu::noipa]] void itracer_probed() {
  asm volatile("mov %%rsp, %%rax" : : : "rax");
}

void probed(uint64_t n) {
  while (n-- > 0) itracer_probed();
}

// Runs in a child in which getppid fails by a seccomp filter.
void seccomp(uint64_t n) {
  const pid_t child = ::fork();
  if (child == 0) {
    sock_filter filter[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
                            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
                            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EDOM),
                            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    const sock_fprog program{4, filter};
    bool good = ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
                ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
    while (n-- > 0) good = good && ::syscall(SYS_getppid) == -1 && errno == EDOM;
    ::_exit(good ? 0 : 1);
  }
  int status = 0;
  expect(::waitpid(child, &status, 0) == child && status == 0, "the filter did not work");
}

// Migrates to the other processors and back.
void migrate(uint64_t n) {
  const auto processors = static_cast<uint64_t>(::sysconf(_SC_NPROCESSORS_ONLN));
  for (uint64_t i = 1; i <= n; ++i) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(i % processors, &one);
    expect(::sched_setaffinity(0, sizeof one, &one) == 0, "sched_setaffinity");
    expect(::sched_getcpu() == static_cast<int>(i % processors),
           "the thread is not on the selected CPU");
  }
}

void write(uint64_t n) {
  static int fd = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  while (n-- > 0) expect(::write(fd, "x", 1) == 1, "write");
}

// kill(-1, 0): the kernel visits every process with preemption off.
void kill_none(uint64_t n) {
  while (n-- > 0) expect(::kill(-1, 0) == 0, "kill");
}

void everything(uint64_t n) {
  while (n-- > 0) {
    loop(4000);
    kill_self(2);
    fault(3);
    sleep(1);
    migrate(2);
    write(2);
    recursion(100);
  }
}

}  // namespace

std::function<void(uint64_t)> find_work(const std::string& name) {
  static const std::map<std::string, void (*)(uint64_t)> pieces{{"none", none},
                                                                {"loop", loop},
                                                                {"straight", straight},
                                                                {"recursion", recursion},
                                                                {"plt", plt},
                                                                {"getppid", getppid},
                                                                {"r11", r11},
                                                                {"pushf", pushf},
                                                                {"popf", popf},
                                                                {"popfs", popfs},
                                                                {"cleared", cleared},
                                                                {"kill", kill_self},
                                                                {"timer", timer},
                                                                {"fault", fault},
                                                                {"sleep", sleep},
                                                                {"fork", fork},
                                                                {"vfork", vfork},
                                                                {"threads", threads},
                                                                {"int3", int3},
                                                                {"own", own_steps},
                                                                {"segv", segv},
                                                                {"rep", rep},
                                                                {"write", write},
                                                                {"probed", probed},
                                                                {"watched", watched},
                                                                {"watched-later", watched_later},
                                                                {"seccomp", seccomp},
                                                                {"migrate", migrate},
                                                                {"everything", everything},
                                                                {"kill-none", kill_none}};
  const auto found = pieces.find(name);
  return found == pieces.end() ? std::function<void(uint64_t)>{} : found->second;
}

}  // namespace itracer
