// SPDX-License-Identifier: MIT
// statefuzz's model of the module's state and of the references to its files, and the results that
// calls must return in it.
#ifndef STATEFUZZ_MODEL_H
#define STATEFUZZ_MODEL_H

#include <bitset>
#include <deque>
#include <initializer_list>
#include <list>
#include <memory>
#include <vector>

#include "statefuzz.h"

namespace statefuzz {

// The errors that a call may return; 0 is success.
class Expectation {
 public:
  Expectation() = default;
  Expectation(int error) : errors_{error} {}  // NOLINT: implicit, a result is an expectation
  Expectation(std::initializer_list<int> errors) : errors_(errors) {}
  bool exact() const { return errors_.size() == 1; }
  int only() const { return errors_.front(); }
  bool allows(int error) const {
    for (const int allowed : errors_)
      if (allowed == error) return true;
    return false;
  }
  void add(int error) {
    if (!allows(error)) errors_.push_back(error);
  }
  std::string text() const;

 private:
  std::vector<int> errors_;
};

enum class Sees : uint8_t { cycles, user, kernel };
enum class Maybe : uint8_t { no, yes, perhaps };

// An open file. It exists while descriptors, mappings or messages refer to it.
struct OpenFile {
  bool ptt = false;
  bool readable = true;
  bool writable = true;
  int references = 0;
  bool ai = false;
  pid_t memory = -1;  // slot device: the process that opened it
  uint32_t uid = 0;
  Sees sees = Sees::cycles;
  uint32_t pages = 0;
};

struct Area {
  OpenFile* file = nullptr;  // nullptr: not mapped
  Content content = Content::nothing;
  uint32_t kind = 0, cpu = 0;
  uint64_t data_size = 0;
  uint64_t length = 0;
  bool accessible = true;
  bool stale = false;  // its pages were discarded
};

struct Thread {
  Maybe followed = Maybe::no;
  OpenFile* slot = nullptr;
  uint64_t offset = 0;  // offset of the slot
  bool offset_known = false;
  bool recredited = false;  // credentials changed: the slot ends when it is next published
};

struct Process {
  bool alive = false;
  pid_t pid = 0;
  OpenFile* handle[handles] = {};
  Area area[areas];
  Thread thread[threads_of_each];
};

struct Range {
  uint32_t first, last;
  bool lasting;
};

struct Session {
  OpenFile* owner = nullptr;
  pid_t owner_pid = 0;
  bool owner_pid_known = true;
  uint32_t state = PITRACE_TRACE_FREE;
  uint32_t mode = 0;
  uint32_t rate = 0;
  uint32_t interval_id = 0;
  uint64_t bytes[PITRACE_BUFFERS_ALL] = {};
  uint64_t section = 0;
  bool suspended = false;
  bool has_other_event = false;
  bool buffers_of_cpu1 = false;
  bool copies_of_cpu1 = false;
  std::bitset<256> enabled;

  void set_copies(const pitrace_copies& copies, bool with_cpu1) {
    bytes[2] = copies.bytes ? (copies.buffer_bytes + 4095) & ~4095ull : 0;
    copies_of_cpu1 = copies.bytes && with_cpu1;
  }
};

struct ITrace {
  bool installed = false;
  bool on = false;
  bool few_threads = false;
  uint32_t flags = 0;
  std::vector<Range> ranges;
};

struct Ptt {
  bool active = false;
  bool keep = false;
  bool ints = true;  // for the next instance
  bool ints_now = true;
  Maybe has_last = Maybe::no;
  OpenFile* owner = nullptr;
  uint32_t instance = 0;
  pitrace_ptt_init setup = {};
  uint64_t begun = 0;  // threads started since INIT
};

// The context of a call.
struct Caller {
  int role, thread;
  Where where;
  uint32_t euid;
  bool member, capable;  // CAP_PERFMON and CAP_SYS_PTRACE
  pid_t memory;          // the process that owns the address space; 0: a new one
  bool own_thread;
  OpenFile* file;  // file of the handle
};

class Model {
 public:
  Expectation predict(const Call& call, int role, int thread) const;
  // Updates the model with the result of a call; error 0 is success.
  void apply(const Call& call, int role, int thread, int error);
  // Updates the model with numbers that were not predictable.
  void learn(const Call& call, int role, int thread, const Result& result);
  // Sets the bytes that an answer must have where mask is not 0; empty: unknown.
  void answer(const Call& call, int role, std::vector<uint8_t>& bytes,
              std::vector<uint8_t>& mask) const;
  // Fills a call to look() with the expected content of an area.
  void describe_area(Call& call, int role) const;
  Expectation predict_poll(int role, int handle, uint64_t& events, uint64_t& mask) const;

  void begin(int role, pid_t pid);
  void end(int role);  // the process was killed
  // Returns whether a successful call takes long.
  bool is_costly(const Call& call, int role, int thread) const;
  bool changes_state(const Call& call) const;
  // Returns whether each kernel instruction of that thread traps.
  bool is_followed_in_kernel(int role, int thread) const;
  bool follows_kernel() const;

  Process process[roles];
  std::deque<OpenFile*> mail[roles];
  Session session;
  ITrace itrace;
  Ptt ptt;
  int paranoid = 2;
  int64_t group = group_id;
  uint32_t pages_limit = 2048;
  bool cpu1_online = true;
  uint32_t probes = 0;  // number of the module's hooks
  int ai_users = 0;
  bool has_three_levels = true;

 private:
  Caller caller(const Call& call, int role, int thread) const;
  Expectation predict_ioctl(const Call& call, const Caller& by) const;
  Expectation predict_session(const Call& call, const Caller& by) const;
  Expectation predict_settings(const Call& call, const Caller& by) const;
  Expectation predict_itrace(const Call& call, const Caller& by) const;
  Expectation predict_enable(const pitrace_itrace_pids& pids, const Caller& by) const;
  Expectation predict_ptt(const Call& call, const Caller& by) const;
  Expectation predict_init(const pitrace_ptt_init& init, const Caller& by) const;
  Expectation predict_slot(const Call& call, const Caller& by) const;
  Expectation predict_dump(const Call& call) const;
  Expectation predict_hook(const Call& call) const;
  bool has_buffer(uint64_t kind, uint64_t cpu) const;
  Expectation predict_map(const Call& call, const Caller& by) const;
  Expectation predict_open(const Call& call, const Caller& by) const;
  bool may_trace(const Caller& by) const;
  bool may_count(const Caller& by) const;
  Sees sees(const Caller& by) const;
  uint32_t shown(Sees sees) const;
  bool is_enabled(pid_t pid) const;
  uint32_t pages_of(uint32_t uid) const;

  void apply_ioctl(const Call& call, const Caller& by, int error);
  void apply_itrace(const Call& call, const Caller& by);
  void apply_ptt(const Call& call, const Caller& by, int error);
  void apply_map(const Call& call, const Caller& by);
  void set_majors(uint32_t major, bool on);
  bool ends_with(const OpenFile* file) const;
  void stop_following();
  void trace_ends();
  void terminate();
  void stop_ptt();
  void put(OpenFile* file);
  void set_handle(int role, int handle, OpenFile* file);
  void drop_area(Area& area);

  std::list<OpenFile> files_;
};

// The argument as the module reads it.
template <typename T>
T argument(const Call& call) {
  T value;
  __builtin_memcpy(&value, call.payload, sizeof value);
  return value;
}

// Return whether the module can read, and write, the whole argument.
bool is_readable(const Call& call);
bool is_writable(const Call& call);

}  // namespace statefuzz

#endif
