// SPDX-License-Identifier: MIT
// What is known of the code of one process at the time of a stack.
#include "stack_code.h"

#include <cstring>

namespace pi::swtrace {

using unwind::FrameOfCode;

// Its table is there, or there will be none.
bool StackCode::is_ready(const Mapping& mapping) {
  if (!mapping.file || files_.is_done(*mapping.file)) return true;
  if (!missing_) missing_ = mapping.file;
  waits_ = true;
  return false;
}

// A file of the process that contains a runtime, Python only if there is no other, which it can
// have loaded. That of one that is not ready is waited for.
const Mapping* StackCode::find_runtime() {
  if (const auto known = process_.memory->runtime()) return *known;
  bool all_ready = true;
  const auto find = [&](bool is_python) {
    return process_.memory->find_if([&](const Mapping& mapping) {
      if (!mapping.file) return false;
      if (!is_ready(mapping)) return all_ready = false;
      if (!mapping.file->table()) return false;
      const unwind::Runtime runtime = mapping.file->table()->runtime();
      return runtime != unwind::Runtime::none && (runtime == unwind::Runtime::python) == is_python;
    });
  };
  const Mapping* found = find(false);
  if (!found) found = find(true);
  if (all_ready) process_.memory->keep_runtime(found);
  return found;
}

RuntimeProcess* StackCode::runtime() {
  if (process_.is_recorded) return nullptr;
  if (runtime_) return *runtime_;
  runtime_ = nullptr;
  const Mapping* const found = find_runtime();
  if (!found) return nullptr;
  const unwind::Table& table = *found->file->table();
  runtime_ = runtimes_.of(
      process_.pid,
      {table.runtime(), found->bias, {table.symbols().begin(), table.symbols().end()}});
  return *runtime_;
}

bool StackCode::may_be_code(const unwind::FramePlace& place, uint64_t address) {
  const auto word = stack_.word_at(address);
  return !word || (*word != place.address && is_executable(*word - 1));
}

bool StackCode::returns_to_code(const unwind::FramePlace& place, const unwind::OwnedRule& rule) {
  for (const unwind::Save& save : rule.found().saves) {
    if (save.reg != unwind::return_address) continue;
    const uint64_t value = place.registers[save.base] + static_cast<uint64_t>(int64_t{save.offset});
    return save.kind == unwind::SaveKind::at_base ? may_be_code(place, value)
                                                  : is_executable(value - 1);
  }
  return false;
}

// Behind a call the code has set its frame pointer. At another instruction it may have no frame
// yet, or no more, or need none: then its return address is at the top of the stack. That is how it
// is told from code whose instructions do not lead to an answer.
const unwind::OwnedRule* StackCode::rule_of(RuntimeProcess& runtime,
                                            const unwind::FramePlace& place) {
  const unwind::OwnedRule* by_frame_pointer = &unwind::rule_by_frame_pointer();
  if (!place.exact && runtime.has_frame_pointers()) return by_frame_pointer;
  const uint64_t instruction = place.address + (place.exact ? 0 : 1);
  const Answer answer = runtime.frame_at(instruction, runtimes_.thread(), process_.last, frame_);
  if (answer == Answer::later) waits_ = true;
  if (answer != Answer::yes) return nullptr;
  if (!runtime.has_frame_pointers())
    return frame_.kind == FrameOfCode::Kind::exact ? &frame_.rule : nullptr;
  switch (frame_.kind) {
    case FrameOfCode::Kind::framed:
      return by_frame_pointer;
    case FrameOfCode::Kind::exact:
      return &frame_.rule;
    case FrameOfCode::Kind::tail:
      return returns_to_code(place, frame_.rule) ? &frame_.rule : by_frame_pointer;
    default:
      return may_be_code(place, place.registers[unwind::stack_pointer]) ? nullptr
                                                                        : by_frame_pointer;
  }
}

// In HotSpot's interpreter, frames keep the method three words below the frame pointer; when it is
// entered, it is in a register.
void StackCode::note_method(const unwind::FramePlace& place, const unwind::OwnedRule& rule) {
  constexpr int64_t method_offset = 3 * sizeof(uint64_t);
  const bool is_framed = rule.cfa.base == unwind::frame_pointer &&
                         rule.cfa.kind == unwind::CfaKind::offset &&
                         rule.cfa.offset == 2 * int64_t{sizeof(uint64_t)};
  const uint64_t at = place.registers[unwind::frame_pointer] - method_offset;
  std::optional<uint64_t> method;
  if (is_framed && at >= place.registers[unwind::stack_pointer])
    method = stack_.word_at(at);
  else if (place.exact && (is_framed || frame_.kind == FrameOfCode::Kind::exact))
    method = place.registers[unwind::rbx];
  if (!method || *method == 0) return;
  interpreted_.frames.push_back(place.inner);
  interpreted_.methods.push_back(*method);
}

std::shared_ptr<RuntimeProcess> StackCode::name_methods(RuntimeProcess::Clock::time_point since,
                                                        std::span<uint32_t> numbers) {
  if (!runtime_ || !*runtime_) return nullptr;
  const Answer answer = (*runtime_)->name_methods({interpreted_.methods, since}, runtimes_.thread(),
                                                  process_.last, numbers);
  return answer == Answer::later ? (*runtime_)->shared_from_this() : nullptr;
}

std::span<const std::byte> StackCode::stack_at(uint64_t address, uint64_t signal_frame) {
  if (process_.is_recorded || (waits_ && !process_.last)) return {};
  if (interrupted_ && interrupted_->place.address != address) interrupted_.reset();
  const uint64_t at = signal_frame - stack_.registers[unwind::stack_pointer];
  InterruptedStack::Place place{process_.pid, process_.tid, address, signal_frame, {}};
  const bool is_captured =
      stack_.bytes.size() >= place.saved.size() && at <= stack_.bytes.size() - place.saved.size();
  if (!interrupted_ && !process_.last && is_captured) {
    std::memcpy(place.saved.data(), stack_.bytes.data() + at, place.saved.size());
    interrupted_ = interrupted_stacks_.read(place);
  }
  if (interrupted_ && interrupted_->is_done && !interrupted_->bytes.empty())
    return interrupted_->bytes;
  if (interrupted_ && !interrupted_->is_done && !process_.last)
    waits_ = true;
  else
    lacks_interrupted_ = true;
  return {};
}

unwind::Code StackCode::find(const unwind::FramePlace& place) {
  if (waits_ && !process_.last) return {};  // it is walked again
  const Mapping* mapping = mapping_at(place.address);
  if (!mapping) return {};
  unwind::Code code{true, nullptr, mapping->bias, nullptr};
  if (!is_ready(*mapping)) return code;
  if (mapping->file) code.table = mapping->file->table();
  if (process_.is_recorded && !unopened_.file && mapping->file && !mapping->file->refusal().empty())
    unopened_ = {mapping->file, place.inner};
  const bool is_of_runtime =
      code.table && code.table->runtime() != unwind::Runtime::none &&
      (code.table->find(place.address - code.bias).cfa->flags & unwind::rule_runtime) != 0;
  if (mapping->file && !is_of_runtime) return code;
  RuntimeProcess* process = runtime();
  if (!process) return code;
  runtimes_.thread().check();
  const Answer answer =
      is_of_runtime ? Answer::yes : process->is_code(place.address, runtimes_.thread());
  if (answer == Answer::later) waits_ = true;
  if (answer == Answer::no) runtimes_.note_lacking(process_.pid, *process);
  if (answer == Answer::yes) code.rule = rule_of(*process, place);
  if (!code.rule) code.table = nullptr;
  if (code.rule && process->interprets(place.address)) note_method(place, *code.rule);
  return code;
}

}  // namespace pi::swtrace
