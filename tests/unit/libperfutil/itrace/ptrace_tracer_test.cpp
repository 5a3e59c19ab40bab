// SPDX-License-Identifier: MIT
// Branch traces by ptrace, of a program in which every instruction is known: tests/progs/flow.S.
#include "itrace/ptrace_tracer.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include <pi/decode.h>

#include "perfutil.h"

namespace pi::perfutil {
namespace {

struct Event {
  uint32_t major, minor;
  uint32_t tid;  // from the THREAD record before
  std::vector<uint32_t> ints;

  uint64_t wide(size_t index) const {
    return static_cast<uint64_t>(ints.at(index + 1)) << 32 | ints.at(index);
  }
  bool is_branch() const { return major == PITRACE_MAJOR_BRANCH_USER; }
  bool is_gap() const { return major == PITRACE_MAJOR_ITRACE_GAP; }
  bool is_stop() const { return major == PITRACE_MAJOR_ITRACE_STOP; }
  uint64_t from() const { return static_cast<uint64_t>(ints.at(0)) << 32 | minor; }
  uint64_t to() const { return wide(is_branch() ? 1 : 3); }
  uint32_t count() const { return ints.at(is_branch() || is_stop() ? 3 : 0); }
};

// Collects the records of a tracer.
class Recording {
 public:
  FlowWriter::Put put() {
    return [this](uint64_t time, std::span<const std::byte> bytes) {
      const std::lock_guard lock(mutex_);
      EXPECT_GE(time, last_);
      last_ = time;
      const RecordView record(bytes);
      ASSERT_TRUE(record.valid());
      if (record.major() == PITRACE_MAJOR_ITRACE_THREAD) {
        tid_ = record.minor();
        return;
      }
      Event event{record.major(), record.minor(), tid_, {}};
      for (uint32_t i = 0; i < record.int_count(); ++i) event.ints.push_back(record.int_at(i));
      events_.push_back(event);
    };
  }
  const std::vector<Event>& events() const { return events_; }

 private:
  std::mutex mutex_;
  uint64_t last_ = 0;
  uint32_t tid_ = 0;
  std::vector<Event> events_;
};

// Runs the program until it waits for its letter. A process between it and the test collects its
// exit status: a tracer that is also the parent would consume it.
class Program {
 public:
  Program() {
    std::array<int, 2> letter{}, pid{};
    EXPECT_EQ(::pipe(letter.data()), 0);
    EXPECT_EQ(::pipe(pid.data()), 0);
    between_ = ::fork();
    if (between_ == 0) run(letter, pid);
    ::close(letter[0]);
    ::close(pid[1]);
    letter_ = letter[1];
    EXPECT_EQ(::read(pid[0], &pid_, sizeof pid_), static_cast<ssize_t>(sizeof pid_));
    ::close(pid[0]);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() {
    if (between_ > 0) (void)finish('?');
  }

  uint32_t pid() const { return static_cast<uint32_t>(pid_); }
  void go(char letter) const { EXPECT_EQ(::write(letter_, &letter, 1), 1); }
  // Its exit status, or 1000 and the signal that killed it.
  int wait() {
    int status = 0;
    EXPECT_EQ(::waitpid(between_, &status, 0), between_);
    between_ = 0;
    ::close(letter_);
    return WEXITSTATUS(status);
  }
  int finish(char letter) {
    go(letter);
    return wait();
  }

 private:
  [[noreturn]] static void run(const std::array<int, 2>& letter, const std::array<int, 2>& pid) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::dup2(letter[0], 0);
      for (const int fd : {letter[0], letter[1], pid[0], pid[1]}) ::close(fd);
      ::execl(FLOW_PROGRAM, FLOW_PROGRAM, nullptr);
      ::_exit(126);
    }
    ::close(letter[1]);
    if (::write(pid[1], &child, sizeof child) != sizeof child) ::_exit(125);
    int status = 0;
    ::waitpid(child, &status, 0);
    ::_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status));
  }

  pid_t between_ = 0;
  pid_t pid_ = 0;
  int letter_ = -1;
};

