// SPDX-License-Identifier: MIT
// log-jita2n and log-jtnm of this JVM, and the hooks into a running trace that go with them.
#ifndef PI_JPROF_NAME_LOGS_H
#define PI_JPROF_NAME_LOGS_H

#include <jvmti.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <pi/result.h>

#include "code_map.h"
#include "inlining.h"
#include "methods.h"
#include "name_log.h"
#include "options.h"
#include "trace_clock.h"

namespace pi::jprof {

// The path of a log of this kind.
std::string log_path(const Options& options, const char* kind, uint32_t pid);

// A piece of code that the JVM reports.
struct CodeEvent {
  uint64_t time = 0;
  uint64_t asked = 0;  // when GenerateEvents was called for it; 0: the JVM's own event
  const void* address = nullptr;
  uint32_t size = 0;
};

// Thread-safe. Calls no function of the JVM: the JVM's own threads, which others wait for at a
// safepoint, may wait for this lock.
class NameLogs {
 public:
  // Events before begin() are kept, and written by it.
  Status open(const Options& options);
  void begin(bool late, const std::string& jvm);
  // Instead of begin(): removes the logs if they are empty.
  void abandon();
  // Later events are ignored.
  void end(std::string_view reason);

  uint64_t now() const { return clock_.now(); }

  // facts: those of the methods in unknown_of(inlining), which contains the first method always.
  using Facts = std::vector<std::pair<jmethodID, MethodFacts>>;
  std::vector<jmethodID> unknown_of(const Inlining& inlining);
  void compiled(const CodeEvent& event, const Inlining& inlining, const Facts& facts);
  void dynamic(const CodeEvent& event, std::string_view name);
  void unloaded(uint64_t time, const void* address);

  void thread_started(uint64_t time, uint32_t tid, std::string_view name);
  void thread_ended(uint64_t time, uint32_t tid, std::string_view name);
  // thread_found() ignores threads that end between these two calls.
  void begin_finding_threads();
  void thread_found(uint64_t time, uint32_t tid, std::string_view name);
  void end_finding_threads();

  // Thread tid carries a virtual thread, or none any more. There are up to millions of these events
  // in a second, so they get no hooks, many are written together, and only the first
  // mounts_bytes_max bytes are recorded.
  void mounted(uint64_t time, uint32_t tid, std::string_view name);
  void unmounted(uint64_t time, uint32_t tid);
  static constexpr uint64_t mounts_bytes_max = 64 << 20;
  static constexpr uint64_t mounts_delay_max = 50'000'000;  // nanoseconds, while events come

  // Counts an event that was lost for lack of memory.
  void lose(uint64_t time);
  // The paths of the logs; counted: also the numbers of records.
  std::string summary(bool counted);

 private:
  struct Section {
    NameLog log;
    bool wanted = false;
    bool again = false;     // continues an existing file
    uint32_t interval = 0;  // of the trace, as written last
  };

  Status open(Section& section, const Options& options, const char* kind);
  void begin(Section& section, std::string beginning, const LogHead& head);
  // Called with the lock held. False if the text was not written.
  bool write(Section& section, const std::string& text, uint64_t time, uint32_t interval);
  bool write_code(const CodeEvent& event, std::string_view name, std::string text,
                  uint32_t interval);
  void write_thread(std::unique_lock<std::mutex> lock, uint64_t time, uint32_t tid,
                    std::string_view name, bool starts);
  void add_mount(std::string_view text, uint64_t time);
  void write_mounts();
  bool is_new_code(const CodeEvent& event, std::string_view name);
  // Appends the definitions of new methods and the numbers of all; false if a method is not known
  // any more.
  bool number_all(const Inlining& inlining, const Facts& facts, std::string& definitions,
                  std::vector<uint32_t>& numbers);

  std::mutex mutex_;
  const TraceClock clock_ = TraceClock::of_this_process();
  const uint32_t pid_ = static_cast<uint32_t>(::getpid());
  std::atomic<bool> code_bytes_ = false;
  Section code_log_;
  Section thread_log_;
  CodeMap code_;
  MethodNumbers methods_;
  std::map<uint32_t, std::string> threads_;  // running and in the log, with their names
  bool finding_threads_ = false;
  std::set<uint32_t> carriers_;  // threads whose last mount is recorded, without its end
  std::string mounts_;           // not written yet
  uint64_t mounts_waiting_ = 0;  // how many
  uint64_t mounts_since_ = 0;    // time of the first one
  uint64_t mounts_bytes_ = 0;    // recorded, of all
  bool mounts_full_ = false;
  std::set<uint32_t> ended_;  // threads that ended while running ones are searched
};

}  // namespace pi::jprof

#endif  // PI_JPROF_NAME_LOGS_H
