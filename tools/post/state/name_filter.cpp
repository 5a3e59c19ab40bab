// SPDX-License-Identifier: MIT
// Selects ticks and threads by the names of processes, threads, modules and symbols.
#include "name_filter.h"

#include <fmt/format.h>

#include "text/labels.h"
#include "text/short_name.h"

namespace post {
namespace {

constexpr size_t cached_processes = 1 << 10;  // powers of two
constexpr size_t cached_threads = 1 << 12;
constexpr uint8_t no = 1;
constexpr uint8_t yes = 2;

std::string_view file_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

// The result for a name, computed once.
template <class Ask>
bool remembered(std::vector<uint8_t>& answers, NameId name, Ask ask) {
  if (answers.size() <= name) answers.resize(name + 1);
  if (answers[name] == 0) answers[name] = ask() ? yes : no;
  return answers[name] == yes;
}

}  // namespace

NameFilter::NameFilter(const Selection& selection, Processes& processes, Symbolizer& symbolizer,
                       StringTable& names, const Options& options)
    : processes_(processes),
      symbolizer_(symbolizer),
      names_(names),
      words_{NameWords(selection.of(NameKind::process)), NameWords(selection.of(NameKind::command)),
             NameWords(selection.of(NameKind::thread)), NameWords(selection.of(NameKind::module)),
             NameWords(selection.of(NameKind::symbol))},
      commands_(words(NameKind::command), processes, names),
      of_processes_(cached_processes),
      of_threads_(cached_threads) {
  if (asks(NameKind::module) || asks(NameKind::symbol))
    resolver_.emplace(symbolizer, names, Resolver::Options{false, options.inlined},
                      options.cache_entries);
}

void NameFilter::subscribe(Subscriptions& to) {
  to.filter_ticks_by(*this);
  if (asks(NameKind::command)) to.add(*this, {PITRACE_MAJOR_MTE});
}

bool NameFilter::take(const Arrival& arrival) {
  commands_.apply(arrival.record());
  return true;
}

bool NameFilter::judge_process(const Process& process) {
  Known& known = of_processes_[process.names_version & (cached_processes - 1)];
  if (known.names_version == process.names_version && known.tree_version == commands_.version())
    return known.taken;
  NameWords& asked = words(NameKind::process);
  bool taken = true;
  if (asks(NameKind::process)) taken = asked.takes(fit_process(asked, processes_, names_, process));
  if (taken && asks(NameKind::command))
    taken = words(NameKind::command).takes(commands_.fit(process.pid));
  known = {process.names_version, commands_.version(), 0, taken};
  return taken;
}

bool NameFilter::judge_thread(const Process& process, uint32_t tid) {
  Known& known = of_threads_[(process.names_version ^ tid * 0x9e3779b9u) & (cached_threads - 1)];
  if (known.names_version == process.names_version && known.tid == tid) return known.taken;
  const std::string& name = names_.text(processes_.thread_name(process, tid));
  NameWords& asked = words(NameKind::thread);
  known = {process.names_version, 0, tid,
           asked.takes(asked.fit({name, thread_label(tid, name, {})}, tid))};
  return known.taken;
}

bool NameFilter::takes_module(NameId name) {
  return remembered(of_modules_, name, [&] {
    NameWords& asked = words(NameKind::module);
    const std::string& path = names_.text(name);
    // The page shows the kernel as [kernel].
    return asked.takes(
        asked.fit({path, path == PITRACE_KERNEL_NAME ? "[kernel]" : file_name(path)}));
  });
}

bool NameFilter::takes_symbol(NameId name) {
  return remembered(of_symbols_, name, [&] {
    NameWords& asked = words(NameKind::symbol);
    const std::string& symbol = names_.text(name);
    return asked.takes(asked.fit_symbol(symbol, symbolizer_.readable(symbol)));
  });
}

bool NameFilter::judge_code(const Process& process, const pi::TprofTick& tick, uint64_t time) {
  const Place& place =
      resolver_->find(process, *process.maps_version, tick.address, tick.user, time);
  return (!asks(NameKind::module) || takes_module(place.module)) &&
         (!asks(NameKind::symbol) || takes_symbol(resolver_->innermost(place)));
}

// A runtime's logs on its threads and code are read for selected processes only.
bool NameFilter::judge(uint32_t pid, uint32_t tid, uint64_t time, const pi::TprofTick* tick) {
  if ((asks(NameKind::process) || asks(NameKind::command)) && !judge_process(processes_.find(pid)))
    return false;
  if (!asks(NameKind::thread) && !resolver_) return true;
  const Process& process = processes_.at(pid, time);
  if (asks(NameKind::thread) && !judge_thread(process, tid)) return false;
  return !tick || !resolver_ || judge_code(process, *tick, time);
}

bool NameFilter::takes(const pi::TprofTick& tick, uint64_t time) {
  return judge(tick.pid, tick.tid, time, &tick);
}

bool NameFilter::takes_thread(uint32_t pid, uint32_t tid, uint64_t time) {
  return judge(pid, tid, time, nullptr);
}

bool NameFilter::takes_unknown_thread() const {
  return words_[0].takes({}) && words_[1].takes({}) && words_[2].takes({});
}

std::vector<std::string> NameFilter::remarks(bool all) const {
  std::vector<std::string> remarks;
  for (size_t i = 0; i < name_kinds; ++i) {
    const NameKind kind = static_cast<NameKind>(i);
    const auto unfitting = words_[i].unfitting(
        option_of(kind),
        all || kind == NameKind::command ? " in the trace" : " that the other options leave");
    remarks.insert(remarks.end(), unfitting.begin(), unfitting.end());
    if (words_[i].any()) all = false;
  }
  return remarks;
}

std::unique_ptr<NameFilter> make_name_filter(const Selection& selection, Processes& processes,
                                             Symbolizer& symbolizer, StringTable& names,
                                             const NameFilter::Options& options) {
  if (!selection.by_name()) return nullptr;
  return std::make_unique<NameFilter>(selection, processes, symbolizer, names, options);
}

}  // namespace post
