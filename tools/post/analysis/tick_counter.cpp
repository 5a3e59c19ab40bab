// SPDX-License-Identifier: MIT
// Counts ticks by path of names.
#include "tick_counter.h"

namespace post {

TickCounter::TickCounter(Processes& processes, Symbolizer& symbolizer, StringTable& names,
                         Options options)
    : processes_(processes),
      names_(names),
      options_(options),
      resolver_(symbolizer, names, {options.module_width, options.inlined}, 2 * options.sets),
      sets_(options.totals_only ? 0 : options.sets) {
  processes.set_before_change([this] { settle(); });
}

void TickCounter::flush(Entry& entry) {
  if (entry.ticks != 0) tree_.add_ticks(entry.leaf, entry.ticks);
  entry.ticks = 0;
}

void TickCounter::grow() {
  for (Set& set : sets_)
    for (Entry& entry : set.way) flush(entry);
  sets_.grow();
  for (size_t i = 0; i < waiting_count_; ++i) waiting_[i].set = &sets_.at(hash_of(waiting_[i].key));
}

// The newer entry moves to the second way and replaces the older one there.
TickCounter::Entry& TickCounter::replace(const Waiting& tick) {
  const auto& [key, set, waiting_process, time] = tick;  // set changes in grow()
  const Process& process = *waiting_process;
  const Place& place = resolver_.find(process, key.maps_version, key.address, key.user, time);
  const std::string& process_name = names_.text(processes_.process_name(process));
  const std::string& thread_name = names_.text(processes_.thread_name(process, key.tid));
  Path path{};
  path[static_cast<size_t>(Level::process)] =
      names_.intern(process_label(process.pid, process_name, key.cpu, options_.labels));
  path[static_cast<size_t>(Level::thread)] =
      names_.intern(thread_label(key.tid, thread_name, options_.labels));
  path[static_cast<size_t>(Level::module)] = place.module;
  path[static_cast<size_t>(Level::symbol)] = resolver_.innermost(place);
  if (options_.offsets) path[static_cast<size_t>(Level::offset)] = key.address - place.start;
  if (sets_.count_miss()) grow();
  flush(set->way[1]);
  set->way[1] = set->way[0];
  const bool kernel = !key.user && key.address >> 63 != 0;
  const Origin origin{process.lifetime, process.pid, key.tid, kernel};
  set->way[0] = {key, tree_.place(path, place.found, origin), 0};
  return set->way[0];
}

void TickCounter::settle() {
  for (size_t i = 0; i < waiting_count_; ++i) {
    const Waiting& tick = waiting_[i];
    Entry* const way = tick.set->way;
    if (way[0].key == tick.key)
      ++way[0].ticks;
    else if (way[1].key == tick.key)
      ++way[1].ticks;
    else
      ++replace(tick).ticks;
  }
  waiting_count_ = 0;
}

void TickCounter::finish() {
  settle();
  for (Set& set : sets_)
    for (Entry& entry : set.way) flush(entry);
}

TickTotals TickCounter::totals() const {
  TickTotals totals{count_, 0, 0, first_time_, last_time_};
  for (const Leaf& leaf : tree_.leaves()) {
    if (leaf.found == Found::no_module) totals.no_module += leaf.ticks;
    if (has_no_symbol(leaf.found)) totals.no_symbol += leaf.ticks;
  }
  return totals;
}

}  // namespace post
