// SPDX-License-Identifier: MIT
// libperfutil for C++: a trace session.
#ifndef PERFUTIL_TRACE_HPP
#define PERFUTIL_TRACE_HPP

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

#include <perfutil/events.h>
#include <perfutil/result.hpp>
#include <perfutil/trace.h>

namespace pitrace {

enum class Source : int {
  automatic = PI_SOURCE_AUTO,  // the module if its device can be opened, else perf
  driver = PI_SOURCE_DRIVER,
  perf = PI_SOURCE_PERF
};

enum class Scope : int {
  automatic = PI_SCOPE_AUTO,  // the system if permitted, else the process
  system = TRACE_SCOPE_SYSTEM,
  process = TRACE_SCOPE_PROCESS
};

enum class Mode : int {
  normal = COLLECTION_MODE_NORMAL,         // recording stops when a buffer is full
  wrap = COLLECTION_MODE_WRAP,             // the buffers keep the newest records
  continuous = COLLECTION_MODE_CONTINUOUS  // records are streamed to a file
};

enum class Stacks : int {
  off = PI_STACKS_OFF,
  kernel = PI_STACKS_KERNEL,
  user = PI_STACKS_USER,
  both = PI_STACKS_BOTH
};

// Where events are counted.
enum class Privilege : int { kernel = PI_PRIV_KERNEL, user = PI_PRIV_USER, both = PI_PRIV_BOTH };

// Settings of a session; the defaults are the library's. Each field is a parameter of the function
// of perfutil/trace.h that the comment names.
struct TraceConfig {
  Source source = Source::automatic;                       // PiSetSource()
  Scope scope = Scope::automatic;                          // TraceSetScope()
  int pid = 0;                                             // the same; 0: this process
  Mode mode = Mode::normal;                                // TraceSetMode()
  std::string file = PI_FILE_NAME_DEFAULT;                 // TraceSetName()
  std::uint32_t section_bytes = PI_SECTION_BYTES_DEFAULT;  // TraceSetSectionSize()
  std::uint32_t trace_bytes = PI_TRACE_BYTES_DEFAULT;      // TraceInit(): buffer of each CPU
  std::uint32_t mte_bytes = PI_MTE_BYTES_DEFAULT;          // TraceSetMteSize()
  bool anonymous_mappings = true;                          // SetTraceAnonMTE()
  std::vector<int> majors = {PI_MAJORS_TPROF};             // TraceEnable() of each
  int rate = 0;            // SetProfilerRate(): samples a second, 0: the default of 100
  std::string event = {};  // PiSetTprofEvent(): not empty: sample by this event, not by time
  std::uint64_t period = PI_EVENT_PERIOD_DEFAULT;  // the same: events a sample, 0: its default
  Privilege privilege = Privilege::both;           // the same
  bool random_period = false;                      // the same; only the module can
  Stacks stacks = Stacks::off;                     // TraceSetStacks()
  int stack_depth = 0;                             // the same: frames, 0: the default of 64
};

// How a recording ended.
enum class StopResult {
  stopped,     // by stop()
  buffer_full  // by itself, earlier, because a buffer was full; the trace can be written
};

// The trace of this process, from create() until the session is destroyed, which stops recording if
// it is on, frees the buffers and gives up ownership; what was not written is lost, except for the
// file of continuous and wrap-around mode. A process has one session at a time, and does not call
// TraceInit() and TraceTerminate() beside it.
//
// Thread-safety: calls are serialised by the library, so that any thread may call the member
// functions; moving and destroying a session is for one thread alone. In a child of fork() all
// members return PI_ERROR_FORKED, and destroying the session has no effect on the trace.
class TraceSession {
 public:
  // Sets everything and allocates the buffers; recording is not on. Errors: those of the functions
  // that TraceConfig names; nothing remains allocated.
  static Result<TraceSession> create(const TraceConfig& config = {}) {
    if (auto set = before_init(config); !set) return set.error();
    if (const int rc = TraceInit(config.trace_bytes); rc != PU_SUCCESS) return Error::last(rc);
    TraceSession session(true);
    if (auto set = after_init(config); !set) return set.error();
    return Result<TraceSession>(std::move(session));
  }

  TraceSession(TraceSession&& other) noexcept : owned_(std::exchange(other.owned_, false)) {}
  TraceSession& operator=(TraceSession&& other) noexcept {
    if (this == &other) return *this;
    end();
    owned_ = std::exchange(other.owned_, false);
    return *this;
  }
  ~TraceSession() { end(); }

