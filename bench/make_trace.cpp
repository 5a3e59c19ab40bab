// SPDX-License-Identifier: MIT
// Writes a synthetic trace of any number of ticks, to measure post: make_trace FILE TICKS [CPUS
// [DEPTH [LIBRARY]]].
//
// The ticks are similar to those of a system under load: 20 processes of 4 threads, a few hundred
// hot addresses each in libc's executable code and in the kernel, on all CPUs. With DEPTH each has
// a stack of so many frames, one of 3,000 whose outer frames are a binary tree. The same arguments
// give the same file. With LIBRARY each tick is on a different function of that file of
// tests/progs/many_symbols.
#include <pi/nrm2.h>
#include <pitrace/encode.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr uint32_t processes = 20;
constexpr uint32_t threads = 4;
constexpr uint32_t hot_addresses = 300;
constexpr uint32_t stacks = 3000;
constexpr uint32_t tree_levels = 12;  // 2^12 is more than these
constexpr uint64_t start_time = 0x41'0000'0000;
constexpr uint64_t tick_ns = 1'000'000;
constexpr uint64_t code_address = 0x7f00'0000'0000;
constexpr uint64_t code_size = 0x150000;
constexpr uint64_t code_offset = 0x26000;  // near the start of libc's code
constexpr uint64_t kernel_address = 0xffff'ffff'8100'0000;
constexpr uint64_t function_size = 8, first_function = 0x1000;  // of LIBRARY

std::string code_file = "/usr/lib/x86_64-linux-gnu/libc.so.6";
bool each_once = false;

struct Random {
  uint64_t state;
  uint32_t next() {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return static_cast<uint32_t>(state >> 32);
  }
  // The product of two makes some numbers below the limit more frequent than others.
  uint32_t skewed(uint32_t limit) {
    const uint64_t one = next() % limit;
    return static_cast<uint32_t>(one * (next() % limit) / limit);
  }
};

class Output {
 public:
  explicit Output(std::FILE* file) : file_(file) {}
  void* reserve(size_t size) {
    if (at_ + size > buffer_.size()) flush();
    at_ += size;
    return buffer_.data() + at_ - size;
  }
  void flush() {
    if (std::fwrite(buffer_.data(), 1, at_, file_) != at_) {
      std::perror("make_trace");
      std::exit(1);
    }
    at_ = 0;
  }

 private:
  std::FILE* file_;
  std::vector<std::byte> buffer_ = std::vector<std::byte>(1 << 20);
  size_t at_ = 0;
};

void put_header(Output& out, uint32_t type, uint32_t cpu, uint32_t cpus, uint64_t size) {
  using namespace pi::nrm2;
  if (size > 0xffffffff) {
    std::fprintf(stderr, "make_trace: a section holds at most 4 GB; use more CPUs.\n");
    std::exit(1);
  }
  std::byte* header = static_cast<std::byte*>(out.reserve(header_size));
  std::memset(header, 0, header_size);
  const auto put = [&](size_t at, auto value) { std::memcpy(header + at, &value, sizeof value); };
  std::memcpy(header, magic, sizeof magic);
  put(offset::endian, endian_mark);
  put(offset::cr, char{10});
  put(offset::header_size, static_cast<uint32_t>(header_size));
  put(offset::data_size, static_cast<uint32_t>(size));
  put(offset::cpu, cpu);
  put(offset::start_time, start_time);
  put(offset::num_cpus, cpus);
  put(offset::os_type, os_type_64);
  put(offset::section_type, type);
  put(offset::version, version);
}

uint32_t pid_of(uint32_t process) {
  return 1000 + process * 10;
}

// The names and modules of the processes, on CPU 0 before the first tick.
uint64_t put_names(Output* out) {
  uint64_t size = 0;
  const auto reserve = [&](uint32_t bytes) {
    static std::byte scratch[PITRACE_MAX_RECORD];
    size += bytes;
    return out ? out->reserve(bytes) : scratch;
  };
  const uint32_t time = static_cast<uint32_t>(start_time);
  pitrace_encode_time(reserve(pitrace_size_ints(1)), start_time);
  for (uint32_t process = 0; process < processes; ++process) {
    const std::string name = "busy" + std::to_string(process);
    const uint32_t length = static_cast<uint32_t>(name.size());
    const uint32_t ints[] = {pid_of(process), PITRACE_NAME_64};
    pitrace_encode_string(reserve(pitrace_size_string(2, length)), time, PITRACE_MAJOR_MTE,
                          PITRACE_MTE_NAME, ints, 2, name.data(), length);
    const pitrace_module module = {pid_of(process),
                                   0,
                                   code_address,
                                   each_once ? uint64_t{1} << 30 : code_size,
                                   each_once ? first_function : code_offset,
                                   0};
    const auto bytes = static_cast<uint32_t>(code_file.size());
    pitrace_encode_module(reserve(pitrace_size_module(bytes)), time, &module, code_file.c_str(),
                          bytes);
  }
  return size;
}

