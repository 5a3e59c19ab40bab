// SPDX-License-Identifier: MIT
// The child process that compiles tables.
#include "table_child.h"

#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <new>
#include <span>

#include <pi/descriptor_packet.h>
#include <pi/files.h>

#include "compile/compile_table.h"

namespace pi::swtrace {
namespace {

struct Received {
  TableRequest request{};
  std::array<UniqueFd, 2> fds;

  int file() const { return fds[0].get(); }
  int memory() const { return fds[1].get(); }
};

TableStatus compile(const Received& received) {
  const auto size = static_cast<size_t>(received.request.bytes);
  limit_memory(size);
  // If the file becomes shorter, this process dies by a signal.
  const UniqueMapping file(::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, received.file(), 0), size);
  if (!file) return TableStatus::failed;
  try {
    const auto table = unwind::compile_table(file.bytes());
    if (!table) return TableStatus::no_table;
    return write_all(received.memory(), *table) == 0 ? TableStatus::good : TableStatus::failed;
  } catch (const std::bad_alloc&) {
    return TableStatus::failed;
  }
}

}  // namespace

int table_child_main() {
  if (!confine()) return child_not_confined;
  for (;;) {
    Received received;
    const auto packet = receive_with_descriptors(
        STDIN_FILENO, std::as_writable_bytes(std::span(&received.request, 1)), received.fds);
    if (packet == DescriptorPacket::closed) return child_good;
    if (packet == DescriptorPacket::invalid) return child_bad_request;
    const TableAnswer answer{received.request.number, compile(received)};
    if (write_all(STDIN_FILENO, std::as_bytes(std::span(&answer, 1))) != 0) return child_good;
  }
}

}  // namespace pi::swtrace
