// SPDX-License-Identifier: MIT
// Executes one call of statefuzz, in the process and with the pointer that it specifies.
#include "statefuzz.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace statefuzz {

// Mappings of this process by number; its threads share them.
struct Mapped {
  std::atomic<char*> at;
  std::atomic<size_t> length;
};
static Mapped mapped[areas];

// ---- arguments of ioctls: pages below 4 GB, followed by an inaccessible page ----

namespace {

constexpr size_t page = 4096;
constexpr size_t arena_bytes = 4 * page;
constexpr size_t rows_bytes = 256 * 1024;  // buffer for rows of PITRACE_PTT_IOC_DUMP

struct Arena {
  char* writable = nullptr;
  char* readable = nullptr;  // a second mapping of the same pages
  char* rows = nullptr;
};
thread_local Arena arena;

}  // namespace

void make_arena() {
  if (arena.writable) return;
  const int fd = static_cast<int>(::syscall(SYS_memfd_create, "arena", MFD_CLOEXEC));
  if (::ftruncate(fd, arena_bytes) != 0) ::_exit(90);
  const auto reserve = [](size_t bytes) {
    void* at = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
    if (at == MAP_FAILED) ::_exit(90);
    return static_cast<char*>(at);
  };
  arena.writable = reserve(arena_bytes + page);
  arena.readable = reserve(arena_bytes + page);
  arena.rows = reserve(rows_bytes + page);
  const bool good =
      ::mmap(arena.writable, arena_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) !=
          MAP_FAILED &&
      ::mmap(arena.readable, arena_bytes, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0) != MAP_FAILED &&
      ::mprotect(arena.rows, rows_bytes, PROT_READ | PROT_WRITE) == 0;
  if (!good) ::_exit(90);
  ::close(fd);
}

