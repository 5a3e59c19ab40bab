// SPDX-License-Identifier: MIT
// Counts ticks by function and offset in the function's code.
#include "micro.h"

#include <algorithm>

#include "text/text.h"

namespace post {
namespace {

// The cache of owners is cleared when it has this many entries: names that change all the time must
// not fill the memory.
constexpr size_t max_owners = 1 << 16;

}  // namespace

Micro::Micro(Processes& processes, Symbolizer& symbolizer, StringTable& names, Options options)
    : processes_(processes),
      symbolizer_(symbolizer),
      names_(names),
      options_(options),
      resolver_(symbolizer, names, {options.frames.module_width, false}, options.cache_entries) {}

Micro::Owner Micro::owner_of(const Process& process, uint32_t tid, uint32_t cpu) {
  const std::tuple key(process.names_version, tid, options_.labels.per_cpu ? cpu : 0);
  if (const auto known = owners_.find(key); known != owners_.end()) return known->second;
  if (owners_.size() >= max_owners) owners_.clear();
  const std::string& process_name = names_.text(processes_.process_name(process));
  const std::string& thread_name = names_.text(processes_.thread_name(process, tid));
  const Owner owner{names_.intern(process_label(process.pid, process_name, cpu, options_.labels)),
                    names_.intern(thread_label(tid, thread_name, options_.labels))};
  owners_.emplace(key, owner);
  return owner;
}

Micro::Spot Micro::find(const pi::TprofTick& tick, uint32_t cpu, uint64_t time) {
  const Process& process = processes_.at(tick.pid, time);
  const Place& place =
      resolver_.find(process, *process.maps_version, tick.address, tick.user, time);
  if (place.found == Found::no_module) return {};
  const uint32_t pid = place.code_id != 0 ? tick.pid : 0;
  const Owner owner = options_.by_thread ? owner_of(process, tick.tid, cpu) : Owner();
  const auto [known, is_new] = functions_.try_emplace(
      {place.module, place.symbol, place.in_module, place.code_id, pid, owner});
  Function& function = known->second;
  if (is_new) {
    function.module = place.module;
    function.symbol = place.symbol;
    function.found = place.found;
    function.narrow = place.narrow;
    function.pid = tick.pid;
    function.time = time;
    function.start = place.start;
    function.code_id = place.code_id;
  }
  return {&function, tick.address - place.start};
}

void Micro::add(const pi::TprofTick& tick, uint32_t cpu, uint64_t time) {
  ++ticks_;
  const Spot spot = find(tick, cpu, time);
  if (!spot.function) return;
  ++spot.function->ticks;
  ++spot.function->by_offset[spot.offset];
}

std::vector<Micro::Module> Micro::modules() const {
  std::map<NameId, Module> by_name;
  for (const auto& [key, function] : functions_) {
    Module& module = by_name[function.module];
    module.name = function.module;
    module.ticks += function.ticks;
    module.functions.push_back(&function);
  }
  const auto name = [this](NameId id) -> const std::string& { return names_.text(id); };
  std::vector<Module> modules;
  for (auto& [id, module] : by_name) {
    std::sort(module.functions.begin(), module.functions.end(),
              [&](const Function* a, const Function* b) {
                if (a->ticks != b->ticks) return a->ticks > b->ticks;
                if (a->symbol != b->symbol) return name(a->symbol) < name(b->symbol);
                return a->start < b->start;
              });
    modules.push_back(std::move(module));
  }
  std::sort(modules.begin(), modules.end(), [&](const Module& a, const Module& b) {
    return a.ticks != b.ticks ? a.ticks > b.ticks : name(a.name) < name(b.name);
  });
  return modules;
}

std::vector<Micro::Function> Micro::functions(NameId module, NameId symbol,
                                              const Wanted& wanted) const {
  std::map<Key, Function> united;
  const Key first{module, symbol, 0, 0, 0, {}};
  for (auto at = functions_.lower_bound(first);
       at != functions_.end() && at->first.module == module && at->first.symbol == symbol; ++at) {
    Key key = at->first;
    if (!wanted(key.owner.process, key.owner.thread)) continue;
    key.owner = {};
    const auto [known, added] = united.try_emplace(key, at->second);
    if (added) continue;
    known->second.ticks += at->second.ticks;
    for (const auto& [offset, ticks] : at->second.by_offset)
      known->second.by_offset[offset] += ticks;
  }
  std::vector<Function> functions;
  for (auto& [key, function] : united) functions.push_back(std::move(function));
  std::ranges::stable_sort(functions,
                           [](const Function& a, const Function& b) { return a.ticks > b.ticks; });
  return functions;
}

SourceLine Micro::line(const Function& function, uint64_t offset) const {
  const auto frames = this->frames(function, offset);
  if (frames.empty()) return {};
  SourceLine line{printable(frames.front().file), frames.front().line, {}};
  if (frames.size() > 1) line.function = printable(frames.front().name);
  return line;
}

}  // namespace post
