// SPDX-License-Identifier: MIT
// Writes a synthetic trace of any number of ticks, to measure post: make_trace FILE TICKS [CPUS].
//
// The ticks are similar to those of a system under load: 20 processes of 4 threads, a few hundred
// hot addresses each in libc's executable code and in the kernel, on all CPUs. The same arguments
// give the same file.
#include <pi/nrm2.h>
#include <pitrace/encode.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr uint32_t processes = 20;
constexpr uint32_t threads = 4;
constexpr uint32_t hot_addresses = 300;
constexpr uint64_t start_time = 0x41'0000'0000;
constexpr uint64_t tick_ns = 1'000'000;
constexpr uint64_t code_address = 0x7f00'0000'0000;
constexpr uint64_t code_size = 0x150000;
constexpr uint64_t code_offset = 0x26000;  // near the start of libc's code
constexpr uint64_t kernel_address = 0xffff'ffff'8100'0000;
constexpr char code_file[] = "/usr/lib/x86_64-linux-gnu/libc.so.6";

struct Random {
  uint64_t state;
  uint32_t next() {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return static_cast<uint32_t>(state >> 32);
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
    const pitrace_module module = {pid_of(process), 0, code_address, code_size, code_offset, 0};
    pitrace_encode_module(reserve(pitrace_size_module(sizeof code_file - 1)), time, &module,
                          code_file, sizeof code_file - 1);
  }
  return size;
}

void put_ticks(Output& out, uint64_t ticks, uint32_t cpu, uint32_t cpus) {
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
    // The product of two makes some addresses hotter than others.
    const uint64_t hot = static_cast<uint64_t>(random.next() % hot_addresses) *
                         (random.next() % hot_addresses) / hot_addresses;
    const bool user = choice >> 28 != 0;
    const uint64_t address =
        user ? code_address + 0x1000 + hot * 0x1234 : kernel_address + hot * 0x321;
    pitrace_encode_tprof(out.reserve(PITRACE_TPROF_SIZE), static_cast<uint32_t>(time), user, pid,
                         tid, address, 0);
  }
}

// The number of bytes that put_ticks writes.
uint64_t ticks_size(uint64_t ticks, uint32_t cpu, uint32_t cpus) {
  if (ticks == 0) return 0;
  const uint64_t first = start_time + cpu * (tick_ns / cpus);
  const uint64_t last = first + (ticks - 1) * tick_ns;
  return ticks * PITRACE_TPROF_SIZE + ((last >> 32) - (first >> 32) + 1) * pitrace_size_ints(1);
}

}  // namespace

int main(int argc, char** argv) {
  const uint64_t ticks = argc >= 3 ? std::strtoull(argv[2], nullptr, 10) : 0;
  const uint32_t cpus = argc >= 4 ? static_cast<uint32_t>(std::strtoul(argv[3], nullptr, 10)) : 2;
  if (argc < 3 || argc > 4 || ticks == 0 || cpus == 0 || cpus > 1024) {
    std::fprintf(stderr, "Usage: make_trace FILE TICKS [CPUS]\n");
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
    put_header(out, pi::nrm2::section_trace, cpu, cpus, ticks_size(share, cpu, cpus));
    put_ticks(out, share, cpu, cpus);
  }
  out.flush();
  if (std::fclose(file) != 0) {
    std::perror(argv[1]);
    return 1;
  }
  return 0;
}
