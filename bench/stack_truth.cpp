// SPDX-License-Identifier: MIT
// Compares the unwinder with libdw, frame by frame: traces a process with perf events, and gives
// the registers and stack bytes of each of its ticks to both. Prints how many stacks are whole, and
// how many agree; exits with 1 if one does not. Usage: stack_truth PID [TICKS-A-SECOND [BYTES]],
// until the process ends.
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <pi/unique_fd.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compile/compile_table.h"
#include "perfutil.h"
#include "walk/walk_stack.h"

namespace {

constexpr size_t max_frames = PI_STACK_DEPTH_MAX;

struct OwnedTable {
  std::vector<std::byte> bytes;
  unwind::Table table;
};

// The files are those of the system: their tables are made here, without a sandbox.
std::unique_ptr<OwnedTable> compile(std::span<const std::byte> file) {
  auto compiled = unwind::compile_table(file);
  if (!compiled) return nullptr;
  auto owned = std::make_unique<OwnedTable>();
  owned->bytes = std::move(*compiled);
  const auto table = unwind::Table::check(owned->bytes);
  if (!table) return nullptr;
  owned->table = *table;
  return owned;
}

std::unique_ptr<OwnedTable> compile_file(const std::string& path) {
  const pi::UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat facts {};
  if (!file || ::fstat(file.get(), &facts) != 0 || facts.st_size <= 0) return nullptr;
  const auto size = static_cast<size_t>(facts.st_size);
  const pi::UniqueMapping memory(::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0),
                                 size);
  return compile(memory.bytes());
}

// All processes have the same vdso.
const unwind::Table* table_of(const std::string& path, size_t bytes) {
  static std::map<std::string, std::unique_ptr<OwnedTable>> known;
  const auto [entry, is_new] = known.try_emplace(path);
  if (is_new && path == "[vdso]")
    entry->second =
        compile({reinterpret_cast<const std::byte*>(::getauxval(AT_SYSINFO_EHDR)), bytes});
  else if (is_new && path.starts_with('/'))
    entry->second = compile_file(path);
  return entry->second ? &entry->second->table : nullptr;
}

// A process's executable memory, and what libdw knows of it.
class Target {
 public:
  explicit Target(uint32_t pid) : pid_(pid) {}
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;
  ~Target() {
    if (dwfl_) dwfl_end(dwfl_);
  }

