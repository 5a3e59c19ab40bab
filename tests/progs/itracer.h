// SPDX-License-Identifier: MIT
// Shared declarations of itracer's parts.
#ifndef ITRACER_H
#define ITRACER_H

#include <pitrace/abi.h>
#include <sys/types.h>

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace itracer {

[[noreturn]] void fail(const std::string& what);

// An ITrace record with its time.
struct Record {
  uint64_t time = 0;
  uint32_t cpu = 0;
  uint32_t major = 0;
  uint32_t minor = 0;
  std::vector<uint32_t> ints;
};

// Reads the present code of one process and the kernel (/proc/PID/mem, /proc/kcore).
class CodeReader {
 public:
  explicit CodeReader(pid_t pid);
  // Returns up to 15 bytes; empty if the address cannot be read.
  std::span<const std::byte> at(uint64_t address);

 private:
  struct Segment {
    uint64_t address, size, offset;
  };
  const std::vector<std::byte>& page(uint64_t number);
  void look_at_kcore();
  int mem_ = -1;
  int kcore_ = -1;
  std::vector<Segment> segments_;
  std::map<uint64_t, std::vector<std::byte>> pages_;
};

struct Totals {
  uint64_t branches[2] = {};      // by ring: kernel, user
  uint64_t instructions[2] = {};  // as counted in the records
  uint64_t cuts = 0;
  std::array<uint64_t, 16> gaps{};
  std::array<uint64_t, 8> stops{};
  uint64_t starts = 0;
  uint64_t missing = 0;  // instructions missing in gaps
  uint64_t decoded = 0;  // blocks whose code was decoded
  uint64_t undecoded = 0;
  uint64_t broken = 0;  // blocks that are impossible
  std::vector<std::string> first_broken;
  std::map<uint32_t, uint64_t> threads;  // branches by thread
};

// Walks every thread's flow in time order, and checks that it is connected.
Totals check_flow(std::vector<Record>& records, CodeReader* code, bool counted);

// step: attaches to a process as a debugger and steps it; misuse: calls that must fail. Return 0
// for success.
int step(pid_t pid, int steps);
int misuse();

// Starts a process of 64 threads; end_crowd() ends it and returns its summary.
pid_t start_crowd();
std::string end_crowd(pid_t pid);

// Runs waiting processes until this one is killed.
int sleepers(int count);

}  // namespace itracer

#endif
