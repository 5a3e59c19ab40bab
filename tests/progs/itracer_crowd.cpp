// SPDX-License-Identifier: MIT
// Threads that continuously fault, fork, exec, get signals and exit while they are traced: tracing
// must not be visible to them.
#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <random>
#include <thread>
#include <vector>

#include "itracer.h"

namespace itracer {
namespace {

constexpr int crowd_threads = 64;

struct Shared {
  std::atomic<bool> stop;
  std::atomic<uint64_t> rounds;
  std::atomic<uint64_t> forks;
  std::atomic<uint64_t> bad;  // children with an unexpected status
};

Shared* shared;

void nothing(int) {}

bool ends_well(pid_t child) {
  int status = 0;
  return child > 0 && ::waitpid(child, &status, 0) == child && WIFEXITED(status) &&
         WEXITSTATUS(status) == 0;
}

void fork_and_exec(bool exec) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (exec) ::execl("/bin/true", "true", nullptr);
    ::_exit(exec ? 1 : 0);
  }
  ++shared->forks;
  if (!ends_well(child)) ++shared->bad;
}

void fault() {
  constexpr size_t size = 16 * 4096;
  auto* memory = static_cast<volatile char*>(
      ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  for (size_t i = 0; i < size; i += 4096) memory[i] = 1;
  ::munmap(const_cast<char*>(memory), size);
}

void one(std::mt19937& random) {
  switch (random() % 8) {
    case 0:
      fork_and_exec(random() % 2 == 0);
      break;
    case 1:
      fault();
      break;
    case 2:
      ::usleep(static_cast<useconds_t>(random() % 1000));
      break;
    case 3:
      ::pthread_kill(::pthread_self(), SIGUSR1);
      break;
    case 4:
      ::kill(::getpid(), SIGUSR2);
      break;
    case 5:
      std::thread([] { fault(); }).join();
      break;
    case 6:
      for (volatile int i = 0; i < 1000;) i = i + 1;
      break;
    default:
      ::sched_yield();
  }
  ++shared->rounds;
}

void crowd() {
  ::signal(SIGUSR1, nothing);
  ::signal(SIGUSR2, nothing);
  std::vector<std::thread> threads;
  for (int i = 0; i < crowd_threads; ++i)
    threads.emplace_back([i] {
      std::mt19937 random(static_cast<unsigned>(i));
      while (!shared->stop) one(random);
    });
  for (auto& thread : threads) thread.join();
}

}  // namespace

pid_t start_crowd() {
  shared = static_cast<Shared*>(
      ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  new (shared) Shared{};
  const pid_t pid = ::fork();
  if (pid == 0) {
    crowd();
    ::_exit(0);
  }
  return pid;
}

std::string end_crowd(pid_t pid) {
  shared->stop = true;
  int status = 0;
  ::waitpid(pid, &status, 0);
  return fmt::format("rounds {} forks {} bad {} status {}", shared->rounds.load(),
                     shared->forks.load(), shared->bad.load(),
                     WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

int sleepers(int count) {
  for (int i = 0; i < count; ++i) {
    const pid_t child = ::fork();
    if (child < 0) fail("fork");
    if (child > 0) continue;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) ::pause();
  }
  std::puts("ready");
  std::fflush(stdout);
  for (;;) ::pause();
}

}  // namespace itracer
