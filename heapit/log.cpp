// SPDX-License-Identifier: MIT
// The file of this process, mapped.
#include "log.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include <pi/file_size_signal.h>

#include "system.h"

namespace pi::heapit {

using heap_log::Header;
using heap_log::Record;

namespace {

constexpr size_t first_bytes = 64 << 10, max_step = 4 << 20;
constexpr int max_logs_of_pid = 10000;

size_t aligned(size_t bytes) {
  return (bytes + heap_log::alignment - 1) / heap_log::alignment * heap_log::alignment;
}

// Gives the file this space on the disk: a full disk must not end the program when it writes to
// the mapped file.
bool reserve(const Descriptor& file, size_t from, size_t to) {
  const NoFileSizeSignal no_signal;
  if (::syscall(SYS_fallocate, file.number(), 0, from, to - from) == 0) return true;
  if (errno != EOPNOTSUPP) return false;
  static constexpr std::array<char, 4096> zeros{};
  while (from < to) {
    const long written = ::syscall(SYS_pwrite64, file.number(), zeros.data(),
                                   std::min(zeros.size(), to - from), from);
    if (written <= 0) return false;
    from += static_cast<size_t>(written);
  }
  return true;
}

}  // namespace

void raise_to(uint64_t& number, uint64_t value) {
  const std::atomic_ref shared(number);
  uint64_t seen = shared.load(std::memory_order_relaxed);
  while (seen < value && !shared.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
  }
}

void add_wait(heap_log::Path& path, uint64_t nanoseconds) {
  add(path.number[heap_log::waits], 1);
  add(path.number[heap_log::nanoseconds], nanoseconds);
  raise_to(path.number[heap_log::longest], nanoseconds);
}

bool Log::open_new(const char* directory, int pid) {
  for (int i = 1; i <= max_logs_of_pid; ++i) {
    const int length =
        std::snprintf(path_.data(), path_.size(), "%s/heap.%d.%d", directory, pid, i);
    if (length < 0 || static_cast<size_t>(length) >= path_.size()) {
      errno = ENAMETOOLONG;
      return false;
    }
    const Descriptor file(path_.data(), O_RDWR | O_CREAT | O_EXCL);
    if (!file && errno == EEXIST) continue;
    struct stat status {};
    if (!file || ::fstat(file.number(), &status) != 0) return false;
    device_ = status.st_dev;
    inode_ = status.st_ino;
    void* memory = MAP_FAILED;
    if (reserve(file, 0, first_bytes))
      memory = ::mmap(nullptr, max_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                      file.number(), 0);
    if (memory == MAP_FAILED) {
      const int error = errno;
      ::unlink(path_.data());
      errno = error;
      return false;
    }
    ::madvise(memory, max_bytes, MADV_DONTFORK);
    memory_ = static_cast<std::byte*>(memory);
    size_ = first_bytes;
    return true;
  }
  errno = EEXIST;
  return false;
}

bool Log::create(const char* directory, pid_t pid) {
  if (!open_new(directory, pid)) return false;
  Header& header = this->header();
  header.magic = heap_log::magic;
  header.header_bytes = static_cast<uint32_t>(aligned(sizeof header));
  header.pid = static_cast<uint32_t>(pid);
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  header.begin_ns = int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
  std::array<char, 64> command_path{};
  std::snprintf(command_path.data(), command_path.size(), "/proc/%d/cmdline", int{pid});
  const Descriptor command(pid == ::getpid() ? "/proc/self/cmdline" : command_path.data(),
                           O_RDONLY);
  const long length =
      command ? ::syscall(SYS_read, command.number(), header.command, sizeof header.command) : 0;
  header.command_bytes = static_cast<uint32_t>(std::max(length, 0L));
  header.used_bytes = header.header_bytes;
  return true;
}

bool Log::grow(size_t bytes) {
  const size_t wanted = std::min(max_bytes, size_ + std::clamp(size_, bytes, max_step));
  if (bytes > wanted - size_) return false;
  const Descriptor file(path_.data(), O_RDWR);
  struct stat status {};
  if (!file || ::fstat(file.number(), &status) != 0 || status.st_dev != device_ ||
      status.st_ino != inode_ || !reserve(file, size_, wanted))
    return false;
  size_ = wanted;
  return true;
}

Record* Log::begin_record(heap_log::RecordType type, size_t bytes) {
  const uint64_t used = header().used_bytes;
  bytes = aligned(bytes);
  if (bytes > size_ - used && !grow(bytes)) return nullptr;
  auto* record = reinterpret_cast<Record*>(memory_ + used);
  record->type = type;
  record->bytes = static_cast<uint32_t>(bytes);
  return record;
}

void Log::finish(const Record& record) {
  std::atomic_ref(header().used_bytes)
      .store(header().used_bytes + record.bytes, std::memory_order_release);
}

}  // namespace pi::heapit