// Waits until the program waits for its letter, in its own code.
void wait_for_read(uint32_t pid) {
  const std::string path = "/proc/" + std::to_string(pid);
  for (;;) {
    std::array<char, 256> link{};
    const ssize_t length = ::readlink((path + "/exe").c_str(), link.data(), link.size() - 1);
    FILE* file = ::fopen((path + "/syscall").c_str(), "r");
    int number = -1;
    const bool has_number = file && ::fscanf(file, "%d", &number) == 1;
    if (file) ::fclose(file);
    if (length > 0 && std::string(link.data()).ends_with("/flow") && has_number && number == 0)
      return;
    ::usleep(1000);
  }
}

struct Traced {
  std::vector<Event> events;
  int status = -1;
};

Traced trace(char letter, uint32_t flags = 0) {
  Recording recording;
  const auto counts = std::make_shared<PtraceCounts>();
  Traced traced;
  {
    Program program;
    wait_for_read(program.pid());
    PtraceTracer tracer(recording.put(), flags | PITRACE_ITRACE_COUNT, counts);
    const auto attached = tracer.attach(program.pid());
    EXPECT_TRUE(attached) << attached.error().message;
    traced.status = program.finish(letter);
    EXPECT_TRUE(tracer.stop());
    EXPECT_EQ(counts->threads, 0u);
  }
  traced.events = recording.events();
  return traced;
}

// Counts instructions, beginning with the return of the read.
uint32_t instructions(const std::vector<Event>& events) {
  uint32_t sum = 0;
  bool read = false;
  for (const auto& event : events) {
    if (read && (event.is_branch() || event.is_gap() || event.is_stop())) sum += event.count();
    read = read || event.is_gap();
  }
  return sum;
}

uint32_t way_to(int place) {
  return 1 + 2 * static_cast<uint32_t>(place);
}
constexpr uint32_t leaving = 3;

int count_of(const std::vector<Event>& events, bool (Event::*is)() const) {
  int count = 0;
  for (const auto& event : events) count += (event.*is)();
  return count;
}

// Every block begins where the previous one ended.
void expect_connected(const std::vector<Event>& events) {
  std::map<uint32_t, uint64_t> at;
  for (const auto& event : events) {
    if (event.major == PITRACE_MAJOR_ITRACE_START) {
      at[event.tid] = event.wide(5);
    } else if (event.is_branch()) {
      EXPECT_GE(event.from(), at.at(event.tid));
      EXPECT_LT(event.from(), at.at(event.tid) + 15 * event.count());
      at[event.tid] = event.to();
    } else if (event.is_gap()) {
      at[event.tid] = event.to();
    }
  }
}

TEST(PtraceTracer, CountsTheInstructionsOfALoopExactly) {
  const auto traced = trace('l');
  EXPECT_EQ(traced.status, 0);
  EXPECT_EQ(instructions(traced.events), way_to(1) + 1 + 2 * 1000 + leaving);
  EXPECT_EQ(count_of(traced.events, &Event::is_branch), 1 + 999);
  ASSERT_FALSE(traced.events.empty());
  EXPECT_EQ(traced.events.front().major, PITRACE_MAJOR_ITRACE_START);
  ASSERT_TRUE(traced.events.back().is_stop());
  EXPECT_EQ(traced.events.back().minor, PITRACE_STOP_EXIT);
  expect_connected(traced.events);
}

TEST(PtraceTracer, CallsAndReturnsAreRecordedInProgramOrder) {
  const auto traced = trace('c');
  EXPECT_EQ(instructions(traced.events), way_to(2) + 8 + leaving);
  std::vector<Event> branches;
  for (const auto& event : traced.events)
    if (event.is_branch()) branches.push_back(event);
  ASSERT_EQ(branches.size(), 1u + 6u);
  branches.erase(branches.begin());
  constexpr uint64_t call = 5;
  EXPECT_EQ(branches[2].to(), branches[1].from() + call);  // inner, called by outer
  EXPECT_EQ(branches[3].to(), branches[0].from() + call);  // outer
  EXPECT_EQ(branches[5].to(), branches[4].from() + call);  // inner
  EXPECT_EQ(branches[4].to(), branches[1].to());
  expect_connected(traced.events);
}

TEST(PtraceTracer, AnIterationOfARepCountsAsOneInstruction) {
  const auto traced = trace('r');
  EXPECT_EQ(instructions(traced.events), way_to(3) + 3 + 100 + leaving);
  EXPECT_EQ(count_of(traced.events, &Event::is_branch), 1);
}