  // False: it has ended, or started another program.
  bool read() {
    std::ifstream maps("/proc/" + std::to_string(pid_) + "/maps");
    mapped_.clear();
    for (std::string line; std::getline(maps, line);) {
      uint64_t begin = 0, end = 0, offset = 0;
      char rights[5] = "", path[4096] = "";
      if (std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %4095[^\n]",
                      &begin, &end, rights, &offset, path) < 4 ||
          rights[2] != 'x')
        continue;
      mapped_.push_back({begin, end, begin - offset, table_of(path, end - begin)});
    }
    if (dwfl_) dwfl_end(dwfl_);
    static char* no_path = nullptr;
    static const Dwfl_Callbacks callbacks = {dwfl_linux_proc_find_elf, dwfl_standard_find_debuginfo,
                                             nullptr, &no_path};
    dwfl_ = dwfl_begin(&callbacks);
    const bool attached =
        dwfl_ && dwfl_linux_proc_report(dwfl_, static_cast<pid_t>(pid_)) == 0 &&
        dwfl_report_end(dwfl_, nullptr, nullptr) == 0 &&
        dwfl_attach_state(dwfl_, nullptr, static_cast<pid_t>(pid_), &thread_functions, this);
    // Opens the files, and the vdso, while the process lives.
    if (attached) dwfl_getmodules(dwfl_, open_file, nullptr, 0);
    return attached && !mapped_.empty();
  }

  unwind::Code find(uint64_t address) {
    for (const Mapped& one : mapped_)
      if (address >= one.begin && address < one.end) return {true, one.table, one.bias};
    return {};
  }

  // The return addresses that libdw finds, without the registers' own.
  std::vector<uint64_t> frames_of_libdw(const pi_stack_copy& copy) {
    copy_ = &copy;
    frames_.clear();
    (void)dwfl_getthread_frames(dwfl_, static_cast<pid_t>(pid_), add_frame, this);
    if (!frames_.empty()) frames_.erase(frames_.begin());
    return frames_;
  }

 private:
  struct Mapped {
    uint64_t begin, end, bias;
    const unwind::Table* table;
  };

  static int open_file(Dwfl_Module* module, void**, const char*, Dwarf_Addr, void*) {
    GElf_Addr bias = 0;
    (void)dwfl_module_getelf(module, &bias);
    return DWARF_CB_OK;
  }
  static int add_frame(Dwfl_Frame* state, void* context) {
    auto& self = *static_cast<Target*>(context);
    Dwarf_Addr address = 0;
    bool exact = false;
    if (!dwfl_frame_pc(state, &address, &exact) || self.frames_.size() > max_frames)
      return DWARF_CB_ABORT;
    // As unwind writes the frame of code that a signal has interrupted.
    self.frames_.push_back(address + (exact && !self.frames_.empty() ? 1 : 0));
    return DWARF_CB_OK;
  }
  static pid_t next_thread(Dwfl*, void* context, void** thread) {
    if (*thread) return 0;
    *thread = context;
    return static_cast<pid_t>(static_cast<Target*>(context)->pid_);
  }
  static bool get_thread(Dwfl*, pid_t, void* context, void** thread) {
    *thread = context;
    return true;
  }
  static bool read_memory(Dwfl*, Dwarf_Addr address, Dwarf_Word* result, void* context) {
    const pi_stack_copy& copy = *static_cast<Target*>(context)->copy_;
    const uint64_t at = address - copy.registers[unwind::stack_pointer];
    if (copy.length < sizeof *result || at > copy.length - sizeof *result) return false;
    std::memcpy(result, static_cast<const char*>(copy.bytes) + at, sizeof *result);
    return true;
  }
  static bool set_registers(Dwfl_Thread* thread, void* context) {
    const pi_stack_copy& copy = *static_cast<Target*>(context)->copy_;
    Dwarf_Word values[PI_STACK_REGISTERS];
    std::copy(std::begin(copy.registers), std::end(copy.registers), values);
    return dwfl_thread_state_registers(thread, 0, PI_STACK_REGISTERS, values);
  }
  static constexpr Dwfl_Thread_Callbacks thread_functions = {next_thread,   get_thread, read_memory,
                                                             set_registers, nullptr,    nullptr};

  const uint32_t pid_;
  std::vector<Mapped> mapped_;
  Dwfl* dwfl_ = nullptr;
  const pi_stack_copy* copy_ = nullptr;
  std::vector<uint64_t> frames_;
};

class Comparison {
 public:
  pi_stack_resolver functions() {
    pi_stack_resolver functions{};
    functions.size = sizeof functions;
    functions.context = this;
    functions.begin = [](void*) {};
    functions.change = [](void* context, const pi_process_change* change) {
      static_cast<Comparison*>(context)->targets_.erase(change->pid);
    };
    functions.resolve = [](void* context, const pi_stack_copy* copy, int, uint64_t* addresses,
                           uint32_t space, pi_stack_frames* frames) -> int {
      static_cast<Comparison*>(context)->add(*copy, {addresses, space});
      *frames = {0, 0, PI_STACK_UNKNOWN};
      return 1;
    };
    functions.note = [](void*, unsigned) -> const char* { return nullptr; };
    return functions;
  }

  // After the process has ended, since libdw takes longer than the ticks come.
  void compare_all() {
    for (Sample& sample : samples_) {
      sample.copy.bytes = sample.bytes.data();
      compare(sample, sample.target->frames_of_libdw(sample.copy));
    }
  }

  bool print() const {
    fmt::print(
        "{} stacks: {:.2f} % whole, {:.2f} % cut, {:.2f} % guessed, {:.2f} % of unknown ends; {} "
        "came too late\n{} agree with libdw ({} frames), {} differ\n",
        all_, percent(whole_), percent(cut_), percent(guessed_),
        percent(all_ - whole_ - cut_ - guessed_), gone_, agree_, frames_, differ_);
    return differ_ == 0 && agree_ != 0;
  }

