// SPDX-License-Identifier: MIT
// Every record contains its writer, nesting level, number, full time and a checksum, so that the
// reader can detect torn and missing records.
#include "ring_storm.h"

#include <pthread.h>
#include <sched.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <ctime>
#include <deque>
#include <memory>
#include <new>
#include <random>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <pi/decode.h>
#include <pitrace/ring.h>

#include "source/ring_memory.h"

namespace {

using pi::perfutil::RingMemory;
using test_support::StormPlan;
using test_support::StormResult;

// 0: the thread, 1: a signal handler, 2: a nested signal handler. Two signals that block only
// themselves nest no deeper; with the thread sanitizer, which delivers them itself, they may.
constexpr unsigned levels = 3;
constexpr uint32_t major = 0x30;
enum : uint32_t { writer_int, number_low, number_high, time_low, time_high, fixed_ints };
constexpr uint32_t max_ints = fixed_ints + 8;

struct Writer {
  uint32_t id = 0;
  uint32_t calm = 1;  // see StormPlan
  pi::UniqueMapping memory;
  pitrace_ring ring{};
  // One element for each level, used only at that level.
  std::array<uint64_t, levels> attempted{};
  std::array<uint64_t, levels> random{};
  volatile unsigned level = 0;
  pthread_t thread{};
  std::atomic<bool> done{false};
};

thread_local Writer* me;

uint64_t next_random(Writer& writer) {
  uint64_t& x = writer.random[writer.level];
  x ^= x << 13;
  x ^= x >> 7;
  x ^= x << 17;
  return x;
}

// Raises a signal at random here. The interrupter's signals arrive anywhere, but under a sanitizer
// only at certain points.
void maybe_interrupt(Writer& writer) {
  const unsigned level = writer.level;
  if (level == levels - 1) return;
  const uint64_t dice = next_random(writer);
  if (dice % writer.calm != 0) return;
  ::raise(dice >> 63 ? SIGUSR1 : SIGUSR2);
}

// A clock so fast that the high half of the time changes about 30 times a second.
uint64_t fast_clock() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (static_cast<uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(now.tv_nsec))
         << 7;
}

uint32_t mixed(uint32_t sum, uint32_t value) {
  return (sum ^ value) * 0x9e3779b1u + 0x7f4a7c15u;
}

// Length of a record in ints, varied by its number.
uint32_t ints_of(uint64_t number) {
  return fixed_ints + 1 + mixed(7, static_cast<uint32_t>(number)) % (max_ints - fixed_ints);
}

void fill(Writer& writer, void* place, uint32_t count, uint64_t number, uint64_t time) {
  uint32_t* ints = pitrace_put_header(place, PITRACE_TYPE_INTS, pitrace_size_ints(count), major,
                                      writer.id, static_cast<uint32_t>(time));
  ints[writer_int] = writer.id << 8 | writer.level;
  ints[number_low] = static_cast<uint32_t>(number);
  ints[number_high] = static_cast<uint32_t>(number >> 32);
  maybe_interrupt(writer);
  ints[time_low] = static_cast<uint32_t>(time);
  ints[time_high] = static_cast<uint32_t>(time >> 32);
  uint32_t sum = count;
  for (uint32_t i = 0; i < fixed_ints; ++i) sum = mixed(sum, ints[i]);
  for (uint32_t i = fixed_ints; i < count; ++i) ints[i] = sum = mixed(sum, i);
}

void attempt(Writer& writer) {
  const uint64_t number = ++writer.attempted[writer.level];
  const uint32_t count = ints_of(number);
  __u64 time = 0;
  pitrace_ring_enter(&writer.ring);
  void* place = pitrace_ring_reserve(&writer.ring, pitrace_size_ints(count), &time);
  maybe_interrupt(writer);
  if (place)
    fill(writer, place, count, number, time);
  else
    pitrace_ring_lose(&writer.ring, PITRACE_LOST_FULL);
  maybe_interrupt(writer);
  pitrace_ring_leave(&writer.ring);
}

