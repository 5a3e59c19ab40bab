// SPDX-License-Identifier: MIT
// The native functions of samples: from what a signal handler has copied to names.
#include "scs/native_stacks.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <exception>
#include <string_view>

#include "own_libraries.h"
#include "return_codes.h"
#include "vm_structs.h"
#include "walk/walk.h"

namespace pi::jprof {
namespace {

constexpr size_t max_rules = 1 << 15;
constexpr unwind::Cfa end_rule = {unwind::CfaKind::end, 0, 0, 0, 0, 0, 0};

std::string hex(uint64_t number) {
  char text[24];
  std::snprintf(text, sizeof text, "[0x%" PRIx64 "]", number);
  return text;
}

std::string file_of(std::string_view path) {
  return std::string(path.substr(path.rfind('/') + 1));
}

// "[FILE+0x12]" as "[0x12]".
std::string place_in_file(const std::string& function) {
  return '[' + function.substr(function.rfind('+') + 1);
}

CodeRange range_of(const dl_phdr_info& file) {
  CodeRange range{UINT64_MAX, 0};
  for (size_t i = 0; i < file.dlpi_phnum; ++i) {
    const auto& part = file.dlpi_phdr[i];
    if (part.p_type != PT_LOAD) continue;
    const uint64_t begin = file.dlpi_addr + part.p_vaddr;
    range = {std::min(range.begin, begin), std::max(range.end, begin + part.p_memsz)};
  }
  return range;
}

}  // namespace

Result<CodeRange> find_java_code() {
  const auto structs = VmStructs::of_this_jvm();
  const auto begin = structs ? structs->address_of("CodeCache", "_low_bound") : std::nullopt;
  const auto end = structs ? structs->address_of("CodeCache", "_high_bound") : std::nullopt;
  CodeRange range;
  if (begin && end) range = {load<uint64_t>(*begin), load<uint64_t>(*end)};
  if (range.begin < range.end) return range;
  return Error{no_events, "this JVM does not tell where its code is, which SCS_A2N needs"};
}

NativeStacks::NativeStacks(const CodeRange& java_code, MethodList& methods)
    : java_code_(java_code),
      methods_(methods),
      own_code_(reinterpret_cast<uint64_t>(&find_java_code)),
      callers_(captured_stack_bytes / 16) {}

Status NativeStacks::load_names() {
  constexpr const char* library_name = "liba2n.so.0";
  const auto opened = open_library(library_name);
  if (!opened) return opened.error();
  void* const library = *opened;
  A2nFunctions f;
  const bool found = find_function(library, "a2n_context_new", f.context_new) &&
                     find_function(library, "a2n_context_free", f.context_free) &&
                     find_function(library, "a2n_set_demangle", f.set_demangle) &&
                     find_function(library, "a2n_set_no_symbol_action", f.set_no_symbol_action) &&
                     find_function(library, "a2n_add_module", f.add_module) &&
                     find_function(library, "a2n_get_symbol", f.get_symbol);
  if (!found) return lacks_functions(library_name);
  names_ = std::make_unique<NativeNames>(f);
  own_code_ = reinterpret_cast<uint64_t>(f.context_new);
  return {};
}

// ---- with the loader held ----

// While the action runs, which gets the counts, no file is loaded or unloaded. It throws nothing.
template <class Action>
void NativeStacks::with_loader(Action action) {
  const auto call = [](dl_phdr_info* file, size_t, void* data) {
    (*static_cast<Action*>(data))(Loads{file->dlpi_adds, file->dlpi_subs});
    return 1;
  };
  ::dl_iterate_phdr(call, &action);
}

void NativeStacks::begin_drain() {
  last_drain_begin_ = drain_begin_;
  with_loader([this](const Loads& loads) { drain_begin_ = loads; });
  new_files_of_.reset();
}

void NativeStacks::update(const Loads& loads) {
  if (new_files_of_ != loads) {
    new_files_.clear();
    if (loads.added != last_drain_begin_.added && loads.removed != last_drain_begin_.removed)
      find_new_files(loads.added - last_drain_begin_.added);
    new_files_of_ = loads;
  }
  if (loads == loads_) return;
  rules_.clear();
  numbers_.clear();
  if (names_) names_->see_libraries();
  loads_ = loads;
}

// A sample was taken after the beginning of the last drain. If files were unloaded since, one of
// those that were loaded since may be where the sample saw another one. The loader's list has the
// newest ones at its end, behind those of JProf, which are never unloaded.
void NativeStacks::find_new_files(size_t count) {
  const auto add = [](dl_phdr_info* file, size_t, void* list) {
    static_cast<std::vector<CodeRange>*>(list)->push_back(range_of(*file));
    return 0;
  };
  ::dl_iterate_phdr(add, &new_files_);
  const auto is_own = [this](const CodeRange& file) { return file.contains(own_code_); };
  const auto own = std::find_if(new_files_.begin(), new_files_.end(), is_own);
  const auto known = static_cast<size_t>(own - new_files_.begin());
  const size_t others = std::max(known, new_files_.size() - std::min(new_files_.size(), count));
  new_files_.erase(new_files_.begin(), new_files_.begin() + static_cast<ptrdiff_t>(others));
}

bool NativeStacks::is_in_new_file(uint64_t address) const {
  return std::any_of(new_files_.begin(), new_files_.end(),
                     [&](const CodeRange& file) { return file.contains(address); });
}

unwind::Table::Found NativeStacks::rule_at(uint64_t address) {
  if (is_in_new_file(address)) return {&unwind::no_rule, {}};
  if (rules_.size() == max_rules) rules_.clear();
  const auto [place, is_new] = rules_.try_emplace(address);
  if (is_new) place->second = unwind::find_rule(address);
  return place->second.found();
}

NativeStacks::Place NativeStacks::place_of(uint64_t address) const {
  Place place{address};
  dl_find_object found{};
  if (is_in_new_file(address) || ::_dl_find_object(reinterpret_cast<void*>(address), &found) != 0)
    return place;
  const link_map& file = *found.dlfo_link_map;
  const bool has_name = file.l_name && file.l_name[0] != '\0';
  place.module = has_name ? file.l_name : program_invocation_short_name;
  place.offset = address - file.l_addr;
  if (const auto number = numbers_.find(address); number != numbers_.end())
    place.number = number->second;
  return place;
}

// For Walk. No frame is guessed.
struct NativeStacks::Rules {
  NativeStacks& stacks;
  bool found_java = false;

