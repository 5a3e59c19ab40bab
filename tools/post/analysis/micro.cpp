// SPDX-License-Identifier: MIT
// Counts ticks by function and offset in the function's code.
#include "micro.h"

#include <algorithm>

#include "text/text.h"

namespace post {

Micro::Micro(Processes& processes, Symbolizer& symbolizer, StringTable& names,
             Resolver::Options options, size_t cache_entries)
    : processes_(processes),
      symbolizer_(symbolizer),
      names_(names),
      resolver_(symbolizer, names, {options.module_width, false}, cache_entries) {}

void Micro::add(const pi::TprofTick& tick, uint64_t time) {
  ++ticks_;
  const Process& process = processes_.at(tick.pid, time);
  const Place& place =
      resolver_.find(process, *process.maps_version, tick.address, tick.user, time);
  if (place.found == Found::no_module) return;
  const uint32_t pid = place.code_id != 0 ? tick.pid : 0;
  Function& function =
      functions_[{place.module, place.symbol, place.in_module, place.code_id, pid}];
  if (function.ticks++ == 0) {
    function.module = place.module;
    function.symbol = place.symbol;
    function.found = place.found;
    function.narrow = place.narrow;
    function.pid = tick.pid;
    function.time = time;
    function.start = place.start;
    function.code_id = place.code_id;
  }
  ++function.by_offset[tick.address - place.start];
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

SourceLine Micro::line(const Function& function, uint64_t offset) const {
  const auto frames = this->frames(function, offset);
  if (frames.empty()) return {};
  SourceLine line{printable(frames.front().file), frames.front().line, {}};
  if (frames.size() > 1) line.function = printable(frames.front().name);
  return line;
}

}  // namespace post
