// SPDX-License-Identifier: MIT
// The trace that this process's user hooks go to: the module's, or that of a recorder.
#include "hook_attachment.h"

#include <cpuid.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <span>

#include <pi/descriptor_packet.h>
#include <pi/uninterrupted.h>
#include <pi/user_socket.h>

#include "hook_socket.h"

namespace pi::perfutil {
namespace {

// Programs close and reuse smaller numbers all the time.
constexpr int min_fd = 100;

// Moves the descriptor to a number from min_fd on, if there is a free one.
int move_up(int fd) {
  const int moved = ::fcntl(fd, F_DUPFD_CLOEXEC, min_fd);
  if (moved < 0) return fd;
  ::close(fd);
  return moved;
}

void* map_shared(size_t bytes, int protection, int fd, off_t offset) {
  void* memory = ::mmap(nullptr, bytes, protection, MAP_SHARED, fd, offset);
  if (memory == MAP_FAILED) return nullptr;
  // Not in a child, which must write to rings of its own.
  ::madvise(memory, bytes, MADV_DONTFORK);
  return memory;
}

// By the instruction itself: with clang 19 and libgcc, __builtin_cpu_supports("cmpxchg16b") is
// false on processors that have it.
bool has_atomic_pairs() {
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_CMPXCHG16B) != 0;
}

bool connect_to(int socket, const sockaddr_un& address) {
  return uninterrupted([&] {
           return ::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address);
         }) == 0;
}

}  // namespace

bool WatchedFd::take(int descriptor) {
  struct stat facts {};
  if (descriptor == 0 || ::fstat(descriptor, &facts) != 0) {
    ::close(descriptor);
    return false;
  }
  fd = descriptor;
  device = facts.st_dev;
  inode = facts.st_ino;
  return true;
}

bool WatchedFd::is_ours() const {
  struct stat facts {};
  return fd > 0 && ::fstat(fd, &facts) == 0 && facts.st_dev == device && facts.st_ino == inode;
}

void WatchedFd::close() {
  if (is_ours()) ::close(fd);
  fd = 0;
}

bool HookAttachment::attach() {
  return attach_to_module() || (has_atomic_pairs() && attach_to_recorder());
}

bool HookAttachment::attach_to_module() {
  // Where the module requires a capability, each refusal may be an entry in the audit log.
  constexpr uint32_t refused_pause = 64;
  if (module_refused_ != 0 && --module_refused_ != 0) return false;
  const int device = ::open(PITRACE_DEVICE_PATH, O_RDWR | O_CLOEXEC);
  if (device < 0) {
    if (errno == EACCES || errno == EPERM) module_refused_ = refused_pause;
    return false;
  }
  pitrace_info info{};
  void* memory = nullptr;
  if (::ioctl(device, PITRACE_IOC_INFO, &info) == 0 && info.abi_major == PITRACE_ABI_MAJOR)
    memory = map_shared(PITRACE_HOOK_PAGE_BYTES, PROT_READ, device,
                        static_cast<off_t>(PITRACE_MMAP_HOOK_PAGE));
  const auto* mapped = static_cast<const pitrace_hook_page*>(memory);
  if (!mapped || !is_alive(*mapped)) {
    ::close(device);
  } else if (fd.take(move_up(device))) {
    page = mapped;
    return true;
  }
  if (memory) ::munmap(memory, PITRACE_HOOK_PAGE_BYTES);
  return false;
}

bool HookAttachment::attach_to_recorder() {
  const char* path = hook_socket_path();
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (!*path) return false;
  std::strncpy(address.sun_path, path, sizeof address.sun_path - 1);
  const int socket = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (socket < 0) return false;
  // Limits the wait for a recorder that does not answer.
  const timeval patience{1, 0};
  ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  ::setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  HookHello hello;
  std::array<UniqueFd, 2> fds;
  if (!connect_to(socket, address) || !is_trusted_peer(socket) ||
      receive_with_descriptors(socket, std::as_writable_bytes(std::span(&hello, 1)), fds) !=
          DescriptorPacket::good) {
    ::close(socket);
    return false;
  }
  const bool good = take_over(hello, fds[0].get(), fds[1].get());
  if (!good) ::close(socket);
  if (!good || !fd.take(move_up(socket))) {
    detach();
    return false;
  }
  return true;
}

// The mappings stay when the descriptors are closed.
bool HookAttachment::take_over(const HookHello& hello, int control_fd, int area_fd) {
  if (hello.version != hook_protocol_version || !hook_ring_bytes_good(hello.ring_bytes))
    return false;
  ring_bytes = hello.ring_bytes;
  area_bytes = hook_area_bytes(ring_bytes);
  struct stat facts {};
  if (::fstat(area_fd, &facts) != 0 || static_cast<size_t>(facts.st_size) < area_bytes)
    return false;
  page = static_cast<const pitrace_hook_page*>(
      map_shared(PITRACE_HOOK_PAGE_BYTES, PROT_READ, control_fd, 0));
  area = static_cast<HookAreaHead*>(map_shared(area_bytes, PROT_READ | PROT_WRITE, area_fd, 0));
  if (page && area) return true;
  detach();
  return false;
}

void HookAttachment::detach() {
  if (page) ::munmap(const_cast<pitrace_hook_page*>(page), PITRACE_HOOK_PAGE_BYTES);
  if (area) ::munmap(area, area_bytes);
  fd.close();
  page = nullptr;
  area = nullptr;
}

// mremap() with an old length of 0 maps shared pages a second time, without their descriptor.
std::byte* HookAttachment::map_ring(uint32_t index) const {
  const size_t once = PITRACE_HEAD_BYTES + ring_bytes, twice = once + ring_bytes;
  auto* place = reinterpret_cast<std::byte*>(area) + hook_ring_place(index, ring_bytes);
  void* room =
      ::mmap(nullptr, twice, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) return nullptr;
  auto* ring = static_cast<std::byte*>(room);
  constexpr int how = MREMAP_MAYMOVE | MREMAP_FIXED;
  if (::mremap(place, 0, once, how, ring) == MAP_FAILED ||
      ::mremap(place + PITRACE_HEAD_BYTES, 0, ring_bytes, how, ring + once) == MAP_FAILED) {
    ::munmap(room, twice);
    return nullptr;
  }
  ::madvise(ring, twice, MADV_DONTFORK);
  return ring;
}

void HookAttachment::unmap_ring(std::byte* ring) const {
  ::munmap(ring, PITRACE_HEAD_BYTES + 2 * size_t{ring_bytes});
}

bool HookAttachment::wake_recorder() const {
  // EAGAIN: the recorder has not read earlier wake-ups yet, and needs no other.
  return fd.is_ours() &&
         (::send(fd.fd, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL) == 1 || errno == EAGAIN);
}

}  // namespace pi::perfutil
