// SPDX-License-Identifier: MIT
// The processes that make statefuzz's calls: users, threads, and the transfer of calls.
#include "statefuzz.h"

#include <grp.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace statefuzz {

Shared* shared;
int own_role;

uint64_t Random::next() {
  uint64_t z = state_ += 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

double seconds_now() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

void say_finding(const std::string& text) {
  const uint32_t line = shared->finding_count.fetch_add(1);
  if (line < sizeof shared->text / sizeof shared->text[0])
    std::snprintf(shared->text[line], sizeof shared->text[line], "%s", text.c_str());
}

namespace {

void wait_while(std::atomic<uint32_t>& word, uint32_t value, const timespec* timeout) {
  ::syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), FUTEX_WAIT, value, timeout, nullptr, 0);
}

void wake(std::atomic<uint32_t>& word, int how_many = INT_MAX) {
  ::syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), FUTEX_WAKE, how_many, nullptr, nullptr,
            0);
}

struct Seat {
  int role;
  int thread;
};

void serve(Seat seat) {
  Desk& desk = shared->desk[seat.role][seat.thread];
  make_arena();
  desk.tid = ::gettid();
  ++shared->bell;
  wake(shared->bell);
  for (uint32_t served = desk.done;;) {
    while (desk.posted == served) wait_while(desk.posted, served, nullptr);
    if (desk.storm) {
      storm(seat.role, desk);
    } else {
      for (uint32_t i = 0; i < desk.count; ++i) {
        desk.position = i;
        execute(desk.call[i], desk.result[i]);
      }
    }
    desk.done = ++served;
    ++shared->bell;
    wake(shared->bell);
  }
}

void* serve_thread(void* data) {
  serve(*static_cast<Seat*>(data));
  return nullptr;
}

void become_user(const Role& role) {
  if (role.root()) return;
  const gid_t group = group_id;
  const bool good = ::setgroups(role.member ? 1 : 0, &group) == 0 &&
                    ::setresgid(role.uid, role.uid, role.uid) == 0 &&
                    ::setresuid(role.uid, role.uid, role.uid) == 0;
  if (!good) ::_exit(93);
  // Other processes of the same user may debug it.
  ::prctl(PR_SET_DUMPABLE, 1);
}

[[noreturn]] void work(int role) {
  static Seat seats[threads_of_each];
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::signal(SIGBUS, SIG_DFL);
  for (int r = 0; r < roles; ++r)
    if (r != role) ::close(mail_base + r);
  own_role = role;
  become_user(role_table[role]);
  char name[16];
  std::snprintf(name, sizeof name, "sf-%s", role_table[role].name);
  ::prctl(PR_SET_NAME, name);
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstacksize(&attributes, 256 * 1024);
  for (int thread = 0; thread < threads_of_each; ++thread) {
    seats[thread] = {role, thread};
    pthread_t id;
    if (thread && ::pthread_create(&id, &attributes, serve_thread, &seats[thread]) != 0)
      ::_exit(94);
  }
  serve(seats[0]);
  ::_exit(0);
}

}  // namespace

void make_mail() {
  for (int role = 0; role < roles; ++role) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) != 0) std::exit(3);
    ::dup2(ends[0], mail_base + role);
    ::dup2(ends[1], mail_base + roles + role);
    ::close(ends[0]);
    ::close(ends[1]);
  }
}

void drop_mail() {
  for (int end = 0; end < 2 * roles; ++end) ::close(mail_base + end);
}

pid_t start_worker(int role) {
  for (Desk& desk : shared->desk[role]) {
    desk.posted = desk.done = desk.position = 0;
    desk.tid = 0;
    desk.storm = 0;
  }
  const pid_t pid = ::fork();
  if (pid == 0) work(role);
  if (pid < 0) {
    std::perror("statefuzz: fork");
    std::exit(3);
  }
  // Wait until all threads are running.
  const double end = seconds_now() + 600;
  const timespec second{1, 0};
  for (const Desk& desk : shared->desk[role])
    for (;;) {
      const uint32_t bell = shared->bell;
      if (desk.tid) break;
      wait_while(shared->bell, bell, &second);
      if (desk.tid) break;
      if (seconds_now() > end || ::waitpid(pid, nullptr, WNOHANG) == pid) {
        std::fprintf(stderr, "statefuzz: process %s does not start\n", role_table[role].name);
        std::exit(3);
      }
    }
  return pid;
}

void post(int role, int thread, uint32_t count) {
  Desk& desk = shared->desk[role][thread];
  desk.count = count;
  ++desk.posted;
  wake(desk.posted, 1);
}

bool wait_done(int role, int thread, double seconds) {
  const Desk& desk = shared->desk[role][thread];
  const double end = seconds_now() + seconds;
  const timespec second{1, 0};
  for (;;) {
    const uint32_t bell = shared->bell;
    if (desk.done == desk.posted) return true;
    if (seconds_now() > end) return false;
    wait_while(shared->bell, bell, &second);
  }
}

}  // namespace statefuzz