TEST(PtraceTracer, TheProgramDoesNotSeeTheTrapFlag) {
  EXPECT_EQ(trace('f').status, 0);
}

TEST(PtraceTracer, RegistersSurviveASignal) {
  EXPECT_EQ(trace('x').status, 0);
}

TEST(PtraceTracer, FollowsASignalIntoItsHandlerAndBack) {
  const auto traced = trace('s');
  EXPECT_EQ(traced.status, 1);
  int signals = 0;
  for (const auto& event : traced.events)
    signals += event.is_gap() && event.minor == PITRACE_GAP_SIGNAL;
  EXPECT_EQ(signals, 1);
  // 8 instructions for install with its call and the signal number, 6 up to and including the kill,
  // 2 in the handler, 2 for the return from it.
  EXPECT_EQ(instructions(traced.events), way_to(5) + 8 + 6 + 2 + 2 + leaving);
  expect_connected(traced.events);
}

TEST(PtraceTracer, ABreakpointOfTheProgramIsDeliveredToIt) {
  EXPECT_EQ(trace('b').status, 1);
}

TEST(PtraceTracer, FollowsThreadsThatAreStarted) {
  const auto traced = trace('t');
  EXPECT_EQ(traced.status, 3);
  std::map<uint32_t, std::vector<Event>> by_thread;
  for (const auto& event : traced.events) by_thread[event.tid].push_back(event);
  ASSERT_EQ(by_thread.size(), 2u);
  for (const auto& [tid, events] : by_thread) {
    EXPECT_EQ(events.front().major, PITRACE_MAJOR_ITRACE_START);
    EXPECT_TRUE(events.back().is_stop());
  }
  expect_connected(traced.events);
}

TEST(PtraceTracer, FollowsChildrenOnlyOnRequest) {
  for (const bool with_children : {false, true}) {
    const auto traced = trace('k', with_children ? PITRACE_ITRACE_CHILDREN : 0);
    EXPECT_EQ(traced.status, 4);
    std::map<uint32_t, int> by_thread;
    for (const auto& event : traced.events) ++by_thread[event.tid];
    EXPECT_EQ(by_thread.size(), with_children ? 2u : 1u);
    expect_connected(traced.events);
  }
}

TEST(PtraceTracer, DetachesInTheMiddleOfASystemCall) {
  Recording recording;
  const auto counts = std::make_shared<PtraceCounts>();
  Program program;
  wait_for_read(program.pid());
  PtraceTracer tracer(recording.put(), PITRACE_ITRACE_COUNT, counts);
  ASSERT_TRUE(tracer.attach(program.pid()));
  EXPECT_EQ(counts->threads, 1u);
  EXPECT_TRUE(tracer.stop());
  ASSERT_FALSE(recording.events().empty());
  ASSERT_TRUE(recording.events().back().is_stop());
  EXPECT_EQ(recording.events().back().minor, PITRACE_STOP_OFF);
  EXPECT_EQ(program.finish('l'), 0);
}

TEST(PtraceTracer, DetachesAProgramThatIsBeingStepped) {
  for (int round = 0; round < 20; ++round) {
    Recording recording;
    const auto counts = std::make_shared<PtraceCounts>();
    Program program;
    wait_for_read(program.pid());
    PtraceTracer tracer(recording.put(), PITRACE_ITRACE_COUNT, counts);
    ASSERT_TRUE(tracer.attach(program.pid()));
    program.go('l');
    while (counts->steps < 10) ::usleep(10);
    EXPECT_TRUE(tracer.stop());
    EXPECT_EQ(program.wait(), 0);
  }
}

TEST(PtraceTracer, ProcessesThatCannotBeTracedAreReported) {
  const auto counts = std::make_shared<PtraceCounts>();
  Recording recording;
  PtraceTracer tracer(recording.put(), 0, counts);
  const auto missing_process = tracer.attach(4194304);
  ASSERT_FALSE(missing_process);
  EXPECT_EQ(missing_process.error().code, PU_ERROR_INVALID_PARAMETER);
  const auto self = tracer.attach(static_cast<uint32_t>(::getpid()));
  ASSERT_FALSE(self);
  EXPECT_EQ(self.error().code, PU_ERROR_ACCESS_DENIED);
}

}  // namespace
}  // namespace pi::perfutil
