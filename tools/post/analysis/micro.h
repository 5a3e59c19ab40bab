// SPDX-License-Identifier: MIT
// Counts ticks by function and offset in the function's code.
#ifndef POST_MICRO_H
#define POST_MICRO_H

#include <pi/decode.h>

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "read/subscriber.h"
#include "state/processes.h"
#include "state/resolver.h"
#include "state/symbolizer.h"
#include "text/labels.h"
#include "text/string_table.h"

namespace post {

// A source line, and the function that was inlined there.
struct SourceLine {
  std::string file;      // empty: not known
  uint32_t line = 0;     // 0: not known
  std::string function;  // that was inlined; empty: the symbol's own
};

class Micro final : public Subscriber {
 public:
  // One function, or one of several JIT-compiled ones of the same name; with by_thread, in one
  // thread.
  struct Function {
    NameId module = no_name;
    NameId symbol = no_name;
    Found found = Found::no_module;
    bool narrow = false;
    uint32_t pid = 0;  // of its first tick, like time
    uint64_t time = 0;
    uint64_t start = 0;
    uint64_t code_id = 0;  // 0: it is not JIT-compiled
    uint64_t ticks = 0;
    std::map<uint64_t, uint64_t> by_offset;
  };

  struct Options {
    LabelOptions labels = {};
    bool by_thread = false;  // the threads are separate, see functions()
    Resolver::Options frames = {};
    size_t cache_entries = 1 << 16;  // of the cache of addresses; a power of two
  };

  // All three must outlive this.
  Micro(Processes& processes, Symbolizer& symbolizer, StringTable& names, Options options);

  void add(const pi::TprofTick& tick, uint32_t cpu, uint64_t time);

  // The function on which a tick fell, and where; nullptr: no module is known. Does not count it.
  struct Spot {
    Function* function = nullptr;
    uint64_t offset = 0;
  };
  Spot find(const pi::TprofTick& tick, uint32_t cpu, uint64_t time);

  void subscribe(Subscriptions& to) override { to.add(*this, {PITRACE_MAJOR_TPROF}); }
  bool take(const Arrival& arrival) override {
    if (arrival.tick_selected) add(*arrival.tick, arrival.stream.cpu(), arrival.time());
    return true;
  }

  // Modules by ticks, below each its functions by ticks; equal ones by name, then start.
  struct Module {
    NameId name = no_name;
    uint64_t ticks = 0;
    std::vector<const Function*> functions;
  };
  std::vector<Module> modules() const;

  // The functions of a name with the ticks of the threads that `wanted` takes, by ticks; made with
  // by_thread. Threads are named by their labels and those of their processes.
  using Wanted = std::function<bool(NameId process, NameId thread)>;
  std::vector<Function> functions(NameId module, NameId symbol, const Wanted& wanted) const;

  Code code(const Function& function) const {
    return symbolizer_.code(function.time, function.pid, function.start);
  }
  SourceLine line(const Function& function, uint64_t offset) const;
  // The functions at an offset, each inlined into the next; valid until the next call.
  std::vector<SourceFrame> frames(const Function& function, uint64_t offset) const {
    return symbolizer_.frames(function.time, function.pid, function.start + offset);
  }
  // Whether all files that have the function's symbol belong to root.
  bool is_of_root(const Function& function) const {
    return symbolizer_.is_of_root(function.time, function.pid, function.start);
  }
  // The names of an address in the function's process; valid until the next call.
  Lookup lookup(const Function& function, uint64_t address) const {
    return symbolizer_.lookup(function.time, function.pid, address);
  }
  // The function to which a linkage table's entry at an address leads; "": not known.
  std::string plt_name(const Function& function, uint64_t address) const {
    return symbolizer_.plt_name(function.time, function.pid, address);
  }
  uint64_t ticks() const { return ticks_; }

 private:
  struct Owner {
    NameId process = no_name;
    NameId thread = no_name;
  };
  struct Key {
    NameId module;
    NameId symbol;
    uint64_t in_module;
    uint64_t code_id;
    uint32_t pid;  // of JIT-compiled code, and where nothing is known
    Owner owner;   // with by_thread
    // In the order of the members. Written out, the compiler inlines it into every lookup.
    bool operator<(const Key& other) const {
      if (module != other.module) return module < other.module;
      if (symbol != other.symbol) return symbol < other.symbol;
      if (in_module != other.in_module) return in_module < other.in_module;
      if (code_id != other.code_id) return code_id < other.code_id;
      if (pid != other.pid) return pid < other.pid;
      if (owner.process != other.owner.process) return owner.process < other.owner.process;
      return owner.thread < other.owner.thread;
    }
  };

  Owner owner_of(const Process& process, uint32_t tid, uint32_t cpu);

  Processes& processes_;
  Symbolizer& symbolizer_;
  StringTable& names_;
  const Options options_;
  Resolver resolver_;
  // By the version of the process's names, tid and CPU.
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, Owner> owners_;
  std::map<Key, Function> functions_;
  uint64_t ticks_ = 0;
};

}  // namespace post

#endif  // POST_MICRO_H