void interrupt(int) {
  const int saved = errno;
  Writer& writer = *me;
  if (const unsigned interrupted = writer.level; interrupted + 1 < levels) {
    writer.level = interrupted + 1;
    attempt(writer);
    writer.level = interrupted;
  }
  errno = saved;
}

uint64_t attempted(const Writer& writer) {
  uint64_t sum = 0;
  for (const uint64_t of_level : writer.attempted) sum += of_level;
  return sum;
}

// Checks the records read from one stream.
class StreamCheck {
 public:
  StreamCheck(uint32_t writer, bool from_the_start) : writer_(writer) {
    if (from_the_start) expected_.fill(1);
  }

  // Returns false when reading cannot continue.
  bool take(const pi::RecordView& record) {
    if (!record.valid()) return problem("is no record");
    uint64_t lost = 0;
    if (pi::decode_time(record, high_)) {
      ++time_records;
      return true;
    }
    if (pi::decode_lost(record, lost)) {
      take_lost(lost);
      return true;
    }
    return take_data(record);
  }

  bool problem(const std::string& text) {
    if (problems++ == 0)
      first_problem = fmt::format("writer {}, record {}: {}", writer_, read, text);
    return false;
  }

  uint64_t read = 0, missing = 0, lost_reported = 0, time_records = 0, problems = 0;
  std::string first_problem;

 private:
  void take_lost(uint64_t lost) {
    if (lost < lost_reported) problem(fmt::format("{} lost after {}", lost, lost_reported));
    lost_reported = lost;
    // Until each level has written again, fewer records may be missing than reported.
    if (unseen_ == 0) {
      unseen_ = (1u << levels) - 1;
      to_be_missing_ = lost;
      found_missing_ = missing;
    }
  }

  bool take_data(const pi::RecordView& record) {
    const uint32_t count = record.int_count();
    if (record.major() != major || record.minor() != writer_ || count <= fixed_ints)
      return problem(
          fmt::format("major {:x}, minor {:x}, {} ints", record.major(), record.minor(), count));
    uint32_t sum = count;
    for (uint32_t i = 0; i < fixed_ints; ++i) sum = mixed(sum, record.int_at(i));
    for (uint32_t i = fixed_ints; i < count; ++i) {
      sum = mixed(sum, i);
      if (record.int_at(i) != sum) return problem("is torn");
    }
    const uint32_t level = record.int_at(writer_int) & 0xff;
    const uint64_t number = record.int_at(number_low) | uint64_t{record.int_at(number_high)} << 32;
    const uint64_t time = record.int_at(time_low) | uint64_t{record.int_at(time_high)} << 32;
    if (record.int_at(writer_int) >> 8 != writer_ || level >= levels || count != ints_of(number))
      return problem("is another's");
    if (time != (uint64_t{high_} << 32 | record.time_lo())) return problem("has another time");
    if (time < last_time_) return problem("is older than the one before");
    last_time_ = time;
    take_number(level, number);
    ++read;
    return true;
  }

  void take_number(uint32_t level, uint64_t number) {
    uint64_t& expected = expected_[level];
    if (number < expected)
      problem(fmt::format("number {} of level {} after {}", number, level, expected - 1));
    const uint64_t gap = expected == 0 ? 0 : number - expected;
    expected = number + 1;
    missing += gap;
    if (missing > lost_reported)
      problem(fmt::format("{} are missing, {} reported", missing, lost_reported));
    if ((unseen_ >> level & 1) == 0) return;
    unseen_ &= ~(1u << level);
    found_missing_ += gap;
    if (unseen_ == 0 && found_missing_ < to_be_missing_)
      problem(
          fmt::format("{} were reported as lost, {} are missing", to_be_missing_, found_missing_));
  }

  uint32_t writer_;
  uint32_t high_ = 0;
  uint64_t last_time_ = 0;
  std::array<uint64_t, levels> expected_{};  // next number by level; 0: any
  unsigned unseen_ = 0;
  uint64_t to_be_missing_ = 0, found_missing_ = 0;
};