  unwind::Table::Found rule(const unwind::FramePlace& place) {
    if (!stacks.java_code_.contains(place.address)) return stacks.rule_at(place.address);
    found_java = true;
    return {&end_rule, {}};
  }
  static bool is_executable(uint64_t) { return false; }
};

void NativeStacks::walk(std::span<const uint64_t> captured) {
  unwind::CapturedStack stack;
  std::copy_n(captured.begin(), unwind::register_count, stack.registers.begin());
  stack.bytes = std::as_bytes(captured.subspan(unwind::register_count));
  Rules rules{*this};
  const auto walked = unwind::Walk(stack, rules).run(callers_);
  if (rules.found_java)
    end_ = End::java;
  else
    end_ = walked.end == unwind::End::whole ? End::thread : End::unknown;
  places_.push_back(place_of(stack.registers[unwind::return_address]));
  // The last one is the caller in Java.
  for (size_t i = 0; i < walked.frames - (rules.found_java ? 1 : 0); ++i)
    places_.push_back(place_of(callers_[i] - 1));
}

// ---- without it ----

std::string NativeStacks::name_of(const Place& place) const {
  if (place.module.empty()) return "[unknown]-@-NoModule";
  NativeName name;
  if (names_) name = names_->newest_at(place.address);
  std::string function = std::move(name.function);
  if (function.empty())
    function = hex(place.offset);
  else if (!name.has_symbol)
    function = place_in_file(function);
  return function + "-@-" + file_of(place.module);
}

std::vector<uint32_t> NativeStacks::find(std::span<const uint64_t> captured, bool has_java) {
  places_.clear();
  end_ = End::unknown;
  with_loader([&](const Loads& loads) {
    try {
      update(loads);
      walk(captured);
    } catch (const std::exception&) {
      end_ = End::unknown;  // there is no memory
    }
  });
  std::vector<uint32_t> frames;
  for (const Place& place : places_) {
    uint32_t number = place.number;
    if (number == 0) {
      number = methods_.add(name_of(place));
      if (!place.module.empty()) numbers_.emplace(place.address, number);
    }
    frames.push_back(number);
  }
  if (end_ == End::java && !has_java) frames.push_back(methods_.add("[callers-in-Java-unknown]"));
  if (end_ == End::unknown || (end_ == End::thread && has_java))
    frames.push_back(methods_.add("[callers-unknown]"));
  return frames;
}

}  // namespace pi::jprof
