// SPDX-License-Identifier: MIT
// Times the unwinder alone: stacks of this process, which has no frame pointers, with tables that
// are in the caches, and compiling the tables of the files that are named as arguments.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <ucontext.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <pi/unique_fd.h>

#include "compile/compile_table.h"
#include "walk/walk_stack.h"

namespace {

using unwind::CapturedStack;
using unwind::Code;
using unwind::Table;

constexpr size_t stack_bytes = 16384;  // as a recorder copies

pi::UniqueMapping map_file(const std::string& path) {
  const pi::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat facts {};
  if (!fd || ::fstat(fd.get(), &facts) != 0) return {};
  const auto size = static_cast<size_t>(facts.st_size);
  return {::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd.get(), 0), size};
}

std::vector<std::byte> table_of(const std::string& path) {
  const auto file = map_file(path);
  if (!file) return {};
  const auto table = unwind::compile_table(file.bytes());
  return table ? *table : std::vector<std::byte>();
}

// This process's code.
class OwnCode {
 public:
  OwnCode() {
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) add(line);
  }
  Code find(uint64_t address) const {
    const auto after = by_address_.upper_bound(address);
    if (after == by_address_.begin()) return {};
    const Place& place = std::prev(after)->second;
    if (address >= place.end) return {};
    return {true, place.table, place.bias};
  }

 private:
  struct Place {
    uint64_t end, bias;
    const Table* table;
  };
  void add(const std::string& line) {
    unsigned long begin = 0, end = 0, offset = 0;
    char access[8], device[16], path[4096] = "";
    unsigned long inode = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx %7s %lx %15s %lu %4095s", &begin, &end, access, &offset,
                    device, &inode, path) < 6 ||
        access[2] != 'x')
      return;
    bytes_.push_back(table_of(path));
    const auto table = Table::check(bytes_.back());
    if (table) tables_.push_back(std::make_unique<Table>(*table));
    by_address_[begin] = {end, begin - offset, table ? tables_.back().get() : nullptr};
  }
  std::map<uint64_t, Place> by_address_;
  std::vector<std::vector<std::byte>> bytes_;
  std::vector<std::unique_ptr<Table>> tables_;
};

struct Captured {
  CapturedStack stack;
  std::vector<std::byte> bytes;
};

__attribute__((noinline)) void capture(Captured& out) {
  ucontext_t now;
  ::getcontext(&now);
  // By DWARF number.
  constexpr int order[] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
                           REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
                           REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
  for (size_t i = 0; i < std::size(order); ++i)
    out.stack.registers[i] = static_cast<uint64_t>(now.uc_mcontext.gregs[order[i]]);
  const auto* from = reinterpret_cast<const std::byte*>(out.stack.registers[unwind::stack_pointer]);
  out.bytes.assign(from, from + stack_bytes);
  out.stack.bytes = out.bytes;
}

// Different functions call each other, as in a real stack.
template <int Kind>
__attribute__((noinline)) int descend(int depth, Captured& out) {
  volatile int local[Kind * 3 + 1] = {depth};
  if (depth == 0)
    capture(out);
  else
    local[0] = descend<(Kind + 1) % 5>(depth - 1, out) + local[0];
  return local[0];
}

// So that there are always enough bytes above.
int with_space(int depth, Captured& out) {
  volatile char space[2 * stack_bytes];
  space[0] = 1;
  return descend<0>(depth, out) + space[0];
}

void walk(benchmark::State& state) {
  static const OwnCode code;
  const auto frames = static_cast<size_t>(state.range(0));
  Captured captured;
  (void)with_space(static_cast<int>(frames) + 5, captured);
  const unwind::FindCode find = [](uint64_t address) { return code.find(address); };
  std::vector<uint64_t> addresses(frames);
  unwind::Walked walked;
  for (auto _ : state) {
    walked = unwind::walk_stack(captured.stack, find, addresses);
    benchmark::DoNotOptimize(addresses.data());
  }
  if (walked.by_table != frames) state.SkipWithError("the stack is not unwound by tables");
  state.counters["frames"] = static_cast<double>(walked.frames);
}
BENCHMARK(walk)->Arg(5)->Arg(20)->Arg(100);

void compile(benchmark::State& state, const std::string& path) {
  const auto file = map_file(path);
  size_t bytes = 0;
  for (auto _ : state) {
    const auto table = unwind::compile_table(file.bytes());
    if (!table) return state.SkipWithError("it has no table");
    bytes = table->size();
  }
  state.counters["bytes"] = static_cast<double>(bytes);
}

}  // namespace

int main(int count, char** words) {
  benchmark::Initialize(&count, words);
  for (int i = 1; i < count; ++i) {
    const std::string path = words[i];
    benchmark::RegisterBenchmark(("compile " + path).c_str(), compile, path)
        ->Unit(benchmark::kMillisecond);
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
