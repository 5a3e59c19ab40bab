// SPDX-License-Identifier: MIT
// liba2n: lookups of JIT-compiled code at a trace's own addresses and times, and addresses of a
// binary with lines and inlined functions. The addresses come from files that bench/a2n.sh makes;
// without them the benchmarks are skipped.
//   A2N_BENCH_LOG, A2N_BENCH_TICKS         log-jita2n_PID and the output of tick_names for it
//   A2N_BENCH_BINARY, A2N_BENCH_ADDRESSES  a program or library with debug information, and
//                                          addresses as in its file, hexadecimal, one a line
#include <a2n.h>
#include <benchmark/benchmark.h>
#include <elf.h>
#include <malloc.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace {

constexpr uint64_t base = 0x555500000000;

const char* setting(const char* name) {
  const char* value = std::getenv(name);
  return value && *value ? value : nullptr;
}

struct Question {
  uint64_t time;
  uint64_t address;
};

// Only user code: kernel addresses do not use the code under test.
std::vector<Question> read_ticks(const char* path) {
  std::vector<Question> questions;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    Question question{};
    if (words >> question.time >> std::hex >> question.address && question.address >> 47 == 0)
      questions.push_back(question);
  }
  return questions;
}

void jitted_lookups(benchmark::State& state) {
  const char* log = setting("A2N_BENCH_LOG");
  const char* ticks = setting("A2N_BENCH_TICKS");
  if (!log || !ticks) return state.SkipWithError("A2N_BENCH_LOG and A2N_BENCH_TICKS are not set");
  const std::string name = log;
  const auto pid = static_cast<uint32_t>(std::stoul(name.substr(name.rfind('_') + 1)));
  const std::vector<Question> questions = read_ticks(ticks);
  if (questions.empty()) return state.SkipWithError("there are no ticks");
  A2nInit();
  A2nSetTime(questions.front().time);
  A2nCreateProcess(pid);
  if (A2nLoadJittedMethods(pid, A2N_JIT_LOG, log, nullptr) != A2N_SUCCESS)
    return state.SkipWithError(A2nGetErrorText());
  size_t next = 0, named = 0;
  SYMDATA data;
  for (auto _ : state) {
    const Question& question = questions[next];
    if (A2nGetSymbolAt(pid, question.address, question.time, &data) == A2N_SUCCESS) ++named;
    if (++next == questions.size()) next = 0;
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations()));
  state.counters["named_percent"] =
      100.0 * static_cast<double>(named) / static_cast<double>(state.iterations());
  A2nInit();
}
BENCHMARK(jitted_lookups);

struct Mapping {
  uint64_t begin;
  uint64_t size;
  uint64_t offset;
};

std::vector<Mapping> code_of(const char* path) {
  std::ifstream file(path, std::ios::binary);
  Elf64_Ehdr header{};
  file.read(reinterpret_cast<char*>(&header), sizeof header);
  std::vector<Mapping> mappings;
  for (int i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    file.seekg(static_cast<std::streamoff>(header.e_phoff) + i * header.e_phentsize);
    file.read(reinterpret_cast<char*>(&segment), sizeof segment);
    if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0)
      mappings.push_back({base + segment.p_vaddr, segment.p_memsz, segment.p_offset});
  }
  return mappings;
}

std::vector<uint64_t> read_addresses(const char* path) {
  std::vector<uint64_t> addresses;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    addresses.push_back(base + std::stoull(line, nullptr, 16));
  return addresses;
}

// Each round starts with empty memory; warm: with the cache on disk.
void source_lines(benchmark::State& state, bool warm) {
  const char* binary = setting("A2N_BENCH_BINARY");
  const char* list = setting("A2N_BENCH_ADDRESSES");
  if (!binary || !list)
    return state.SkipWithError("A2N_BENCH_BINARY and A2N_BENCH_ADDRESSES are not set");
  const std::vector<Mapping> mappings = code_of(binary);
  if (mappings.empty()) return state.SkipWithError("it has no code");
  const std::vector<uint64_t> addresses = read_addresses(list);
  std::string cache = std::filesystem::temp_directory_path() / "a2n_bench.XXXXXX";
  if (!::mkdtemp(cache.data())) return state.SkipWithError("no temporary directory");
  size_t frames = 0, lines = 0;
  const auto look_up = [&](const char* directory) {
    A2nInit();
    A2nSetCacheDirectory(directory);
    for (const Mapping& mapping : mappings)
      A2nAddModuleEx(1, mapping.begin & ~4095ull, mapping.size + (mapping.begin & 4095), binary, 0,
                     mapping.offset & ~4095ull, 0);
    A2N_FRAME found[64];
    for (const uint64_t address : addresses) {
      size_t count = 0;
      if (A2nGetFramesAt(1, address, 0, found, 64, &count) != A2N_SUCCESS) continue;
      frames += count;
      lines += found[0].line != 0;
    }
  };
  if (warm) look_up(cache.c_str());
  frames = lines = 0;
  for (auto _ : state) look_up(warm ? cache.c_str() : "");
  const auto rounds = static_cast<double>(state.iterations());
  state.counters["frames"] = static_cast<double>(frames) / rounds;
  state.counters["with_line"] = static_cast<double>(lines) / rounds;
  A2nInit();
  std::filesystem::remove_all(cache);
}
BENCHMARK_CAPTURE(source_lines, cold, false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(source_lines, warm, true)->Unit(benchmark::kMillisecond);

}  // namespace

int main(int count, char** words) {
  // Each round frees its memory: glibc would return it to the kernel, and take it again for the
  // next one.
  ::mallopt(M_TRIM_THRESHOLD, 512 << 20);
  ::mallopt(M_MMAP_THRESHOLD, 32 << 20);
  benchmark::Initialize(&count, words);
  benchmark::RunSpecifiedBenchmarks();
}
