// SPDX-License-Identifier: MIT
// One epoch: sequential calls, which the model predicts; then a storm; then all processes are
// killed, and the module must be as after loading.
#include "statefuzz_epoch.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "statefuzz_generate.h"

namespace statefuzz {

namespace {

struct Failed {
  int status;
};

class Epoch {
 public:
  Epoch(const Options& options, uint64_t position)
      : options_(options),
        position_(position),
        random_(options.seed * 0x100000001b3 ^ position),
        generator_(random_, model_) {}
  int run();

 private:
  void begin();
  void find_state();
  void predicted_calls(uint64_t count);
  uint64_t turn(uint64_t left);
  void make(int role, int thread);
  void check(int role, int thread, uint32_t index);
  void add(int role, int thread, const Call& call);
  void kill_one(int role);
  void storm_of(uint64_t calls);
  void let_allocations_fail();
  void end();
  void mismatch(int role, int thread, uint32_t index, const std::string& what);
  void say_workers_findings();
  [[noreturn]] void does_not_return(const char* what);

  struct Plan {
    Expectation expected;
    std::vector<uint8_t> bytes, mask;
    uint64_t events = 0, events_mask = 0;
  };

  const Options& options_;
  uint64_t position_;
  uint64_t made_ = 0;
  int followed_turns_ = 0;
  Random random_;
  Model model_;
  Generator generator_;
  std::vector<Plan> plans_;
};

void write_file(const char* path, const char* text) {
  const int fd = ::open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  if (::write(fd, text, std::strlen(text)) < 0 && errno != EBUSY && errno != EINVAL)
    std::fprintf(stderr, "statefuzz: %s: %s\n", path, std::strerror(errno));
  ::close(fd);
}

std::string read_file(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

int open_device() {
  const int fd = ::open(PITRACE_DEVICE_PATH, O_RDWR | O_CLOEXEC);
  if (fd >= 0) return fd;
  std::fprintf(stderr, "statefuzz: cannot open %s: %s\n", PITRACE_DEVICE_PATH,
               std::strerror(errno));
  throw Failed{3};
}

// Lets a thread run on CPU 0 only, or on all. A waiting processor of an emulator that runs all in
// one thread waits for the other's time slice to end.
void place(pid_t thread, bool everywhere) {
  cpu_set_t processors;
  CPU_ZERO(&processors);
  for (int i = 0; i < (everywhere ? shared->processors : 1); ++i) CPU_SET(i, &processors);
  ::sched_setaffinity(thread, sizeof processors, &processors);
}

// ---- start of an epoch ----

// Reads the state that may remain from an earlier epoch: numbers and last counts.
void Epoch::find_state() {
  const int fd = open_device();
  pitrace_info info{};
  pitrace_ptt_info ptt{};
  uint32_t ints = 1;
  pitrace_probe probe{};
  pitrace_ptt_dump dump{};
  if (::ioctl(fd, PITRACE_IOC_INFO, &info) || ::ioctl(fd, PITRACE_PTT_IOC_INTS, &ints) ||
      ::ioctl(fd, PITRACE_PTT_IOC_INFO, &ptt)) {
    std::perror("statefuzz: INFO");
    throw Failed{3};
  }
  model_.session.interval_id = info.interval_id;
  model_.ptt.instance = ptt.instance;
  model_.ptt.setup.metrics = ptt.metrics;
  std::memcpy(model_.ptt.setup.metric, ptt.metric, sizeof ptt.metric);
  model_.ptt.has_last =
      ::ioctl(fd, PITRACE_PTT_IOC_DUMP, &dump) < 0 && errno == EINVAL ? Maybe::no : Maybe::yes;
  while (::ioctl(fd, PITRACE_IOC_PROBE, &probe) == 0) probe.index++;
  model_.probes = probe.index;
  ::close(fd);
}

void Epoch::begin() {
  expedite_rcu(position_ / epoch_calls % 8 != 0);
  place(0, position_ / epoch_calls % 4 == 0);
  write_file("/proc/sys/kernel/perf_event_paranoid", "2");
  write_file("/sys/module/pitrace/parameters/group", std::to_string(group_id).c_str());
  write_file("/sys/module/pitrace/parameters/ptt_pages", "2048");
  write_file("/sys/module/pitrace/parameters/itrace_hold_seconds", "1");
  write_file("/sys/devices/system/cpu/cpu1/online", "1");
  model_.cpu1_online = shared->processors > 1;
  find_state();
  make_mail();
  for (int role = 0; role < roles; ++role) model_.begin(role, start_worker(role));
}

// ---- predicted calls ----

void Epoch::mismatch(int role, int thread, uint32_t index, const std::string& what) {
  ++shared->counts.mismatches;
  std::printf(
      "finding: seed %llu from %llu: call %llu: %s thread %d: %s: %s\n",
      static_cast<unsigned long long>(options_.seed), static_cast<unsigned long long>(position_),
      static_cast<unsigned long long>(made_ + index), role_table[static_cast<size_t>(role)].name,
      thread, what.c_str(), describe(shared->desk[role][thread].call[index]).c_str());
  throw Failed{0};
}

// Prints the tasks that run or wait uninterruptibly: one may hold what the others wait for.
void print_active_tasks() {
  std::error_code problem;
  for (const auto& process : std::filesystem::directory_iterator("/proc", problem))
    for (const auto& task : std::filesystem::directory_iterator(process.path() / "task", problem)) {
      const std::string stat = read_file(task.path() / "stat");
      const size_t state = stat.rfind(')') + 2;
      if (state < stat.size() && (stat[state] == 'R' || stat[state] == 'D'))
        std::printf("%s%s", stat.c_str(), read_file(task.path() / "stack").c_str());
    }
}

[[noreturn]] void Epoch::does_not_return(const char* what) {
  std::printf("finding: seed %llu from %llu: call %llu: %s\n",
              static_cast<unsigned long long>(options_.seed),
              static_cast<unsigned long long>(position_), static_cast<unsigned long long>(made_),
              what);
  for (int role = 0; role < roles; ++role)
    for (const Desk& desk : shared->desk[role]) {
      if (desk.posted == desk.done) continue;
      const std::string task = "/proc/" + std::to_string(desk.tid.load());
      std::printf("%s thread %d, call %u: %s\n%s%s\n", role_table[static_cast<size_t>(role)].name,
                  desk.tid.load(), desk.position.load(),
                  describe(desk.call[desk.storm ? 0 : desk.position.load() % batch_max]).c_str(),
                  read_file(task + "/stat").c_str(), read_file(task + "/stack").c_str());
    }
  std::printf("CPUs online: %s", read_file("/sys/devices/system/cpu/online").c_str());
  print_active_tasks();
  std::fflush(stdout);
  ::sleep(1);
  print_active_tasks();
  std::fflush(stdout);
  write_file("/proc/sysrq-trigger", "w");
  write_file("/proc/sysrq-trigger", "l");
  ++shared->counts.mismatches;
  throw Failed{4};
}

void Epoch::add(int role, int thread, const Call& call) {
  Desk& desk = shared->desk[role][thread];
  Plan plan;
  if (call.kind == Kind::poll)
    plan.expected = model_.predict_poll(role, call.handle, plan.events, plan.events_mask);
  else
    plan.expected = model_.predict(call, role, thread);
  if (call.kind == Kind::ioctl) model_.answer(call, role, plan.bytes, plan.mask);
  desk.call[plans_.size()] = call;
  plans_.push_back(std::move(plan));
}

void Epoch::check(int role, int thread, uint32_t index) {
  const Desk& desk = shared->desk[role][thread];
  const Call& call = desk.call[index];
  const Result& result = desk.result[index];
  const Plan& plan = plans_[index];
  if (options_.trace)
    std::printf("call %llu %s %d: %s = %d\n", static_cast<unsigned long long>(made_ + index),
                role_table[static_cast<size_t>(role)].name, thread, describe(call).c_str(),
                result.error);
  if (result.wrong) return mismatch(role, thread, index, std::string("found ") + result.what);
  if (!plan.expected.allows(result.error))
    return mismatch(
        role, thread, index,
        "error " + std::to_string(result.error) + " instead of " + plan.expected.text());
  if (call.kind == Kind::poll && ((result.seen[0] ^ plan.events) & plan.events_mask))
    return mismatch(
        role, thread, index,
        "events " + std::to_string(result.seen[0]) + " instead of " + std::to_string(plan.events));
  if (result.error || call.kind != Kind::ioctl) return;
  for (size_t i = 0; i < plan.bytes.size(); ++i)
    if (plan.mask[i] && plan.bytes[i] != result.payload[i])
      return mismatch(role, thread, index,
                      "byte " + std::to_string(i) + " of the answer is " +
                          std::to_string(result.payload[i]) + " instead of " +
                          std::to_string(plan.bytes[i]));
}

void Epoch::make(int role, int thread) {
  const auto count = static_cast<uint32_t>(plans_.size());
  post(role, thread, count);
  if (!wait_done(role, thread, options_.timeout)) does_not_return("a call does not return");
  for (uint32_t i = 0; i < count; ++i) {
    check(role, thread, i);
    model_.learn(shared->desk[role][thread].call[i], role, thread,
                 shared->desk[role][thread].result[i]);
  }
}

void Epoch::kill_one(int role) {
  ::kill(model_.process[role].pid, SIGKILL);
  ::waitpid(model_.process[role].pid, nullptr, 0);
  model_.end(role);
  model_.begin(role, start_worker(role));
}

// Makes calls of one thread, up to one whose result determines the next.
uint64_t Epoch::turn(uint64_t left) {
  plans_.clear();
  int role = generator_.choose_role();
  int thread = static_cast<int>(random_.below(threads_of_each));
  if (random_.one_in(150)) {
    kill_one(role);
    return 1;
  }
  Desk* desk = &shared->desk[role][thread];
  bool is_open = false;  // the result of the last call is needed
  const auto add_and_apply = [&](const Call& call) {
    add(role, thread, call);
    const Expectation& expected = plans_.back().expected;
    is_open = call.where != Where::self;
    if (expected.exact())
      model_.apply(call, role, thread, expected.only());
    else
      is_open |= model_.changes_state(call);
    is_open |= call.command == PITRACE_PTT_IOC_ATTACH;
  };
  Call last_step;
  // Calls that are stepped through the kernel take a thousand times as long.
  if (!model_.follows_kernel()) followed_turns_ = 0;
  if (followed_turns_ > 3 && generator_.choose_end(role, thread, last_step)) {
    desk = &shared->desk[role][thread];
    add_and_apply(last_step);
  } else if (random_.one_in(8)) {
    const Call call = generator_.choose_change(role, thread);
    desk = &shared->desk[role][thread];
    add_and_apply(call);
  } else {
    uint64_t count = 1 + random_.below(batch_max);
    // Each of its instructions traps.
    if (model_.process[role].thread[thread].followed != Maybe::no) count = 1 + random_.below(3);
    if (count > left) count = left;
    while (plans_.size() < count && !is_open) add_and_apply(generator_.choose(role, thread, false));
  }
  ++followed_turns_;
  make(role, thread);
  const size_t last = plans_.size() - 1;
  if (is_open && !plans_[last].expected.exact())
    model_.apply(desk->call[last], role, thread, desk->result[last].error);
  if (is_open) model_.learn(desk->call[last], role, thread, desk->result[last]);
  return plans_.size();
}

void Epoch::predicted_calls(uint64_t count) {
  for (uint64_t done = 0; done < count;) {
    const uint64_t step = turn(count - done);
    done += step;
    made_ += step;
  }
}

// ---- unpredicted calls ----

void Epoch::let_allocations_fail() {
  for (int role = 0; role < roles; ++role)
    for (const Desk& desk : shared->desk[role])
      write_file(("/proc/" + std::to_string(model_.process[role].pid) + "/task/" +
                  std::to_string(desk.tid.load()) + "/make-it-fail")
                     .c_str(),
                 "1");
}

void Epoch::storm_of(uint64_t calls) {
  const uint64_t each = calls / (roles * threads_of_each);
  for (int role = 0; role < roles; ++role)
    for (int thread = 0; thread < threads_of_each; ++thread) {
      Desk& desk = shared->desk[role][thread];
      place(desk.tid, true);
      desk.storm = random_.next() | 1;
      desk.storm_calls = each;
      post(role, thread, 0);
    }
  // Kill some processes in the middle of the storm.
  const uint64_t victims = random_.below(4);
  for (uint64_t i = 0; i < victims; ++i) {
    ::usleep(static_cast<useconds_t>(random_.below(60000)));
    const auto role = static_cast<size_t>(random_.below(roles));
    if (!model_.process[role].alive) continue;
    ::kill(model_.process[role].pid, SIGKILL);
    model_.process[role].alive = false;
  }
  for (int role = 0; role < roles; ++role)
    for (int thread = 0; thread < threads_of_each && model_.process[role].alive; ++thread)
      if (!wait_done(role, thread, options_.timeout))
        does_not_return("a call does not return, in a storm");
  made_ += each * roles * threads_of_each;
}

// ---- end of an epoch ----

void Epoch::say_workers_findings() {
  const uint32_t count = shared->finding_count.exchange(0);
  for (uint32_t i = 0; i < count && i < sizeof shared->text / sizeof shared->text[0]; ++i)
    std::printf("finding: seed %llu from %llu: %s\n",
                static_cast<unsigned long long>(options_.seed),
                static_cast<unsigned long long>(position_), shared->text[i]);
}

// Kills all processes and waits for them; then no facility may be on.
void Epoch::end() {
  for (const Process& each : model_.process)
    if (each.pid) ::kill(each.pid, SIGKILL);
  const double limit = seconds_now() + options_.timeout;
  for (;;) {
    const pid_t pid = ::waitpid(-1, nullptr, WNOHANG);
    if (pid < 0) break;
    if (pid > 0) continue;
    if (seconds_now() > limit) does_not_return("a killed process does not end");
    ::usleep(500);
  }
  drop_mail();
  write_file("/sys/devices/system/cpu/cpu1/online", "1");
  const int fd = open_device();
  pitrace_info info{};
  pitrace_itrace_info itrace{};
  pitrace_ptt_info ptt{};
  const int term = ::ioctl(fd, PITRACE_PTT_IOC_TERM) ? errno : 0;
  ::ioctl(fd, PITRACE_IOC_INFO, &info);
  ::ioctl(fd, PITRACE_PTT_IOC_INFO, &ptt);
  do ::ioctl(fd, PITRACE_IOC_IT_INFO, &itrace);
  while (itrace.dirty && seconds_now() < limit && ::usleep(1000) == 0);
  ::close(fd);
  if (info.state == PITRACE_TRACE_FREE && !info.owner_pid && !itrace.installed && !itrace.threads &&
      !itrace.dirty && !ptt.active && (term == 0 || term == EALREADY))
    return;
  std::printf(
      "finding: seed %llu from %llu: after the end: state %u owner %d ITrace %u threads %u dirty "
      "%u PTT %u TERM %d\n",
      static_cast<unsigned long long>(options_.seed), static_cast<unsigned long long>(position_),
      info.state, info.owner_pid, itrace.installed, itrace.threads, itrace.dirty, ptt.active, term);
  ++shared->counts.mismatches;
  throw Failed{1};
}

int Epoch::run() {
  int status = 0;
  const auto attempt = [&status](auto step) {
    try {
      step();
    } catch (const Failed& failed) {
      if (failed.status) status = failed.status;
      return false;
    }
    return true;
  };
  const bool fails = options_.failing && random_.one_in(2);
  const uint64_t stormy = fails ? epoch_calls : random_.one_in(2) ? 240 : 0;
  shared->failing = fails;
  if (attempt([this] { begin(); }) && attempt([&] { predicted_calls(epoch_calls - stormy); }) &&
      stormy)
    attempt([&] {
      if (fails) let_allocations_fail();
      storm_of(stormy);
    });
  if (status != 4) attempt([this] { end(); });
  say_workers_findings();
  return status;
}

}  // namespace

void expedite_rcu(bool on) {
  write_file("/sys/kernel/rcu_expedited", on ? "1" : "0");
}

int run_epoch(const Options& options, uint64_t position) {
  return Epoch(options, position).run();
}

}  // namespace statefuzz
