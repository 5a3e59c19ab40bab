// SPDX-License-Identifier: MIT
// Decides which ticks and threads a user has selected by the names of processes, threads, modules
// and symbols.
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

// Kinds are asked in the order of NameKind; all must agree.
class NameFilter final : public Subscriber, public TickFilter {
 public:
  struct Options {
    bool inlined = false;            // symbols are the innermost inlined functions
    size_t cache_entries = 1 << 16;  // of the cache of addresses; a power of two
  };

  // All but the selection must outlive this.
  NameFilter(const Selection& selection, Processes& processes, Symbolizer& symbolizer,
             StringTable& names, const Options& options);

  // After Processes. Becomes the filter of ticks.
  void subscribe(Subscriptions& to) override;
  bool take(const Arrival& arrival) override;

  // By what the process and thread are called at that time, which must not decrease.
  bool takes(const pi::TprofTick& tick, uint64_t time) override;
  // The same of a thread by itself: modules and symbols are not asked.
  bool takes_thread(uint32_t pid, uint32_t tid, uint64_t time);
  // Of a thread that nothing is known of.
  bool takes_unknown_thread() const;

  // A sentence for each word that fitted nothing. all: the options on records leave all of them.
  std::vector<std::string> remarks(bool all) const;

 private:
  // What was decided, by the version of a process's names.
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
  StringTable& names_;
  std::array<NameWords, name_kinds> words_;
  CommandTree commands_;
  std::optional<Resolver> resolver_;  // only where modules or symbols are asked for
  Cache of_processes_;
  Cache of_threads_;
  // By name: not asked yet, no, yes.
  std::vector<uint8_t> of_modules_;
  std::vector<uint8_t> of_symbols_;
};

// The filter for a selection; none if it names nothing.
std::unique_ptr<NameFilter> make_name_filter(const Selection& selection, Processes& processes,
                                             Symbolizer& symbolizer, StringTable& names,
                                             const NameFilter::Options& options);

}  // namespace post

#endif  // POST_NAME_FILTER_H
