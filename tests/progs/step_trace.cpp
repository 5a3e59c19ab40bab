// SPDX-License-Identifier: MIT
// Makes a small real instruction trace, for tests of its readers: runs a program under single steps
// and writes its taken branches as ITrace records. Usage: step_trace FILE FIRST LAST [nocount] --
// PROGRAM... Traces from the first time at FIRST until LAST; both are addresses in the program's
// file, as nm shows them. A system call is a gap.
#include <disassembler.h>
#include <pi/nrm2.h>
#include <pitrace/encode.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "record_builder.h"

namespace {

using test_support::RecordBuilder;

[[noreturn]] void fail(const std::string& what) {
  std::perror(("step_trace: " + what).c_str());
  std::exit(1);
}

struct Mapping {
  pitrace_module module;
  std::string name;
};

std::vector<Mapping> mappings_of(pid_t pid) {
  std::vector<Mapping> mappings;
  std::ifstream maps("/proc/" + std::to_string(pid) + "/maps");
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    std::string range, rights, offset, device, name;
    uint64_t inode = 0;
    words >> range >> rights >> offset >> device >> inode >> name;
    if (rights.size() < 3 || rights[2] != 'x' || name.empty() || name == "[vsyscall]") continue;
    const uint64_t begin = std::stoull(range, nullptr, 16);
    const uint64_t end = std::stoull(range.substr(range.find('-') + 1), nullptr, 16);
    const __u32 stamp = name == "[vdso]" ? PITRACE_STAMP_VDSO : 0;
    mappings.push_back({{static_cast<__u32>(pid), stamp, begin, end - begin,
                         std::stoull(offset, nullptr, 16), inode},
                        name});
  }
  return mappings;
}

// Also if the target is the next instruction, as at the first call through a procedure linkage
// table.
bool always_branches(pi::Flow flow) {
  return flow == pi::Flow::call || flow == pi::Flow::ret || flow == pi::Flow::jump;
}

class Stepper {
 public:
  Stepper(pid_t pid, bool counted) : pid_(pid), counted_(counted) {}

  uint64_t at() {
    user_regs_struct registers{};
    if (::ptrace(PTRACE_GETREGS, pid_, nullptr, &registers) != 0) fail("PTRACE_GETREGS");
    return registers.rip;
  }
  // Returns false when the program has ended.
  bool step() {
    int status = 0;
    if (::ptrace(PTRACE_SINGLESTEP, pid_, nullptr, nullptr) != 0) fail("PTRACE_SINGLESTEP");
    if (::waitpid(pid_, &status, 0) != pid_) fail("waitpid");
    return WIFSTOPPED(status);
  }
  // Runs to an address, which the program must reach.
  void run_to(uint64_t address) {
    errno = 0;
    const long code = ::ptrace(PTRACE_PEEKTEXT, pid_, address, nullptr);
    if (errno != 0) fail("no code at the first address");
    ::ptrace(PTRACE_POKETEXT, pid_, address, (code & ~0xffL) | 0xcc);
    int status = 0;
    if (::ptrace(PTRACE_CONT, pid_, nullptr, nullptr) != 0 || ::waitpid(pid_, &status, 0) != pid_ ||
        !WIFSTOPPED(status))
      fail("the program does not reach the first address");
    ::ptrace(PTRACE_POKETEXT, pid_, address, code);
    user_regs_struct registers{};
    ::ptrace(PTRACE_GETREGS, pid_, nullptr, &registers);
    registers.rip = address;
    ::ptrace(PTRACE_SETREGS, pid_, nullptr, &registers);
  }

