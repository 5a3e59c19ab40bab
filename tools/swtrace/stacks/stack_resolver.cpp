// SPDX-License-Identifier: MIT
// Unwinds the user stacks of ticks by tables, for libperfutil.
#include "stack_resolver.h"

#include <algorithm>

#include <fmt/format.h>

#include "stack_code.h"
#include "walk/walk_stack.h"

namespace pi::swtrace {
namespace {

StackResolver& self(void* context) {
  return *static_cast<StackResolver*>(context);
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
  return functions;
}

void StackResolver::begin() {
  waiting_.clear();
  maps_.clear();
  runtimes_.clear();
  late_ = late_code_ = 0;
}

void StackResolver::change(const pi_process_change& change) {
  if (change.kind == PI_PROCESS_ENDED) runtimes_.end(change.pid);
  if (change.kind == PI_PROCESS_EXECUTED || change.kind == PI_PROCESS_FORKED)
    runtimes_.forget(change.pid);
  std::shared_ptr<TableFile> file;
  if (change.kind == PI_PROCESS_MAPPED)
    file = files_.mapped(
        {change.pid, change.address, change.address + change.bytes, change.inode, change.path});
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

bool StackResolver::resolve(const pi_stack_copy& copy, bool last, std::span<uint64_t> addresses,
                            pi_stack_frames& frames) {
  const auto known = waiting_.find(copy.id);
  const bool is_new = known == waiting_.end();
  if (!is_new && !last && known->second.missing && !files_.is_done(*known->second.missing))
    return false;
  const auto memory = is_new ? memory_at(copy) : known->second.memory;
  unwind::CapturedStack stack;
  static_assert(PI_STACK_REGISTERS == unwind::register_count);
  std::copy(std::begin(copy.registers), std::end(copy.registers), stack.registers.begin());
  stack.bytes = {static_cast<const std::byte*>(copy.bytes), copy.length};
  StackCode code(files_, runtimes_, {copy.pid, memory.get(), last}, stack);
  const auto walked = unwind::walk_stack(stack, code, addresses);
  if (code.waits() && !last) {
    if (code.missing()) files_.ask(code.missing(), TableWish::wanted);
    waiting_.insert_or_assign(copy.id, Waiting{memory, code.missing()});
    return false;
  }
  if (code.missing())
    ++late_;
  else if (code.waits())
    ++late_code_;
  waiting_.erase(copy.id);
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
  if (late_ != 0)
    notes.push_back(fmt::format(
        "{} user stack(s) were unwound without a table that was not ready in time.", late_));
  if (late_code_ != 0)
    notes.push_back(
        fmt::format("{} user stack(s) in code that was generated at run time were guessed, since "
                    "the code was not read in time.",
                    late_code_));
  if (maps_.refused() != 0)
    notes.push_back(
        fmt::format("{} mapping(s) of programs are not known to the recorder, since it keeps a "
                    "limited number of them: stacks end in their code.",
                    maps_.refused()));
  return notes;
}

}  // namespace pi::swtrace
