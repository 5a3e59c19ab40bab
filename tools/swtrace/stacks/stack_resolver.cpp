// SPDX-License-Identifier: MIT
// Unwinds the user stacks of ticks by tables, for libperfutil.
#include "stack_resolver.h"

#include <sys/sysmacros.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <span>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <pi/files.h>
#include <pi/printable.h>

#include "walk/walk_stack.h"

namespace pi::swtrace {
namespace {

StackResolver& self(void* context) {
  return *static_cast<StackResolver*>(context);
}

// Has only the first thread of a process ended, by pthread_exit()? Its others need its memory.
bool runs_without_leader(uint32_t pid) {
  constexpr size_t max_stat = 1 << 12;
  const auto stat = read_system_file(fmt::format("/proc/{}/task/{}/stat", pid, pid), max_stat);
  if (!stat || stat->find(") Z") == std::string::npos) return false;
  std::error_code error;
  std::filesystem::directory_iterator tasks(fmt::format("/proc/{}/task", pid), error), end;
  size_t count = 0;
  for (; !error && tasks != end && count < 2; tasks.increment(error)) ++count;
  return count > 1;
}

int end_of(unwind::End end) {
  if (end == unwind::End::whole) return PI_STACK_WHOLE;
  return end == unwind::End::cut ? PI_STACK_CUT : PI_STACK_UNKNOWN;
}

}  // namespace

pi_stack_resolver StackResolver::functions() {
  pi_stack_resolver functions{};
  functions.size = sizeof functions;
  functions.context = this;
  functions.begin = [](void* context) { self(context).begin(); };
  functions.change = [](void* context, const pi_process_change* change) {
    self(context).change(*change);
  };
  functions.resolve = [](void* context, const pi_stack_copy* copy, int last, uint64_t* addresses,
                         uint32_t space, pi_stack_frames* frames) -> int {
    return self(context).resolve(*copy, last != 0, {addresses, space}, *frames);
  };
  functions.note = [](void* context, unsigned index) -> const char* {
    StackResolver& resolver = self(context);
    auto notes = resolver.notes();
    if (index >= notes.size()) return nullptr;
    resolver.note_ = std::move(notes[index]);
    return resolver.note_.c_str();
  };
  functions.drop = [](void* context, uint64_t id) { self(context).drop(id); };
  functions.frame_name = [](void* context, uint32_t number) {
    return self(context).frame_name(number);
  };
  name_frames();
  return functions;
}

void StackResolver::begin() {
  waiting_.clear();
  maps_.clear();
  runtimes_.clear();
  interrupted_.clear();
  late_ = late_code_ = late_interrupted_ = unnamed_ = cut_elsewhere_ = 0;
  cut_.clear();
  if (names_frames_) names_ = std::make_shared<FrameNames>();
  runtimes_.use_names(names_);
}

void StackResolver::change(const pi_process_change& change) {
  if (change.kind == PI_PROCESS_ENDED && !is_recorded_ && runs_without_leader(change.pid)) return;
  if (change.kind == PI_PROCESS_ENDED) runtimes_.end(change.pid);
  if (change.kind == PI_PROCESS_EXECUTED || change.kind == PI_PROCESS_FORKED)
    runtimes_.forget(change.pid);
  std::shared_ptr<TableFile> file;
  if (change.kind != PI_PROCESS_MAPPED) {
    own_processes_.forget(change.pid);
    interrupted_.forget(change.pid);
  }
  if (change.kind == PI_PROCESS_MAPPED)
    file = files_.mapped({change.pid, change.address, change.address + change.bytes, change.inode,
                          change.path, makedev(change.device_major, change.device_minor)});
  maps_.add(change, std::move(file));
}

// The memory of the stack's process at its time. A process that runs will need the tables of its
// files; those of the many that only sleep are not compiled.
std::shared_ptr<const ProcessMap> StackResolver::memory_at(const pi_stack_copy& copy) {
  maps_.advance(copy.time);
  auto memory = maps_.of(copy.pid);
  if (memory)
    for (const auto& file : memory->take_new_files()) files_.ask(file, TableWish::expected);
  return memory;
}

// Frames that are guesses keep their addresses, which post tests. A thread that is itself in the
// interpreter may be between methods.
std::shared_ptr<RuntimeProcess> StackResolver::put_names(StackCode& code,
                                                         RuntimeProcess::Clock::time_point since,
                                                         std::span<uint64_t> addresses,
                                                         unwind::Walked& walked) {
  const auto& frames = code.interpreted().frames;
  if (frames.empty()) return nullptr;
  std::vector<uint32_t> numbers(frames.size());
  if (auto reader = code.name_methods(since, numbers)) return reader;
  uint32_t own = 0;
  for (size_t i = 0; i < frames.size(); ++i) {
    if (frames[i] > walked.by_table) continue;
    if (frames[i] == 0)
      own = numbers[i];
    else if (numbers[i] == 0)
      ++unnamed_;
    else
      addresses[frames[i] - 1] = PI_FRAME_NAMED(numbers[i]);
  }
  if (own == 0 || addresses.empty()) return nullptr;
  if (walked.frames == addresses.size()) {
    walked.end = unwind::End::cut;
    walked.by_table = std::min(walked.by_table, --walked.frames);
  }
  const auto end = addresses.begin() + static_cast<ptrdiff_t>(walked.frames);
  std::move_backward(addresses.begin(), end, end + 1);
  addresses[0] = PI_FRAME_OWN(own);
  ++walked.frames;
  ++walked.by_table;
  return nullptr;
}

void StackResolver::cut_at(const StackCode::Unopened& unopened, unwind::Walked& walked) {
  constexpr size_t max_files = 1 << 12;
  walked.frames = std::min(walked.frames, unopened.inner);
  walked.by_table = std::min(walked.by_table, walked.frames);
  walked.end = unwind::End::cut;
  const std::string& path = unopened.file->path();
  if (cut_.size() >= max_files && !cut_.contains(path)) {
    ++cut_elsewhere_;
    return;
  }
  CutStacks& cut = cut_[path];
  ++cut.count;
  cut.reason = unopened.file->refusal();
}

// The files with the most stacks.
std::string StackResolver::note_on_cut_stacks() const {
  constexpr size_t max_named = 10;
  using File = std::pair<const std::string, CutStacks>;
  std::vector<const File*> files;
  uint64_t all = cut_elsewhere_;
  for (const File& file : cut_) {
    files.push_back(&file);
    all += file.second.count;
  }
  std::stable_sort(files.begin(), files.end(),
                   [](const File* a, const File* b) { return a->second.count > b->second.count; });
  std::string text = fmt::format("{} user stack(s) are cut in the code of {}{} file(s)", all,
                                 files.size(), cut_elsewhere_ != 0 ? " or more" : "");
  const char* before = ": ";
  for (const File* file : std::span(files).first(std::min(files.size(), max_named))) {
    fmt::format_to(std::back_inserter(text), "{}{} ({}: {})", before, printable(file->first),
                   file->second.count, file->second.reason);
    before = ", ";
  }
  if (files.size() > max_named)
    fmt::format_to(std::back_inserter(text), " and {} more", files.size() - max_named);
  return text + ".";
}

// A process can make its stacks wait for long: they are not walked again before it has read names.
bool StackResolver::is_ready(const Waiting& waiting) {
  if (waiting.missing) return files_.is_done(*waiting.missing);
  if (waiting.interrupted && !waiting.interrupted->is_done) {
    interrupted_.check();
    return false;
  }
  if (!waiting.reader) return true;
  runtimes_.thread().check();
  return waiting.reader->method_reads() != waiting.reads;
}

bool StackResolver::resolve(const pi_stack_copy& copy, bool last, std::span<uint64_t> addresses,
                            pi_stack_frames& frames) {
  const auto known = waiting_.find(copy.id);
  const bool is_new = known == waiting_.end();
  if (!is_new && !last && !is_ready(known->second)) return false;
  const auto memory = is_new ? memory_at(copy) : known->second.memory;
  unwind::CapturedStack stack;
  static_assert(PI_STACK_REGISTERS == unwind::register_count);
  std::copy(std::begin(copy.registers), std::end(copy.registers), stack.registers.begin());
  stack.bytes = {static_cast<const std::byte*>(copy.bytes), copy.length};
  stack.interrupted_at = copy.interrupted_at;
  stack.interrupted = {static_cast<const std::byte*>(copy.interrupted), copy.interrupted_length};
  StackCode code({files_, runtimes_, interrupted_},
                 {copy.pid, copy.tid, memory.get(), last, is_recorded_}, stack,
                 is_new ? nullptr : known->second.interrupted);
  auto walked = unwind::walk_stack(stack, code, addresses);
  // Before the names are asked for, which another thread reads.
  const uint64_t reads = code.method_reads();
  const auto since = is_new ? RuntimeProcess::Clock::now() : known->second.since;
  const auto reader = code.waits() && !last ? nullptr : put_names(code, since, addresses, walked);
  if ((code.waits() || reader) && !last) {
    if (code.missing()) files_.ask(code.missing(), TableWish::wanted);
    waiting_.insert_or_assign(
        copy.id, Waiting{memory, code.missing(), reader, reads, code.interrupted(), since});
    return false;
  }
  if (code.missing())
    ++late_;
  else if (code.waits())
    ++late_code_;
  if (code.lacks_interrupted()) ++late_interrupted_;
  waiting_.erase(copy.id);
  if (code.unopened().file) cut_at(code.unopened(), walked);
  frames.frames = static_cast<uint32_t>(walked.frames);
  frames.by_table = static_cast<uint32_t>(walked.by_table);
  frames.end = end_of(walked.end);
  return true;
}

std::vector<std::string> StackResolver::notes() const {
  auto notes = files_.notes();
  if (const auto lacking = runtimes_.lacking(); lacking.count != 0)
    notes.push_back(fmt::format(
        "The compiled Java methods of {} process(es) keep no frame pointers: their stacks end "
        "there, "
        "or are guessed. The first is {}. Start Java with -XX:+PreserveFramePointer; run.tprof -g "
        "does.",
        lacking.count, lacking.first));
  if (runtimes_.hanging() != 0)
    notes.push_back(
        fmt::format("The memory of {} process(es) with code that was generated at run time could "
                    "not be read in "
                    "time: their stacks are guessed.",
                    runtimes_.hanging()));
  if (runtimes_.refused() != 0)
    notes.push_back(
        fmt::format("The stacks of {} process(es) with code that was generated at run time are "
                    "guessed, since the recorder reads the memory of a limited number of them.",
                    runtimes_.refused()));
  if (!cut_.empty()) notes.push_back(note_on_cut_stacks());
  if (late_ != 0)
    notes.push_back(fmt::format(
        "{} user stack(s) were unwound without a table that was not ready in time.", late_));
  if (late_code_ != 0)
    notes.push_back(
        fmt::format("{} user stack(s) in code that was generated at run time were guessed, since "
                    "the code was not read in time.",
                    late_code_));
  if (late_interrupted_ != 0)
    notes.push_back(
        fmt::format("{} user stack(s) end where a signal handler with a stack of its own has "
                    "interrupted the thread, since the handler had returned before the thread's "
                    "stack was read, or it could not be read.",
                    late_interrupted_));
  if (unnamed_ != 0)
    notes.push_back(
        fmt::format("{} frame(s) of interpreted Java methods have no name, since it could not be "
                    "read in time, or there were too many.",
                    unnamed_));
  if (maps_.refused() != 0)
    notes.push_back(
        fmt::format("{} mapping(s) of programs are not known to the recorder, since it keeps a "
                    "limited number of them: stacks end in their code.",
                    maps_.refused()));
  return notes;
}

}  // namespace pi::swtrace
