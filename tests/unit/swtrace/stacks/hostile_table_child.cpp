// SPDX-License-Identifier: MIT
// A child that compiles tables, and that a hostile file has taken over: the first word of the file
// says how it behaves.
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <ctime>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <pi/descriptor_packet.h>
#include <pi/files.h>

#include "first_processor.h"
#include "stacks/table_child.h"

namespace {

using pi::swtrace::TableAnswer;
using pi::swtrace::TableRequest;
using pi::swtrace::TableStatus;

struct Request {
  TableRequest request{};
  std::array<pi::UniqueFd, 2> fds;  // the file, the memory
  int file() const { return fds[0].get(); }
  int memory() const { return fds[1].get(); }
};

bool receive(Request& in) {
  return pi::receive_with_descriptors(STDIN_FILENO,
                                      std::as_writable_bytes(std::span(&in.request, 1)),
                                      in.fds) == pi::DescriptorPacket::good;
}

void send(const void* bytes, size_t size) {
  if (::write(STDIN_FILENO, bytes, size) < 0) ::_exit(90);
}

void answer(const Request& in, TableStatus status = TableStatus::good, uint64_t more = 0) {
  const TableAnswer out{in.request.number + more, status};
  send(&out, sizeof out);
}

// The file is the table. Another child may have read it before.
void copy(const Request& in) {
  ::lseek(in.file(), 0, SEEK_SET);
  const auto text = pi::read_whole(in.file(), 1 << 30);
  if (!text || pi::write_all(in.memory(), pi::text_bytes(*text)) != 0) ::_exit(91);
}

void send_descriptors(const Request& in) {
  const TableAnswer out{in.request.number, TableStatus::failed};
  (void)pi::send_with_descriptors(STDIN_FILENO, std::as_bytes(std::span(&out, 1)),
                                  std::array{0, 0, 0}, 0);
}

using Behaviour = void (*)(const Request& in);

const std::map<std::string, Behaviour>& behaviours() {
  static const std::map<std::string, Behaviour> all{
      {"exit", [](const Request&) { ::_exit(7); }},
      {"crash", [](const Request&) { ::raise(SIGSEGV); }},
      {"hang", [](const Request&) { ::pause(); }},
      {"spin",
       [](const Request&) {
         for (volatile int spins = 0;;) spins = spins + 1;
       }},
      // Uses the processor that other programs use for 150 ms.
      {"queue",
       [](const Request& in) {
         if (!pi::swtrace::use_first_processor()) ::_exit(94);
         const std::clock_t end = std::clock() + CLOCKS_PER_SEC * 15 / 100;
         while (std::clock() < end) {
         }
         answer(in, TableStatus::no_table);
       }},
      {"close",
       [](const Request&) {
         ::close(STDIN_FILENO);
         ::pause();
       }},
      {"nothing", [](const Request&) { send("", 0); }},
      {"short", [](const Request& in) { send(&in.request.number, 8); }},
      {"long",
       [](const Request& in) {
         std::vector<uint64_t> words(8192, in.request.number);
         send(words.data(), words.size() * 8);
       }},
      {"status", [](const Request& in) { answer(in, static_cast<TableStatus>(77)); }},
      {"zero", [](const Request& in) { answer(in, static_cast<TableStatus>(0)); }},
      {"number", [](const Request& in) { answer(in, TableStatus::good, 1); }},
      {"descriptors", send_descriptors},
      // Answers ahead, as many as the socket takes.
      {"flood",
       [](const Request& in) {
         ::fcntl(STDIN_FILENO, F_SETFL, O_NONBLOCK);
         for (uint64_t i = 0; i < 100000; ++i) {
           const TableAnswer out{in.request.number, TableStatus::failed};
           if (::write(STDIN_FILENO, &out, sizeof out) < 0) break;
         }
         ::fcntl(STDIN_FILENO, F_SETFL, 0);
       }},
      {"empty", [](const Request& in) { answer(in); }},
      // The memory stays writable.
      {"mapped",
       [](const Request& in) {
         if (::ftruncate(in.memory(), 4096) != 0) ::_exit(92);
         ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, in.memory(), 0);
         answer(in);
       }},
      // Dies while the next file is compiled.
      {"later",
       [](const Request& in) {
         answer(in, TableStatus::no_table);
         ::_exit(8);
       }},
      {"list",
       [](const Request& in) {
         // Its three, and those of the request.
         for (int fd = 0; fd < 1024; ++fd)
           if ((::fcntl(fd, F_GETFD) >= 0) != (fd < 5)) ::_exit(9);
         answer(in, TableStatus::no_table);
       }},
  };
  return all;
}

}  // namespace

int main() {
  Request in;
  while (receive(in)) {
    char word[16]{};
    if (::pread(in.file(), word, sizeof word - 1, 0) < 0) return 93;
    const auto behaviour = behaviours().find(word);
    if (behaviour != behaviours().end()) {
      behaviour->second(in);
    } else {
      copy(in);
      answer(in);
    }
    ::close(in.file());
    ::close(in.memory());
  }
  return 0;
}