namespace {

uint64_t wild_address(Pointer pointer) {
  switch (pointer) {
    case Pointer::low:
      return 8;
    case Pointer::kernel:
      return 0xffff888000001000;
    case Pointer::text:
      return 0xffffffff81000000;
    case Pointer::noncanonical:
      return 0x8000000000000000;
    default:
      return 0;
  }
}

// Returns the argument's address; written is where to store its bytes.
char* place(const Call& call, char*& written) {
  written = nullptr;
  size_t offset = 0;
  switch (call.pointer) {
    case Pointer::good:
      break;
    case Pointer::edge:
      offset = arena_bytes - call.size;
      break;
    case Pointer::split:
      offset = arena_bytes - (call.size - call.split);
      break;
    case Pointer::readonly:
      written = arena.writable;
      return arena.readable;
    default:
      return reinterpret_cast<char*>(wild_address(call.pointer));
  }
  written = arena.writable + offset;
  return written;
}

uint64_t rows_address(uint64_t which) {
  switch (which) {
    case 0:
      return reinterpret_cast<uint64_t>(arena.rows);
    case 1:
      return reinterpret_cast<uint64_t>(arena.rows + rows_bytes / 2);
    default:
      return wild_address(static_cast<Pointer>(which));
  }
}

long ioctl_32(int fd, uint32_t command, uint32_t argument) {
  long result = 54;
  asm volatile("int $0x80"
               : "+a"(result)
               : "b"(fd), "c"(command), "d"(argument)
               : "memory", "r8", "r9", "r10", "r11");
  if (static_cast<int>(result) < 0 && static_cast<int>(result) > -4096) {
    errno = -static_cast<int>(result);
    return -1;
  }
  return static_cast<int>(result);
}

// Checks rows of a dump: reserved fields are zero, names are terminated.
void check_dump(const Call& call, Result& result) {
  pitrace_ptt_dump dump;
  std::memcpy(&dump, result.payload, sizeof dump);
  if (call.number[0] != 0 || dump.threads > rows_bytes / 2 / sizeof(pitrace_ptt_thread)) return;
  for (uint32_t i = 0; i < dump.threads; ++i) {
    pitrace_ptt_thread row;
    std::memcpy(&row, arena.rows + i * sizeof row, sizeof row);
    if (row.reserved || row.flags > 1 || !std::memchr(row.name, 0, sizeof row.name)) ++result.wrong;
  }
  if (result.wrong) std::snprintf(result.what, sizeof result.what, "rows of a dump");
}

void make_ioctl(const Call& call, Result& result) {
  make_arena();
  char* written = nullptr;
  char* at = place(call, written);
  const size_t size = call.pointer == Pointer::split ? call.size - call.split : call.size;
  if (written) {
    // A record may be longer than its given bytes: zeros follow.
    const size_t given = size < payload_max ? size : payload_max;
    std::memcpy(written, call.payload, given);
    std::memset(written + given, 0, size - given);
    if (call.command == PITRACE_PTT_IOC_DUMP && size == sizeof(pitrace_ptt_dump)) {
      const uint64_t rows[2] = {rows_address(call.number[0]), rows_address(call.number[1])};
      std::memcpy(written, rows, sizeof rows);
    }
  }
  const int fd = handle_base + call.handle;
  errno = 0;
  result.value = call.compat ? ioctl_32(fd, call.command,
                                        static_cast<uint32_t>(reinterpret_cast<uintptr_t>(at)))
                             : ::ioctl(fd, call.command, at);
  result.error = result.value < 0 ? errno : 0;
  if (written && size <= payload_max) std::memcpy(result.payload, written, size);
  if (call.command == PITRACE_PTT_IOC_DUMP && !result.error) check_dump(call, result);
}

// ---- descriptors ----

int open_device(const Call& call) {
  const int fd = ::open(call.command == 1 ? PITRACE_PTT_DEVICE_PATH : PITRACE_DEVICE_PATH,
                        static_cast<int>(call.number[0]));
  if (fd < 0) return -1;
  const int wanted = handle_base + call.handle;
  if (fd == wanted) return 0;
  const int placed = ::dup2(fd, wanted);
  ::close(fd);
  return placed < 0 ? -1 : 0;
}

int send_handle(const Call& call) {
  char byte = 0;
  iovec vector{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &vector;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  const int fd = handle_base + call.handle;
  std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
  return ::sendmsg(mail_base + roles + static_cast<int>(call.number[0]), &message,
                   MSG_DONTWAIT | MSG_NOSIGNAL) < 0
             ? -1
             : 0;
}

int receive_handle(const Call& call) {
  char byte = 0;
  iovec vector{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &vector;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  if (::recvmsg(mail_base + own_role, &message, MSG_DONTWAIT) < 0) return -1;
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (!header || header->cmsg_type != SCM_RIGHTS) {
    errno = ENOMSG;
    return -1;
  }
  int fd = -1;
  std::memcpy(&fd, CMSG_DATA(header), sizeof fd);
  const int placed = ::dup2(fd, handle_base + call.handle);
  ::close(fd);
  return placed < 0 ? -1 : 0;
}

// ---- areas ----

int map_area(const Call& call) {
  const size_t length = call.number[1];
  void* at =
      ::mmap(nullptr, length, static_cast<int>(call.number[2]), static_cast<int>(call.number[3]),
             handle_base + call.handle, static_cast<off_t>(call.number[0]));
  if (at == MAP_FAILED) return -1;
  Mapped& area = mapped[call.other];
  char* old = area.at.exchange(static_cast<char*>(at));
  const size_t old_length = area.length.exchange(length);
  if (old) ::munmap(old, old_length);
  return 0;
}

int unmap_area(const Call& call) {
  Mapped& area = mapped[call.other];
  char* at = area.at.exchange(nullptr);
  return at ? ::munmap(at, area.length) : (errno = ENOENT, -1);
}

int remap_area(const Call& call) {
  Mapped& area = mapped[call.other];
  char* at = area.at.exchange(nullptr);
  if (!at) return errno = ENOENT, -1;
  void* moved = ::mremap(at, area.length, call.number[0], MREMAP_MAYMOVE);
  if (moved == MAP_FAILED) {
    area.at = at;
    return -1;
  }
  area.length = call.number[0];
  area.at = static_cast<char*>(moved);
  return 0;
}

int poke_area(const Call& call) {
  char* at = mapped[call.other].at;
  const int fd = ::open("/proc/self/mem", O_RDWR | O_CLOEXEC);
  if (fd < 0) return -1;
  const uint64_t value = 0x5a5a5a5a5a5a5a5a;
  const ssize_t written = ::pwrite(fd, &value, sizeof value, reinterpret_cast<off_t>(at));
  const int error = errno;
  ::close(fd);
  errno = error;
  return written < 0 ? -1 : 0;
}

int set_parameter(const Call& call) {
  static constexpr const char* files[] = {
      "/proc/sys/kernel/perf_event_paranoid", "/sys/module/pitrace/parameters/group",
      "/sys/module/pitrace/parameters/ptt_pages",
      "/sys/module/pitrace/parameters/itrace_hold_seconds", "/sys/devices/system/cpu/cpu1/online"};
  char text[24];
  const int length =
      std::snprintf(text, sizeof text, "%lld", static_cast<long long>(call.number[1]));
  const int fd = ::open(files[call.number[0]], O_WRONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  const ssize_t written = ::write(fd, text, static_cast<size_t>(length));
  const int error = errno;
  ::close(fd);
  errno = error;
  return written < 0 ? -1 : 0;
}

// Replaces the credentials by equal ones.
int change_credentials() {
  // Changes only this thread's credentials.
  static thread_local bool keep;
  keep = !keep;
  return static_cast<int>(::syscall(SYS_prctl, PR_SET_KEEPCAPS, keep, 0, 0, 0));
}

int simple(const Call& call) {
  const Mapped& area = mapped[call.other % areas];
  switch (call.kind) {
    case Kind::open:
      return open_device(call);
    case Kind::close:
      return ::close(handle_base + call.handle);
    case Kind::duplicate:
      return ::dup2(handle_base + call.handle, handle_base + call.other) < 0 ? -1 : 0;
    case Kind::map:
      return map_area(call);
    case Kind::unmap:
      return unmap_area(call);
    case Kind::protect:
      return ::mprotect(area.at, area.length, static_cast<int>(call.number[0]));
    case Kind::remap:
      return remap_area(call);
    case Kind::advise:
      return ::madvise(area.at, area.length, static_cast<int>(call.number[0]));
    case Kind::poke:
      return poke_area(call);
    case Kind::send:
      return send_handle(call);
    case Kind::receive:
      return receive_handle(call);
    case Kind::credentials:
      return change_credentials();
    case Kind::parameter:
      return set_parameter(call);
    case Kind::pause:
      return ::usleep(static_cast<useconds_t>(call.number[0]));
    default:
      return errno = ENOSYS, -1;
  }
}

void make(const Call& call, Result& result) {
  if (call.kind == Kind::ioctl) return make_ioctl(call, result);
  if (call.kind == Kind::look)
    return look(call, mapped[call.other].at, mapped[call.other].length, result);
  if (call.kind == Kind::compare)
    return compare(call, handle_base + call.handle, mapped[call.other].at, result);
  if (call.kind == Kind::poll) {
    pollfd waiting{handle_base + call.handle, POLLIN, 0};
    result.value = ::poll(&waiting, 1, 0);
    result.error = result.value < 0 ? errno : 0;
    result.seen[0] = static_cast<uint64_t>(waiting.revents);
    return;
  }
  errno = 0;
  result.value = simple(call);
  result.error = result.value < 0 ? errno : 0;
}

// ---- children ----

struct Child {
  const Call* call;
  Result* result;
};

void become(const Call& call, const Result& result) {
  // The executed program finds the call by its desk and index.
  for (int r = 0; r < roles; ++r)
    for (int t = 0; t < threads_of_each; ++t)
      for (int i = 0; i < batch_max; ++i)
        if (&result == &shared->desk[r][t].result[i]) {
          char where[16], index[16];
          std::snprintf(where, sizeof where, "%d", r * threads_of_each + t);
          std::snprintf(index, sizeof index, "%d", i);
          const char* program = call.where == Where::set_user ? shared->set_user : shared->program;
          ::execl(program, "statefuzz", "--execute", where, index, nullptr);
          ::_exit(91);
        }
  ::_exit(92);
}

int child(void* data) {
  const auto* self = static_cast<Child*>(data);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  self->result->pid = ::getpid();
  if (self->call->where == Where::executed || self->call->where == Where::set_user)
    become(*self->call, *self->result);
  make(*self->call, *self->result);
  ::_exit(0);
}

// Clones into the memory of the parent, which waits. The stack is separate, as other threads of the
// parent continue.
pid_t share_memory(Child* data) {
  alignas(16) static thread_local char stack[64 * 1024];
  return ::clone(child, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, data);
}

void make_in_child(const Call& call, Result& result) {
  Child data{&call, &result};
  pid_t pid;
  if (call.where == Where::same_memory) {
    make_arena();
    pid = share_memory(&data);
  } else {
    pid = static_cast<pid_t>(::syscall(SYS_fork));
    if (pid == 0) child(&data);
  }
  if (pid < 0) {
    result.error = errno;
    result.value = -1;
    return;
  }
  int status = 0;
  while (::waitpid(pid, &status, __WALL) < 0 && errno == EINTR) continue;
  result.pid = pid;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    ++result.wrong;
    std::snprintf(result.what, sizeof result.what, "a child ended with status %x", status);
  }
}

}  // namespace

void execute(const Call& call, Result& result) {
  result.value = 0;
  result.error = 0;
  result.pid = 0;
  result.wrong = 0;
  result.what[0] = 0;
  std::memset(result.seen, 0, sizeof result.seen);
  const double begin = seconds_now();
  if (call.where == Where::self)
    make(call, result);
  else
    make_in_child(call, result);
  const auto took = static_cast<uint64_t>((seconds_now() - begin) * 1e6);
  auto& counts = shared->counts;
  const int slot = call.where != Where::self  ? 63
                   : call.kind == Kind::ioctl ? index_of_command(call.command)
                                              : 63 - kinds + static_cast<int>(call.kind);
  counts.microseconds[slot].fetch_add(took, std::memory_order_relaxed);
  if (took > counts.longest) counts.longest = took;
  counts.calls[static_cast<int>(call.kind)].fetch_add(1, std::memory_order_relaxed);
  if (call.kind == Kind::ioctl)
    counts.commands[index_of_command(call.command)].fetch_add(1, std::memory_order_relaxed);
  if (call.kind == Kind::ioctl && !result.error)
    counts.successes[index_of_command(call.command)].fetch_add(1, std::memory_order_relaxed);
  const int error = result.error >= 0 && result.error < errors_max ? result.error : errors_max - 1;
  counts.errors[error].fetch_add(1, std::memory_order_relaxed);
}

// Entry point of the program executed by a call.
int executed(int where, int index) {
  own_role = where / threads_of_each;
  Desk& desk = shared->desk[where / threads_of_each][where % threads_of_each];
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  Call call = desk.call[index];
  call.where = Where::self;
  make(call, desk.result[index]);
  return 0;
}

}  // namespace statefuzz
