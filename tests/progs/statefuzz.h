// SPDX-License-Identifier: MIT
// What the parts of statefuzz share: calls, their results, and the memory in which workers find
// them.
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

// Descriptors have fixed numbers, so that a program that is executed finds them as well.
inline constexpr int handle_base = 100;
inline constexpr int mail_base = 120;  // the end that a process reads; those that it writes follow
inline constexpr int shared_fd = 99;
inline constexpr int handles = 6;
inline constexpr int areas = 4;
inline constexpr int roles = 5;
inline constexpr int threads_of_each = 3;
inline constexpr int batch_max = 32;
inline constexpr int payload_max = 1280;
inline constexpr uint32_t group_id = 4711;

// The users: two processes of root, two of one member of the device's group, one of nobody.
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
  open,         // handle; command: 1 pitrace-ptt; number[0]: flags
  close,        // handle
  duplicate,    // handle to other
  ioctl,        // handle, command, pointer, payload
  map,          // handle to area other; number: offset, length, protection, flags
  unmap,        // area other
  protect,      // area other; number[0]: protection
  remap,        // area other; number[0]: new length
  advise,       // area other; number[0]: advice
  poke,         // area other: writes to it by /proc/self/mem
  look,         // area other: are its bytes those that this process may see? (statefuzz_look.cpp)
  compare,      // handle, area other: is what a slot shows what READ returns? number[0]: offset,
                // number[1]: metric
  poll,         // handle
  send,         // handle to the process number[0]
  receive,      // into handle
  credentials,  // of this thread; replaced, and the same
  parameter,    // number[0]: which file, number[1]: value
  pause,        // number[0]: microseconds
};
inline constexpr int kinds = static_cast<int>(Kind::pause) + 1;

// In what process a call is made.
enum class Where : uint8_t { self, forked, same_memory, executed, set_user };

// Where the argument of an ioctl is.
enum class Pointer : uint8_t { good, edge, split, readonly, null, low, kernel, text, noncanonical };

enum class File : uint8_t { paranoid, group, pages, hold, processor };

struct Call {
  Kind kind = Kind::pause;
  Where where = Where::self;
  Pointer pointer = Pointer::good;
  bool compat = false;  // by the 32-bit system call
  uint8_t handle = 0;
  uint8_t other = 0;
  uint16_t size = 0;   // of the argument
  uint32_t split = 0;  // how many of its last bytes are not there
  uint32_t command = 0;
  uint64_t number[4] = {};
  uint8_t payload[payload_max] = {};
};

struct Result {
  int64_t value = 0;
  int32_t error = 0;
  int32_t pid = 0;     // of the child that made it
  uint64_t wrong = 0;  // look and compare: what was not as it should be
  uint64_t seen[4] = {};
  char what[96] = {};
  uint8_t payload[payload_max] = {};
};

// Of one thread of a worker.
struct Desk {
  std::atomic<uint32_t> posted;  // batches
  std::atomic<uint32_t> done;
  std::atomic<uint32_t> position;  // in the batch
  std::atomic<int32_t> tid;
  uint32_t count;
  uint64_t storm;        // 0, or the state of the generator of calls that nobody predicts
  uint64_t storm_calls;  // how many
  Call call[batch_max];
  Result result[batch_max];
};

inline constexpr int errors_max = 140;
struct Counts {
  std::atomic<uint64_t> calls[kinds];
  std::atomic<uint64_t> errors[errors_max];
  std::atomic<uint64_t> commands[64];
  std::atomic<uint64_t> successes[64];     // of these
  std::atomic<uint64_t> microseconds[64];  // by command, the last ones by kind
  std::atomic<uint64_t> longest;           // of one call
  std::atomic<uint64_t> mismatches;
};

struct Shared {
  Counts counts;
  std::atomic<uint32_t> bell;  // rung by workers that have finished a batch
  bool failing;                // allocations of workers fail
  bool bold;                   // see Options
  std::atomic<uint32_t> said;  // lines in text
  char text[32][256];          // findings of workers
  int processors;
  char program[128];   // copies of this program that every user can execute
  char set_user[128];  // the same, of root's, with the set-user-id bit
  Desk desk[roles][threads_of_each];
};

extern Shared* shared;
extern int own_role;  // of this process

// Deterministic numbers from a seed.
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

// ---- statefuzz_execute.cpp: in a worker ----

void make_arena();  // of this thread, for the arguments of its calls
void execute(const Call& call, Result& result);
const char* name_of(Kind kind);
std::string name_of_command(uint32_t command);
std::string name_of_index(int index);
int index_of_command(uint32_t command);
std::string describe(const Call& call);

// ---- statefuzz_look.cpp ----

void look(const Call& call, const void* memory, size_t length, Result& result);
void compare(const Call& call, int fd, const void* memory, Result& result);
// What a call says is in an area, for look().
enum class Content : uint8_t { hook_page, buffer, slots, nothing };
struct Wanted {
  Content content;
  uint8_t reserved[7];
  uint32_t owner, interval_id;  // hook page
  uint32_t kind, cpu;           // buffer
  uint64_t data_size;
  uint32_t pages, metrics, shown, vectors;  // slots
  uint32_t active_least, active_most;
  uint8_t enabled[256];
};
static_assert(sizeof(Wanted) <= payload_max);

// ---- statefuzz_storm.cpp: calls at random, of which only is known what no call may return ----

void storm(int role, Desk& desk);

// ---- statefuzz_worker.cpp ----

pid_t start_worker(int role);  // of the processes of one epoch; mail sockets are there
void make_mail();
void drop_mail();
void post(int role, int thread, uint32_t count);
bool wait_done(int role, int thread, double seconds);
// The program executed by a call.
int executed(int role_thread, int index);
void say_finding(const std::string& text);
double seconds_now();

// ---- statefuzz_cycles.cpp ----

int cycles_main(int argc, char** argv);

}  // namespace statefuzz

#endif