 private:
  struct Sample {
    std::shared_ptr<Target> target;
    pi_stack_copy copy;
    std::vector<std::byte> bytes;
    std::vector<uint64_t> certain;  // frames that tables have found
    bool whole;
  };
  static constexpr size_t max_samples = 12'000;

  double percent(uint64_t part) const {
    return all_ == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(all_);
  }

  void add(const pi_stack_copy& copy, std::span<uint64_t> addresses) {
    if (samples_.size() == max_samples) return;
    auto& target = targets_[copy.pid];
    if (!target) {
      target = std::make_shared<Target>(copy.pid);
      if (!target->read()) {
        ++gone_;
        targets_.erase(copy.pid);
        return;
      }
    }
    unwind::CapturedStack stack;
    std::copy(std::begin(copy.registers), std::end(copy.registers), stack.registers.begin());
    const auto* begin = static_cast<const std::byte*>(copy.bytes);
    stack.bytes = {begin, copy.length};
    const auto walked = unwind::walk_stack(
        stack, [&](uint64_t address) { return target->find(address); }, addresses);
    const bool certain = walked.by_table == walked.frames;
    const bool whole = walked.end == unwind::End::whole && certain;
    ++all_;
    if (whole) ++whole_;
    if (walked.end == unwind::End::cut) ++cut_;
    if (walked.end != unwind::End::cut && !certain) ++guessed_;
    addresses = addresses.first(walked.by_table);
    samples_.push_back(
        {target, copy, {begin, begin + copy.length}, {addresses.begin(), addresses.end()}, whole});
  }

  // Guesses are not compared. libdw must end where a whole stack does.
  void compare(const Sample& sample, const std::vector<uint64_t>& theirs) {
    const auto& ours = sample.certain;
    const bool same = theirs.size() >= ours.size() &&
                      std::equal(ours.begin(), ours.end(), theirs.begin()) &&
                      (!sample.whole || theirs.size() == ours.size());
    frames_ += ours.size();
    ++(same ? agree_ : differ_);
    if (same || differ_ > 5) return;
    fmt::print("differs at {:#x}{}:\n ours  ", sample.copy.registers[unwind::return_address],
               sample.whole ? ", whole" : "");
    for (const uint64_t frame : ours) fmt::print(" {:x}", frame);
    fmt::print("\n libdw ");
    for (const uint64_t frame : theirs) fmt::print(" {:x}", frame);
    fmt::print("\n");
  }

  std::map<uint32_t, std::shared_ptr<Target>> targets_;
  std::vector<Sample> samples_;
  uint64_t all_ = 0, whole_ = 0, cut_ = 0, guessed_ = 0, gone_ = 0, agree_ = 0, differ_ = 0,
           frames_ = 0;
};

bool failed(const char* what, int rc) {
  if (rc == PU_SUCCESS) return false;
  fmt::print(stderr, "stack_truth: {}: {}\n", what, PiErrorText());
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 4) {
    fmt::print(stderr, "Usage: stack_truth PID [TICKS-A-SECOND [BYTES]]\n");
    return 2;
  }
  const int pid = std::atoi(argv[1]);
  const int rate = argc > 2 ? std::atoi(argv[2]) : 1000;
  const auto bytes = static_cast<uint32_t>(argc > 3 ? std::atoi(argv[3]) : PI_STACK_BYTES_DEFAULT);
  Comparison comparison;
  const pi_stack_resolver resolver = comparison.functions();
  if (failed("source", PiSetSource(PI_SOURCE_PERF)) ||
      failed("scope", TraceSetScope(TRACE_SCOPE_PROCESS, pid)) ||
      failed("begin", TraceInit(PI_TRACE_BYTES_DEFAULT)) || failed("rate", SetProfilerRate(rate)) ||
      failed("stacks", PiSetStackResolver(&resolver, bytes)) ||
      failed("stacks", TraceSetStacks(PI_STACKS_USER, PI_STACK_DEPTH_MAX)) ||
      failed("enable", TraceEnable(PI_MAJORS_TPROF)) || failed("on", TraceOn()))
    return 1;
  std::printf("on\n");
  std::fflush(stdout);
  while (::kill(pid, 0) == 0) ::usleep(100000);
  TraceOff();
  TraceTerminate();
  comparison.compare_all();
  return comparison.print() ? 0 : 1;
}