class Storm {
 public:
  Storm(const StormPlan& plan, bool overwrite) : plan_(plan), overwrite_(overwrite) {
    for (unsigned i = 0; i < plan.writers; ++i) {
      auto& writer = *writers_.emplace_back(std::make_unique<Writer>());
      writer.id = i + 1;
      writer.calm = plan.calm;
      for (unsigned level = 0; level < levels; ++level)
        writer.random[level] = 0x9e3779b97f4a7c15ull * (i * levels + level + 1);
      auto memory = pi::perfutil::map_own_ring(plan.ring_bytes);
      if (!memory) throw std::bad_alloc();
      writer.memory = std::move(*memory);
      auto* head = reinterpret_cast<pitrace_buffer_head*>(writer.memory.data());
      head->data_size = plan.ring_bytes;
      writer.ring.head = head;
      writer.ring.data = reinterpret_cast<__u8*>(writer.memory.data()) + PITRACE_HEAD_BYTES;
      writer.ring.size = plan.ring_bytes;
      pitrace_ring_reset(&writer.ring, overwrite ? 0 : plan.ring_bytes / 4, overwrite);
    }
  }

  template <class Read>
  StormResult run(Read read) {
    catch_signals();
    const auto began = std::chrono::steady_clock::now();
    std::deque<std::thread> threads;
    for (auto& writer : writers_) threads.emplace_back([this, &w = *writer] { write(w); });
    while (started_ != writers_.size()) sched_yield();
    std::thread interrupter([this] { interrupt_all(); });
    StormResult result = read(*this);
    interrupter.join();
    for (auto& thread : threads) thread.join();
    result.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    std::signal(SIGUSR1, SIG_DFL);
    std::signal(SIGUSR2, SIG_DFL);
    add_up(result);
    return result;
  }

  // A reader that begins here finds losses however fast it is.
  void wait_for_a_loss() const {
    while (finished_ != writers_.size()) {
      for (const auto& writer : writers_)
        if (pitrace_read(writer->ring.head->lost[PITRACE_LOST_FULL]) != 0) return;
      sched_yield();
    }
  }

  std::deque<std::unique_ptr<Writer>>& writers() { return writers_; }
  bool over() const {
    for (const auto& writer : writers_)
      if (!writer->done) return false;
    return true;
  }

 private:
  static void catch_signals() {
    struct sigaction action {};
    action.sa_handler = interrupt;
    action.sa_flags = SA_RESTART;
    sigaction(SIGUSR1, &action, nullptr);
    sigaction(SIGUSR2, &action, nullptr);
  }

  static uint64_t unread(const Writer& writer) {
    return pitrace_read(writer.ring.head->committed) -
           pitrace_load_acquire(&writer.ring.head->consumed);
  }

  void write(Writer& writer) {
    me = &writer;
    writer.thread = pthread_self();
    ++started_;
    const uint64_t share = plan_.records / writers_.size();
    bool ignores_reader = false;
    for (uint64_t i = 0; attempted(writer) < share; ++i) {
      // Most of the time a writer waits for the reader, which may be slower. At first it does not:
      // see wait_for_a_loss().
      if (i % 4096 == 0) ignores_reader = i == 0 || next_random(writer) % 16 == 0;
      if (!overwrite_ && !ignores_reader && i % 64 == 0)
        while (unread(writer) > plan_.ring_bytes / 2) sched_yield();
      attempt(writer);
    }
    ++finished_;
    while (!calm_) sched_yield();
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR1);
    sigaddset(&signals, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    close(writer);
    writer.done = true;
  }

  // Writes a last record at each level, with free space: now all missing records must have been
  // reported.
  void close(Writer& writer) {
    while (!overwrite_ && unread(writer) != 0) sched_yield();
    for (unsigned level = levels; level-- > 0;) {
      writer.level = level;
      attempt(writer);
    }
  }

