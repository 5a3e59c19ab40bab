// SPDX-License-Identifier: MIT
// The kernel's maps and programs of BPF.
#include "kernel_bpf.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

namespace heapwatch {
namespace {

constexpr char license[] = "Dual MIT/GPL";

int bpf(bpf_cmd command, bpf_attr& attr) {
  return static_cast<int>(::syscall(SYS_bpf, command, &attr, sizeof attr));
}

}  // namespace

pi::Error failed(const char* what, int error) {
  if (error == EPERM || error == EACCES)
    return {1,
            "A process that runs can only be recorded as root, on a kernel that is not locked "
            "down."};
  return {1, fmt::format("{}: {}.", what, std::strerror(error))};
}

pi::UniqueFd create_map(bpf_map_type type, uint32_t key, uint32_t value, uint32_t entries,
                        uint32_t flags) {
  bpf_attr attr{};
  attr.map_type = type;
  attr.key_size = key;
  attr.value_size = value;
  attr.max_entries = entries;
  attr.map_flags = flags;
  return pi::UniqueFd(bpf(BPF_MAP_CREATE, attr));
}

pi::Result<pi::UniqueFd> load_program(const BpfProgram& program, bpf_prog_type type) {
  bpf_attr attr{};
  attr.prog_type = type;
  attr.insns = reinterpret_cast<uint64_t>(program.code().data());
  attr.insn_cnt = static_cast<uint32_t>(program.code().size());
  attr.license = reinterpret_cast<uint64_t>(license);
  std::memcpy(attr.prog_name, "heapwatch", sizeof "heapwatch");
  pi::UniqueFd loaded(bpf(BPF_PROG_LOAD, attr));
  if (!loaded) return failed("The kernel does not take the program for a probe", errno);
  return loaded;
}

}  // namespace heapwatch