  // Starts recording with empty buffers: TraceOn().
  Result<void> start() { return Result<void>::of(TraceOn()); }

  // Stops recording; the buffers keep their records: TraceOff().
  Result<StopResult> stop() {
    const int rc = TraceOff();
    if (rc == PU_ERROR_BUFFER_FULL) return StopResult::buffer_full;
    if (rc != PU_SUCCESS) return Error::last(rc);
    return StopResult::stopped;
  }

  // Pauses all records but names, and resumes: TraceSuspend(), TraceResume().
  Result<void> suspend() { return Result<void>::of(TraceSuspend()); }
  Result<void> resume() { return Result<void>::of(TraceResume()); }

  // Discards the records since start(), except for names: TraceDiscard().
  Result<void> discard() { return Result<void>::of(TraceDiscard()); }

  // Writes the records to a file: TraceWriteBufferToFile(). Empty: the file of TraceConfig.
  Result<void> write(const std::string& file = {}) {
    return Result<void>::of(TraceWriteBufferToFile(file.empty() ? nullptr : file.c_str()));
  }

  // Also while on: TraceEnable(), TraceDisable().
  Result<void> enable(int major) { return Result<void>::of(TraceEnable(major)); }
  Result<void> disable(int major) { return Result<void>::of(TraceDisable(major)); }

  // Between start() and stop().
  bool is_on() const noexcept { return IsTraceOn() == 1; }
  // Records are being stored: on, not suspended, no buffer full.
  bool is_active() const noexcept { return IsTraceActive() == 1; }
  // Counts the starts of this process; 0 before the first.
  std::uint32_t interval() const noexcept { return TraceGetIntervalId(); }

  // Source, sizes and counts of records, lost ones included: PiTraceStatus().
  Result<pi_trace_status> status() const {
    pi_trace_status status{};
    status.size = sizeof status;
    if (const int rc = PiTraceStatus(&status); rc != PU_SUCCESS) return Error::last(rc);
    return status;
  }

  // One sentence each: what the source cannot see (PiCannotSee()), what users of this trace should
  // know (PiNote()).
  std::vector<std::string> cannot_see() const { return sentences(PiCannotSee); }
  std::vector<std::string> notes() const { return sentences(PiNote); }

 private:
  explicit TraceSession(bool owned) noexcept : owned_(owned) {}

  static Result<void> before_init(const TraceConfig& config) {
    int rc = PiSetSource(static_cast<int>(config.source));
    if (rc == PU_SUCCESS) {
      const int pid = config.pid != 0 ? config.pid : static_cast<int>(::getpid());
      rc = TraceSetScope(static_cast<int>(config.scope), pid);
    }
    if (rc == PU_SUCCESS) rc = TraceSetMteSize(config.mte_bytes);
    if (rc == PU_SUCCESS) rc = TraceSetMode(static_cast<int>(config.mode));
    if (rc == PU_SUCCESS) rc = TraceSetName(config.file.c_str());
    if (rc == PU_SUCCESS) rc = TraceSetSectionSize(config.section_bytes);
    if (rc == PU_SUCCESS) rc = SetTraceAnonMTE(config.anonymous_mappings ? 1 : 0);
    return Result<void>::of(rc);
  }

  static Result<void> after_init(const TraceConfig& config) {
    int rc = PU_SUCCESS;
    for (const int major : config.majors)
      if (rc == PU_SUCCESS) rc = TraceEnable(major);
    if (rc == PU_SUCCESS && config.event.empty()) rc = SetProfilerRate(config.rate);
    if (rc == PU_SUCCESS && !config.event.empty())
      rc = PiSetTprofEvent(config.event.c_str(), config.period, static_cast<int>(config.privilege),
                           config.random_period ? 1 : 0);
    if (rc == PU_SUCCESS && config.stacks != Stacks::off)
      rc = TraceSetStacks(static_cast<int>(config.stacks), config.stack_depth);
    return Result<void>::of(rc);
  }

  static std::vector<std::string> sentences(const char* (*next)(unsigned int)) {
    std::vector<std::string> all;
    for (unsigned int i = 0; const char* const sentence = next(i); ++i) all.emplace_back(sentence);
    return all;
  }

  void end() noexcept {
    if (std::exchange(owned_, false)) (void)TraceTerminate();
  }

  bool owned_;
};

}  // namespace pitrace

#endif  // PERFUTIL_TRACE_HPP