  // Sends signals to random writers at random times.
  void interrupt_all() {
    std::minstd_rand random(1);
    while (finished_ != writers_.size()) {
      Writer& victim = *writers_[random() % writers_.size()];
      pthread_kill(victim.thread, random() % 2 == 0 ? SIGUSR2 : SIGUSR1);
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 50));
    }
    calm_ = true;
  }

  void add_up(StormResult& result) {
    for (const auto& writer : writers_) {
      result.attempted += attempted(*writer);
      result.nested += writer->attempted[1] + writer->attempted[2];
      result.nested_twice += writer->attempted[2];
      result.counted_produced += writer->ring.head->produced;
      for (const uint64_t lost : writer->ring.head->lost) result.counted_lost += lost;
      result.laps += writer->ring.head->committed / plan_.ring_bytes;
    }
  }

  StormPlan plan_;
  bool overwrite_;
  std::deque<std::unique_ptr<Writer>> writers_;
  std::atomic<size_t> started_{0}, finished_{0};
  std::atomic<bool> calm_{false};
};

void add(StormResult& result, const StreamCheck& check) {
  result.read += check.read;
  result.lost += check.missing;
  result.lost_reported += check.lost_reported;
  result.time_records += check.time_records;
  result.problems += check.problems;
  if (result.first_problem.empty()) result.first_problem = check.first_problem;
}

// Consumes records up to the ring's end, so that each byte is read at the address where it was
// written: a thread sanitizer does not know that the two halves of the mapping are the same memory.
// Returns false if the ring was empty.
bool consume(Writer& writer, uint64_t ring_bytes, StreamCheck& check) {
  const pi::perfutil::BufferView view = RingMemory(writer.memory).unread();
  const uint64_t until = ring_bytes - view.position % ring_bytes;
  uint64_t at = 0;
  while (at < view.records.size() && at < until) {
    const pi::RecordView record(view.records.subspan(at));
    // After an invalid record the rest is consumed, so that the writer does not wait forever.
    if (check.take(record))
      at += record.length();
    else
      at = view.records.size();
  }
  if (!pitrace_ring_consume(writer.ring.head, view.position + at, ring_bytes / 4))
    check.problem("cannot be consumed");
  return at != 0;
}

void check_copy(const Writer& writer, uint64_t ring_bytes, StormResult& result) {
  const pi::perfutil::BufferCopy copy = RingMemory(writer.memory).copy();
  StreamCheck check(writer.id, false);
  std::span<const std::byte> left = copy.records;
  while (!left.empty()) {
    const pi::RecordView record(left);
    if (!check.take(record)) break;
    left = left.subspan(record.length());
  }
  if (check.read != copy.kept)
    check.problem(fmt::format("{} were kept, {} are there", copy.kept, check.read));
  if (copy.records.size() > ring_bytes + PITRACE_TIME_SIZE)
    check.problem("is more than the ring holds");
  ++result.snapshots;
  add(result, check);
}

}  // namespace

__u64 pitrace_clock() {
  uint64_t now = fast_clock();
  if (me) {
    // A record written here makes the clock reading above old.
    maybe_interrupt(*me);
    if (next_random(*me) % 512 == 0) now -= 1 << 20;  // a clock that may run back slightly
  }
  return now;
}

namespace test_support {

StormResult continuous_storm(const StormPlan& plan) {
  Storm storm(plan, false);
  return storm.run([&plan](Storm& running) {
    std::deque<StreamCheck> checks;
    for (const auto& writer : running.writers()) checks.emplace_back(writer->id, true);
    running.wait_for_a_loss();
    for (bool over = false; !over;) {
      over = running.over();
      bool idle = true;
      for (size_t i = 0; i < checks.size(); ++i)
        while (consume(*running.writers()[i], plan.ring_bytes, checks[i])) idle = over = false;
      if (idle) sched_yield();
    }
    StormResult result;
    for (const StreamCheck& check : checks) add(result, check);
    return result;
  });
}

StormResult snapshot_storm(const StormPlan& plan) {
  Storm storm(plan, true);
  return storm.run([&plan](Storm& running) {
    StormResult result;
    for (bool over = false; !over;) {
      over = running.over();
      for (const auto& writer : running.writers()) check_copy(*writer, plan.ring_bytes, result);
    }
    return result;
  });
}

}  // namespace test_support
