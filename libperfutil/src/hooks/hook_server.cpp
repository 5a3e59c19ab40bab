// SPDX-License-Identifier: MIT
// Accepts processes that write user hooks and gives each an area of rings; drains the rings of
// processes that disconnect.
#include "hook_server.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <future>
#include <new>
#include <span>
#include <system_error>

#include <fmt/format.h>
#include <pi/descriptor_packet.h>
#include <pi/uninterrupted.h>
#include <pi/user_socket.h>

#include "perfutil.h"
#include "system/limits.h"
#include "system/text.h"

namespace pi::perfutil {
namespace {

constexpr size_t max_clients = 4096;

// Shared memory whose size the other process cannot change.
Result<ProcessFd> make_memory(const char* name, size_t bytes) {
  ProcessFd fd(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd || ::ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0 ||
      ::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0)
    return Error{PU_ERROR_NOT_ENOUGH_MEMORY,
                 fmt::format("Memory for user hooks cannot be shared ({}).", errno_text(errno))};
  return fd;
}

UniqueMapping map_memory(int fd, size_t bytes) {
  UniqueMapping memory(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), bytes);
  // Not in a child, which could change what this process's clients see.
  if (memory) ::madvise(memory.data(), bytes, MADV_DONTFORK);
  return memory;
}

bool send_hello(int connection, uint32_t ring_bytes, const std::array<int, 2>& fds) {
  HookHello hello;
  hello.ring_bytes = ring_bytes;
  return send_with_descriptors(connection, std::as_bytes(std::span(&hello, 1)), fds,
                               MSG_NOSIGNAL | MSG_DONTWAIT);
}

// Reads all waiting packets, whose content is ignored; false when the process has disconnected.
bool drain_wakeups(int connection) {
  char nothing[16];
  for (;;) {
    const ssize_t got =
        uninterrupted([&] { return ::recv(connection, nothing, sizeof nothing, MSG_DONTWAIT); });
    if (got > 0) continue;
    return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
  }
}

}  // namespace

Result<std::unique_ptr<HookServer>> HookServer::start(const std::string& path, uint32_t ring_bytes,
                                                      std::function<void()> alert) {
  std::unique_ptr<HookServer> server(new HookServer(path, ring_bytes, std::move(alert)));
  if (const auto opened = server->open(); !opened) return opened.error();
  return server;
}

Status HookServer::open() {
  auto lock = take_socket_lock(path_);
  if (!lock) return lock.error();
  if (!lock->fd)
    return Error{
        PU_ERROR_FACILITY_BUSY,
        fmt::format("Process {} already receives user hooks at '{}'.", lock->holder, path_)};
  lock_ = ProcessFd(std::move(lock->fd));
  auto listener = listen_at(path_);
  if (!listener) return listener.error();
  listener_ = ProcessFd(std::move(*listener));
  if (const auto made = make_control(); !made) return made.error();
  epoll_ = ProcessFd(::epoll_create1(EPOLL_CLOEXEC));
  stop_ = ProcessFd(::eventfd(0, EFD_CLOEXEC));
  if (!epoll_ || !stop_)
    return Error{PU_ERROR_NOT_ENOUGH_MEMORY,
                 "No file descriptor is left for user hooks. Raise the limit with 'ulimit -n'."};
  listen_to(stop_.get());
  listen_to(listener_.get());
  std::promise<void> ready;
  auto is_ready = ready.get_future();
  try {
    thread_ = std::thread([this, &ready] {
      // Locked by this thread: the kernel releases the lock when it ends, whatever the cause.
      auto* const held = &reinterpret_cast<HookControl*>(control_.data())->held;
      ::pthread_mutex_lock(held);
      ready.set_value();
      run();
      ::pthread_mutex_unlock(held);
    });
  } catch (const std::system_error&) {
    return no_thread("user hooks");
  }
  is_ready.wait();
  return {};
}

Status HookServer::make_control() {
  auto fd = make_memory("pitrace-hooks", PITRACE_HOOK_PAGE_BYTES);
  if (!fd) return fd.error();
  control_fd_ = std::move(*fd);
  control_ = map_memory(control_fd_.get(), PITRACE_HOOK_PAGE_BYTES);
  // From now on it can be mapped read-only only.
  if (!control_ || ::fcntl(control_fd_.get(), F_ADD_SEALS, F_SEAL_FUTURE_WRITE | F_SEAL_SEAL) != 0)
    return Error{PU_ERROR_NOT_ENOUGH_MEMORY,
                 fmt::format("Memory for user hooks cannot be shared ({}).", errno_text(errno))};
  pthread_mutexattr_t robust;
  ::pthread_mutexattr_init(&robust);
  ::pthread_mutexattr_setrobust(&robust, PTHREAD_MUTEX_ROBUST);
  ::pthread_mutexattr_setpshared(&robust, PTHREAD_PROCESS_SHARED);
  ::pthread_mutex_init(&reinterpret_cast<HookControl*>(control_.data())->held, &robust);
  ::pthread_mutexattr_destroy(&robust);
  return {};
}

