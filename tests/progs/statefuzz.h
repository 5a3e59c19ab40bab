// SPDX-License-Identifier: MIT
// Shared declarations of statefuzz's parts: calls, their results, and the memory shared with
// workers.
#ifndef STATEFUZZ_H
#define STATEFUZZ_H

#include <pitrace/abi.h>
#include <pitrace/ptt_abi.h>
#include <sys/types.h>

#include <atomic>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace statefuzz {

// Descriptors have fixed numbers, so that an executed program can use them as well.
inline constexpr int handle_base = 100;
inline constexpr int mail_base =
    120;  // the end that a process reads; the ends that it writes follow
inline constexpr int shared_fd = 99;
inline constexpr int handles = 6;
inline constexpr int areas = 4;
inline constexpr int roles = 5;
inline constexpr int threads_of_each = 3;
inline constexpr int batch_max = 32;
inline constexpr int payload_max = 1280;
inline constexpr uint32_t group_id = 4711;

// The users: two processes of root, two of one member of the device's group, one of the user
// nobody.
struct Role {
  const char* name;
  uint32_t uid;
  bool member;
  bool root() const { return uid == 0; }
};
inline constexpr std::array<Role, roles> role_table{{{"root", 0, false},
                                                     {"root2", 0, false},
                                                     {"member", 1001, true},
                                                     {"member2", 1001, true},
                                                     {"nobody", 65534, false}}};

enum class Kind : uint8_t {
  open,       // handle; command: 1 pitrace-ptt; number[0]: flags
  close,      // handle
  duplicate,  // handle to other
  ioctl,      // handle, command, pointer, payload
  map,        // handle to area other; number: offset, length, protection, flags
  unmap,      // area other
  protect,    // area other; number[0]: protection
  remap,      // area other; number[0]: new length
  advise,     // area other; number[0]: advice
  poke,       // area other: writes to it through /proc/self/mem
  look,       // area other: checks its bytes (statefuzz_look.cpp)
  compare,    // handle, area other: compares a slot with READ; number[0]: offset, number[1]: metric
  poll,       // handle
  send,       // handle to the process number[0]
  receive,    // into handle
  credentials,  // of this thread; replaced by equal ones
  parameter,    // number[0]: a File; number[1]: value
  pause,        // number[0]: microseconds
};
inline constexpr int kinds = static_cast<int>(Kind::pause) + 1;

// The process in which a call is made.
enum class Where : uint8_t { self, forked, same_memory, executed, set_user };

// The kind of address of an ioctl's argument.
enum class Pointer : uint8_t { good, edge, split, readonly, null, low, kernel, text, noncanonical };

enum class File : uint8_t { paranoid, group, pages, hold, processor };

struct Call {
  Kind kind = Kind::pause;
  Where where = Where::self;
  Pointer pointer = Pointer::good;
  bool compat = false;  // uses the 32-bit system call
  uint8_t handle = 0;
  uint8_t other = 0;
  uint16_t size = 0;   // size of the argument
  uint32_t split = 0;  // number of its last bytes that are not mapped
  uint32_t command = 0;
  uint64_t number[4] = {};
  uint8_t payload[payload_max] = {};
};

struct Result {
  int64_t value = 0;
  int32_t error = 0;
  int32_t pid = 0;     // pid of the child that made the call
  uint64_t wrong = 0;  // look and compare: number of errors
  uint64_t seen[4] = {};
  char what[96] = {};
  uint8_t payload[payload_max] = {};
};

// Mailbox of one thread of a worker.
struct Desk {
  std::atomic<uint32_t> posted;  // number of posted batches
  std::atomic<uint32_t> done;
  std::atomic<uint32_t> position;  // position in the batch
  std::atomic<int32_t> tid;
  uint32_t count;
  uint64_t storm;        // 0, or the random state for unpredicted calls
  uint64_t storm_calls;  // number of unpredicted calls
  Call call[batch_max];
  Result result[batch_max];
};

inline constexpr int errors_max = 140;
struct Counts {
  std::atomic<uint64_t> calls[kinds];
  std::atomic<uint64_t> errors[errors_max];
  std::atomic<uint64_t> commands[64];
  std::atomic<uint64_t> successes[64];     // subset of commands
  std::atomic<uint64_t> microseconds[64];  // by command; the last ones by kind
  std::atomic<uint64_t> longest;           // longest call
  std::atomic<uint64_t> mismatches;
};

struct Shared {
  Counts counts;
  std::atomic<uint32_t> bell;           // incremented by workers that have finished a batch
  bool failing;                         // inject allocation failures in workers
  bool bold;                            // see Options
  std::atomic<uint32_t> finding_count;  // number of lines in text
  char text[32][256];                   // findings of workers
  int processors;
  char program[128];   // path of a copy of this program that every user can execute
  char set_user[128];  // path of a copy owned by root, with the set-user-id bit
  Desk desk[roles][threads_of_each];
};

extern Shared* shared;
extern int own_role;  // role of this process

// Deterministic random numbers from a seed.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next();
  uint64_t below(uint64_t limit) { return limit ? next() % limit : 0; }
  bool one_in(uint64_t n) { return below(n) == 0; }
  uint64_t state() const { return state_; }
  template <typename T, size_t n>
  T pick(const T (&list)[n]) {
    return list[below(n)];
  }

 private:
  uint64_t state_;
};

// ---- statefuzz_execute.cpp: runs in a worker ----

void make_arena();  // allocates this thread's memory for arguments of calls
void execute(const Call& call, Result& result);
const char* name_of(Kind kind);
std::string name_of_command(uint32_t command);
std::string name_of_index(int index);
int index_of_command(uint32_t command);
std::string describe(const Call& call);

// ---- statefuzz_look.cpp ----

void look(const Call& call, const void* memory, size_t length, Result& result);
void compare(const Call& call, int fd, const void* memory, Result& result);
// The expected content of an area, passed in a call to look().
enum class Content : uint8_t { hook_page, buffer, slots, nothing };
struct Wanted {
  Content content;
  uint8_t reserved[7];
  uint32_t owner, interval_id;  // hook page
  uint32_t kind, cpu;           // buffer
  uint64_t data_size;
  uint32_t pages, metrics, shown, vectors;  // slots
  uint32_t active_min, active_max;
  uint8_t enabled[256];
};
static_assert(sizeof(Wanted) <= payload_max);

// ---- statefuzz_storm.cpp: random calls; only results that no call may return are known ----

void storm(int role, Desk& desk);

// ---- statefuzz_worker.cpp ----

pid_t start_worker(int role);  // starts one process of an epoch; the mail sockets must exist
void make_mail();
void drop_mail();
void post(int role, int thread, uint32_t count);
bool wait_done(int role, int thread, double seconds);
// main() of the program executed by a call.
int executed(int role_thread, int index);
void say_finding(const std::string& text);
double seconds_now();

// ---- statefuzz_cycles.cpp ----

int cycles_main(int argc, char** argv);

}  // namespace statefuzz

#endif