// The address of a call in libc, by the number of the frame from the outermost one.
uint64_t call_address(uint32_t stack, uint32_t frame) {
  const uint32_t branch = frame < tree_levels ? stack >> (tree_levels - 1 - frame) : stack;
  Random random{(uint64_t{branch} << 32 | frame) * 0x9e3779b97f4a7c15 + 1};
  return code_address + 0x1001 + uint64_t{random.next() % hot_addresses} * 0x1234;
}

constexpr uint32_t stack_flags = PITRACE_STACK_USER_TABLES | PITRACE_STACK_USER_WHOLE;

// The ints of a tick's stack; 0: it has none.
uint32_t stack_ints(uint32_t depth) {
  return depth == 0 ? 0 : pitrace_stack_ints(stack_flags, 0, depth);
}

void put_stack(uint32_t* ints, uint32_t stack, uint32_t depth) {
  if (depth == 0) return;
  std::array<__u64, PITRACE_STACK_DEPTH_MAX> calls;
  for (uint32_t i = 0; i < depth; ++i) calls[i] = call_address(stack, depth - 1 - i);
  pitrace_put_stack(ints, stack_flags | depth << 24, nullptr, 0, calls.data(), depth, 0);
}

void put_ticks(Output& out, uint64_t ticks, uint32_t cpu, uint32_t cpus, uint32_t depth) {
  Random random{0x9e3779b97f4a7c15 + cpu};
  uint64_t time = start_time + cpu * (tick_ns / cpus);
  uint64_t high = ~0ull;
  for (uint64_t i = 0; i < ticks; ++i, time += tick_ns) {
    if (time >> 32 != high) {
      pitrace_encode_time(out.reserve(pitrace_size_ints(1)), time);
      high = time >> 32;
    }
    const uint32_t choice = random.next();
    const uint32_t pid = pid_of(choice % processes);
    const uint32_t tid = pid + choice / processes % threads;
    const uint64_t hot = random.skewed(hot_addresses);
    const bool user = each_once || choice >> 28 != 0;
    const uint64_t address = each_once ? code_address + (i * cpus + cpu) * function_size
                             : user    ? code_address + 0x1000 + hot * 0x1234
                                       : kernel_address + hot * 0x321;
    const uint32_t extra = stack_ints(depth);
    put_stack(pitrace_encode_tprof(out.reserve(PITRACE_TPROF_SIZE + 4 * extra),
                                   static_cast<uint32_t>(time), user, pid, tid, address, extra),
              depth == 0 ? 0 : random.skewed(stacks), depth);
  }
}

// The number of bytes that put_ticks writes.
uint64_t ticks_size(uint64_t ticks, uint32_t cpu, uint32_t cpus, uint32_t depth) {
  if (ticks == 0) return 0;
  const uint64_t first = start_time + cpu * (tick_ns / cpus);
  const uint64_t last = first + (ticks - 1) * tick_ns;
  return ticks * (PITRACE_TPROF_SIZE + 4 * stack_ints(depth)) +
         ((last >> 32) - (first >> 32) + 1) * pitrace_size_ints(1);
}

}  // namespace

int main(int argc, char** argv) {
  const uint64_t ticks = argc >= 3 ? std::strtoull(argv[2], nullptr, 10) : 0;
  const uint32_t cpus = argc >= 4 ? static_cast<uint32_t>(std::strtoul(argv[3], nullptr, 10)) : 2;
  const uint32_t depth = argc >= 5 ? static_cast<uint32_t>(std::strtoul(argv[4], nullptr, 10)) : 0;
  if (argc == 6) {
    code_file = argv[5];
    each_once = true;
  }
  if (argc < 3 || argc > 6 || ticks == 0 || cpus == 0 || cpus > 1024 ||
      depth > PITRACE_STACK_DEPTH_MAX) {
    std::fprintf(stderr, "Usage: make_trace FILE TICKS [CPUS [DEPTH [LIBRARY]]]\n");
    return 255;
  }
  std::FILE* file = std::fopen(argv[1], "we");
  if (!file) {
    std::perror(argv[1]);
    return 1;
  }
  Output out(file);
  put_header(out, pi::nrm2::section_mte, 0, cpus, put_names(nullptr));
  put_names(&out);
  for (uint32_t cpu = 0; cpu < cpus; ++cpu) {
    const uint64_t share = ticks / cpus + (cpu < ticks % cpus);
    put_header(out, pi::nrm2::section_trace, cpu, cpus, ticks_size(share, cpu, cpus, depth));
    put_ticks(out, share, cpu, cpus, depth);
  }
  out.flush();
  if (std::fclose(file) != 0) {
    std::perror(argv[1]);
    return 1;
  }
  return 0;
}