HookServer::~HookServer() {
  if (thread_.joinable()) {
    publish({}, 0);
    ::eventfd_write(stop_.get(), 1);
    thread_.join();
    for (auto& [fd, client] : clients_) client.area.close();
  }
  if (listener_) ::unlink(path_.c_str());
}

void HookServer::listen_to(int fd) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = fd;
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event);
}

void HookServer::run() {
  std::array<epoll_event, 64> events;
  for (;;) {
    const int count =
        ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), -1);
    bool woken = false;
    for (int i = 0; i < count; ++i) {
      const int fd = events[static_cast<size_t>(i)].data.fd;
      if (fd == stop_.get()) return;
      if (fd == listener_.get()) {
        accept_writer();
        continue;
      }
      woken = true;
      if (drain_wakeups(fd)) continue;
      // The next collect() drains its rings and closes it.
      ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
      const std::lock_guard lock(mutex_);
      if (const auto found = clients_.find(fd); found != clients_.end()) found->second.gone = true;
      HookBatch nothing;
      if (!recording_) drop_gone(nothing);
    }
    if (woken) alert_();
  }
}

void HookServer::accept_writer() {
  ProcessFd connection(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!connection && (errno == EMFILE || errno == ENFILE || errno == ENOMEM)) {
    ++refused_;
    // The connection stays in the queue, and epoll would report it again at once.
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  if (!connection || !is_trusted_peer(connection.get())) return;
  try {
    if (!admit(std::move(connection))) ++refused_;
  } catch (const std::bad_alloc&) {
    ++refused_;
  }
}

// False when there is no memory. True also for a process that has disconnected before its hello.
bool HookServer::admit(ProcessFd connection) {
  const int fd = connection.get();
  const size_t bytes = hook_area_bytes(ring_bytes_);
  auto memory = make_memory("pitrace-hook-rings", bytes);
  if (!memory) return false;
  UniqueMapping mapping = map_memory(memory->get(), bytes);
  const std::lock_guard lock(mutex_);
  if (!mapping || clients_.size() >= max_clients) return false;
  Client client{std::move(connection),
                HookArea(std::move(mapping), ring_bytes_, ++clients_ever_, peer_pid(fd))};
  if (recording_) client.area.begin(start_);
  // Registered before the hello is sent, so that no hook that it writes can be missed.
  clients_.insert_or_assign(fd, std::move(client));
  if (send_hello(fd, ring_bytes_, {control_fd_.get(), memory->get()}))
    listen_to(fd);
  else
    clients_.erase(fd);
  return true;
}

void HookServer::publish(const std::bitset<256>& majors, uint32_t interval_id) {
  auto& page = reinterpret_cast<HookControl*>(control_.data())->page;
  for (uint32_t major = 0; major < majors.size(); ++major)
    pitrace_write(page.enabled[major], majors.test(major) ? 1 : 0);
  pitrace_write(page.interval_id, interval_id);
}

void HookServer::begin(uint64_t start) {
  const std::lock_guard lock(mutex_);
  start_ = start;
  recording_ = true;
  refused_ = 0;
  for (auto& [fd, client] : clients_) client.area.begin(start);
}

void HookServer::collect_locked(uint32_t cpus, HookBatch& batch) {
  for (auto& [fd, client] : clients_) client.area.collect(cpus, batch);
  drop_gone(batch);
}

void HookServer::collect(uint32_t cpus, HookBatch& batch) {
  const std::lock_guard lock(mutex_);
  collect_locked(cpus, batch);
}

// A process that has closed its connection and still writes hooks is too late.
void HookServer::drop_gone(HookBatch& batch) {
  for (auto entry = clients_.begin(); entry != clients_.end();) {
    if (!entry->second.gone) {
      ++entry;
      continue;
    }
    entry->second.area.close();
    if (recording_) {
      entry->second.area.end(batch);
      batch.gone.push_back(entry->second.area.id());
    }
    entry = clients_.erase(entry);
  }
}

void HookServer::wait_until_quiet() {
  // At most 100 ms: a thread may be stopped, or not be scheduled for long.
  for (int tries = 0; tries < 100; ++tries) {
    bool quiet = true;
    for (auto& [fd, client] : clients_) quiet = client.area.is_quiet() && quiet;
    if (quiet) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void HookServer::settle(uint32_t cpus, HookBatch& batch) {
  const std::lock_guard lock(mutex_);
  wait_until_quiet();
  collect_locked(cpus, batch);
}

void HookServer::end(HookBatch& batch) {
  const std::lock_guard lock(mutex_);
  for (auto& [fd, client] : clients_) client.area.end(batch);
  recording_ = false;
}

}  // namespace pi::perfutil
