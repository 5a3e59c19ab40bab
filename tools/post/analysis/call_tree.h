// SPDX-License-Identifier: MIT
// Counts ticks by call stack.
#ifndef POST_CALL_TREE_H
#define POST_CALL_TREE_H

#include <pi/decode.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "read/subscriber.h"
#include "sample_tree.h"
#include "state/frames.h"
#include "state/processes.h"
#include "text/labels.h"
#include "text/path_tree.h"
#include "text/recent.h"

namespace post {

class CallTree final : public Subscriber {
 public:
  struct Options {
    LabelOptions labels = {};
    bool by_thread = false;  // the threads of a process are separate
    Resolver::Options frames = {};
    StackSource source = {};
    size_t cache_entries = 1 << 16;  // of the cache of addresses; a power of two
  };

  // All three must outlive this.
  CallTree(Processes& processes, Symbolizer& symbolizer, StringTable& names, Options options);

  // Places in paths(): where the functions of a process or thread begin, and the tick's function.
  struct Place {
    uint32_t root;
    uint32_t function;
  };
  // record: that of the tick.
  // user_frames: those that the record's stack lacks.
  Place add(const pi::TprofTick& tick, const pi::RecordView& record, uint32_t cpu, uint64_t time,
            const pi::UserFrames* user_frames = nullptr);

  void subscribe(Subscriptions& to) override { to.add(*this, {PITRACE_MAJOR_TPROF}); }
  bool take(const Arrival& arrival) override {
    if (arrival.tick_selected)
      add(*arrival.tick, arrival.record(), arrival.stream.cpu(), arrival.time(),
          arrival.user_frames);
    return true;
  }

  struct Node {
    enum class Kind : uint8_t { process, thread, function } kind = Kind::process;
    uint32_t parent = 0;     // 0: it is a process
    uint32_t id = 0;         // NameId, of a function FrameId
    uint64_t exclusive = 0;  // ticks in it
    uint64_t inclusive = 0;  // and in what it contains
    uint64_t guessed = 0;    // of the inclusive ones, those for which the frame is a guess
  };

  // By number, a node before its children; number 0 is the root. To be called after the last tick.
  // Only the ticks of processes that `wanted` takes; without it all. Processes of equal names are
  // one node.
  using Wanted = std::function<bool(const Origin& process)>;
  std::vector<Node> nodes(const Wanted& wanted = {}) const;
  // The same with only the ticks that `wanted` takes, by the labels of their processes and threads,
  // and by the functions on which they fell; made with by_thread. Nodes without such ticks stay.
  using WantedTicks = std::function<bool(NameId process, NameId thread, const Frame& function)>;
  std::vector<Node> nodes_of_ticks(const WantedTicks& wanted) const;
  // The same as nodes(), and a frame that is a guess for some ticks is another node for them.
  std::vector<Node> nodes_with_guesses(const Wanted& wanted = {}) const;
  std::string name(const Node& node) const;

  // Processes; below them threads (with by_thread), whose values are names; below these functions,
  // whose values are frames: a guess has a place of its own.
  const PathTree& paths() const { return tree_; }
  // Of a process, by the value of its place.
  NameId process_label(uint32_t value) const { return owners_[value].label; }
  const Origin& process(uint32_t value) const { return owners_[value].process; }

  const Frames& frames() const { return frames_; }
  const StringTable& names() const { return names_; }
  const StackCounts& stacks() const { return stacks_; }
  uint64_t ticks() const { return ticks_; }
  bool by_thread() const { return options_.by_thread; }

 private:
  uint32_t root_of(const Process& process, uint32_t tid, uint32_t cpu);
  uint32_t process_root(NameId label, const Process& process);
  using ByPlace = std::function<bool(uint32_t place)>;
  ByPlace left_out_by(const Wanted& wanted) const;
  std::vector<Node> unite(const ByPlace& is_left_out, const ByPlace& has_wanted_ticks,
                          bool guesses_apart = false) const;
  void count_guesses(std::vector<Node>& nodes, const std::vector<uint32_t>& place_in,
                     std::vector<uint64_t> ticks) const;

  Processes& processes_;
  StringTable& names_;
  const Options options_;
  Frames frames_;
  PathTree tree_;  // paths(); the values of processes are places in owners_
  struct Owner {
    NameId label = no_name;
    Origin process;  // without thread
  };
  std::vector<Owner> owners_;
  std::map<std::pair<NameId, const ProcessLifetime*>, uint32_t> known_owners_;
  std::vector<uint64_t> exclusive_;  // by place
  // Where the functions of a thread begin, by the version of its process's names, tid and cpu.
  struct RootKey {
    uint32_t names_version = 0;
    uint32_t tid = 0;
    uint32_t cpu = 0;
    bool operator==(const RootKey&) const = default;
    uint64_t hash() const {
      return (names_version ^ uint64_t{tid} << 20 ^ uint64_t{cpu} << 48) * 0x9e3779b97f4a7c15ull >>
             32;
    }
  };
  Recent<RootKey, uint32_t> roots_;
  StackCounts stacks_;
  uint64_t ticks_ = 0;
};

}  // namespace post

#endif  // POST_CALL_TREE_H
