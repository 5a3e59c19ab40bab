// SPDX-License-Identifier: MIT
// Selects ticks and threads by the names of processes, threads, modules and symbols.
#ifndef POST_NAME_FILTER_H
#define POST_NAME_FILTER_H

#include <pi/decode.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "command_tree.h"
#include "name_words.h"
#include "processes.h"
#include "read/selection.h"
#include "read/subscriber.h"
#include "resolver.h"

namespace post {

// Tests the kinds in the order of NameKind; all must match.
class NameFilter final : public Subscriber, public TickFilter {
 public:
  struct Options {
    bool inlined = false;            // symbols are the innermost inlined functions
    size_t cache_entries = 1 << 16;  // of the cache of addresses; a power of two
  };

  // All but the selection must outlive this.
  NameFilter(const Selection& selection, Processes& processes, Symbolizer& symbolizer,
             StringTable& names, const Options& options);

  // To be called after Processes has subscribed. Sets this as the filter of ticks.
  void subscribe(Subscriptions& to) override;
  bool take(const Arrival& arrival) override;

  // Uses the names of process and thread at that time, which must not decrease.
  bool takes(const pi::TprofTick& tick, uint64_t time) override;
  // The same for a thread: modules and symbols are not tested.
  bool takes_thread(uint32_t pid, uint32_t tid, uint64_t time);
  // Whether an unknown thread is selected.
  bool takes_unknown_thread() const;

  // A sentence for each word that matched nothing. all: no option excludes records.
  std::vector<std::string> remarks(bool all) const;

 private:
  // A cached result, with the version of the process's names.
  struct Known {
    uint32_t names_version = 0;
    uint32_t tree_version = 0;
    uint32_t tid = 0;
    bool taken = false;
  };
  using Cache = std::vector<Known>;

  NameWords& words(NameKind kind) { return words_[static_cast<size_t>(kind)]; }
  bool asks(NameKind kind) const { return words_[static_cast<size_t>(kind)].any(); }
  bool judge_process(const Process& process);
  bool judge_thread(const Process& process, uint32_t tid);
  bool judge_code(const Process& process, const pi::TprofTick& tick, uint64_t time);
  bool judge(uint32_t pid, uint32_t tid, uint64_t time, const pi::TprofTick* tick);
  bool takes_module(NameId name);
  bool takes_symbol(NameId name);

  Processes& processes_;
  const Symbolizer& symbolizer_;
  StringTable& names_;
  std::array<NameWords, name_kinds> words_;
  CommandTree commands_;
  std::optional<Resolver> resolver_;  // only for a selection by module or symbol
  Cache of_processes_;
  Cache of_threads_;
  // By name: not tested yet, no, yes.
  std::vector<uint8_t> of_modules_;
  std::vector<uint8_t> of_symbols_;
};

// Returns the filter for a selection; nullptr if it contains no names.
std::unique_ptr<NameFilter> make_name_filter(const Selection& selection, Processes& processes,
                                             Symbolizer& symbolizer, StringTable& names,
                                             const NameFilter::Options& options);

}  // namespace post

#endif  // POST_NAME_FILTER_H