  void trace(RecordBuilder& out, uint64_t last) {
    const __u32 pid = static_cast<__u32>(pid_);
    uint64_t here = at();
    put_start(out, pid, here);
    uint32_t count = 0;
    uint32_t branches = 0;
    while (here != last) {
      const pi::Instruction code = code_at(here);
      if (!step()) return put_stop(out, pid, branches, count, here, PITRACE_STOP_EXIT);
      const uint64_t next = at();
      ++count;
      if (code.flow == pi::Flow::system_call) {
        out.itrace_gap(++time_, PITRACE_GAP_UNTRACED, counted_ ? count : 0, 0, 0, next);
        count = 0;
      } else if (always_branches(code.flow) || (next != here && next != here + code.length)) {
        out.branch(++time_, true, here, next, counted_, count);
        ++branches;
        count = 0;
      }
      here = next;
    }
    put_stop(out, pid, branches, count, here, PITRACE_STOP_OFF);
  }

 private:
  pi::Instruction code_at(uint64_t address) {
    std::byte code[16];
    for (size_t i = 0; i < sizeof code; i += sizeof(long)) {
      const long word = ::ptrace(PTRACE_PEEKTEXT, pid_, address + i, nullptr);
      std::memcpy(code + i, &word, sizeof word);
    }
    return disassembler_.decode(code, address);
  }
  void put_start(RecordBuilder& out, __u32 pid, uint64_t address) {
    out.itrace_thread(++time_, pid, pid);
    const uint32_t flags = PITRACE_ITRACE_RING | PITRACE_ITRACE_NO_KERNEL;
    out.itrace_start(++time_, pid, pid, flags | (counted_ ? PITRACE_ITRACE_COUNT : 0), address);
  }
  void put_stop(RecordBuilder& out, __u32 pid, uint32_t branches, uint32_t count, uint64_t address,
                __u32 reason) {
    out.itrace_stop(++time_, reason, 0, branches, pid, counted_ ? count : 0, address);
  }

  const pi::Disassembler disassembler_;
  const pid_t pid_;
  const bool counted_;
  uint64_t time_ = 1'000'000;
};

}  // namespace

int main(int argc, char** argv) {
  int command = 4;
  bool counted = true;
  if (argc > 4 && std::strcmp(argv[4], "nocount") == 0) {
    counted = false;
    ++command;
  }
  if (argc < command + 2 || std::strcmp(argv[command], "--") != 0) {
    std::fprintf(stderr, "Usage: step_trace FILE FIRST LAST [nocount] -- PROGRAM [ARGUMENT]...\n");
    return 2;
  }
  char** program = argv + command + 1;
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    ::execv(program[0], program);
    ::_exit(127);
  }
  int status = 0;
  if (::waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status)) fail("cannot run the program");
  const std::string name = program[0];
  const __u32 id = static_cast<__u32>(pid);
  // A position-independent program (PIE) is relocated by its file's load address.
  uint64_t base = 0;
  struct stat file {};
  if (::stat(name.c_str(), &file) != 0) fail(name);
  for (const Mapping& mapping : mappings_of(pid))
    if (mapping.module.inode == file.st_ino && mapping.module.address >= 0x100000000)
      base = mapping.module.address - mapping.module.offset;
  Stepper stepper(pid, counted);
  stepper.run_to(base + std::stoull(argv[2], nullptr, 16));
  RecordBuilder mte, records;
  mte.mte(10, PITRACE_MTE_PARENT, {id, 1, PITRACE_PARENT_EXISTING});
  mte.name(10, id, name.substr(name.rfind('/') + 1));
  for (const Mapping& mapping : mappings_of(pid)) mte.module(10, mapping.module, mapping.name);
  stepper.trace(records, base + std::stoull(argv[3], nullptr, 16));
  ::kill(pid, SIGKILL);
  test_support::TraceBuilder trace;
  trace.section(pi::nrm2::section_trace, {0, 0, 1, 0, 0}, records.bytes());
  trace.section(pi::nrm2::section_mte, {0, 0, 1, 0, 0}, mte.bytes());
  std::ofstream out(argv[1], std::ios::binary);
  out.write(reinterpret_cast<const char*>(trace.bytes().data()),
            static_cast<std::streamsize>(trace.bytes().size()));
  return out.flush() ? 0 : 1;
}
