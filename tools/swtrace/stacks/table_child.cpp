// SPDX-License-Identifier: MIT
// The child process that compiles tables.
#include "table_child.h"

#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <new>
#include <span>

#include <pi/files.h>
#include <pi/uninterrupted.h>

#include "compile/compile_table.h"

namespace pi::swtrace {
namespace {

struct Received {
  TableRequest request{};
  UniqueFd file, memory;
};

enum class Next { request, end, invalid };

Next receive(Received& received) {
  int fds[2] = {-1, -1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof fds)];
  iovec part{&received.request, sizeof received.request};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t got =
      uninterrupted([&] { return ::recvmsg(STDIN_FILENO, &message, MSG_CMSG_CLOEXEC); });
  if (got == 0) return Next::end;
  const cmsghdr* first = CMSG_FIRSTHDR(&message);
  if (got != sizeof received.request || !first || first->cmsg_level != SOL_SOCKET ||
      first->cmsg_type != SCM_RIGHTS || first->cmsg_len != CMSG_LEN(sizeof fds))
    return Next::invalid;
  std::memcpy(fds, CMSG_DATA(first), sizeof fds);
  received.file = UniqueFd(fds[0]);
  received.memory = UniqueFd(fds[1]);
  return Next::request;
}

TableStatus compile(const Received& received) {
  const auto size = static_cast<size_t>(received.request.bytes);
  limit_memory(size);
  // If the file becomes shorter, this process dies by a signal.
  const UniqueMapping file(::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, received.file.get(), 0),
                           size);
  if (!file) return TableStatus::failed;
  try {
    const auto table = unwind::compile_table(file.bytes());
    if (!table) return TableStatus::no_table;
    return write_all(received.memory.get(), *table) == 0 ? TableStatus::good : TableStatus::failed;
  } catch (const std::bad_alloc&) {
    return TableStatus::failed;
  }
}

}  // namespace

int table_child_main() {
  if (!confine()) return child_not_confined;
  for (;;) {
    Received received;
    const Next next = receive(received);
    if (next != Next::request) return next == Next::end ? child_good : child_bad_request;
    const TableAnswer answer{received.request.number, compile(received)};
    if (write_all(STDIN_FILENO, std::as_bytes(std::span(&answer, 1))) != 0) return child_good;
  }
}

}  // namespace pi::swtrace
