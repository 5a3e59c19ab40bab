// SPDX-License-Identifier: MIT
// The native functions of samples: from what a signal handler has copied to names.
#ifndef PI_JPROF_NATIVE_STACKS_H
#define PI_JPROF_NATIVE_STACKS_H

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <pi/result.h>

#include "loaded/loaded_code.h"
#include "native_names.h"
#include "probes/method_list.h"
#include "scs/native_capture.h"

namespace pi::jprof {

// Where the code of this JVM is, once it has initialised.
Result<CodeRange> find_java_code();

// One thread at a time; no signal handlers. A library may be unloaded at any moment.
class NativeStacks {
 public:
  // methods: gets the names, "FUNCTION-@-LIBRARY", and must exist longer.
  NativeStacks(const CodeRange& java_code, MethodList& methods);

  // liba2n, without which addresses take the place of names; or why not.
  Status load_names();

  // To be called before each time that samples are taken out of their buffers.
  void begin_drain();

  // The functions of a sample, innermost first, up to code of the JVM: numbers in methods.
  // has_java: the JVM knows callers in Java. The last one is a remark in brackets if some are not
  // known.
  std::vector<uint32_t> find(std::span<const uint64_t> captured, bool has_java);

 private:
  // How many files the loader has loaded and unloaded so far.
  struct Loads {
    unsigned long long added = 0, removed = 0;
    bool operator==(const Loads&) const = default;
  };
  struct Place {
    uint64_t address = 0;
    uint32_t number = 0;      // in methods, 0: not known yet
    std::string module = {};  // the path by which it was loaded; empty: none is there
    uint64_t offset = 0;      // in the file, as its symbols have it
  };
  struct Rules;
  enum class End { java, thread, unknown };

  template <class Action>
  static void with_loader(Action action);
  // With the loader held.
  void update(const Loads& loads);
  void find_new_files(size_t count);
  void walk(std::span<const uint64_t> captured);
  Place place_of(uint64_t address) const;
  unwind::Table::Found rule_at(uint64_t address);
  bool is_in_new_file(uint64_t address) const;
  // Without it.
  std::string name_of(const Place& place) const;

  const CodeRange java_code_;
  MethodList& methods_;
  std::unique_ptr<NativeNames> names_;
  uint64_t own_code_;  // in the file of JProf that was loaded last
  Loads loads_;        // that the caches and names are of
  Loads drain_begin_, last_drain_begin_;
  std::optional<Loads> new_files_of_;  // what the list of new files was made for
  std::vector<CodeRange> new_files_;   // that may not be those that were sampled
  std::unordered_map<uint64_t, unwind::OwnedRule> rules_;
  std::unordered_map<uint64_t, uint32_t> numbers_;  // of methods, by address
  // The stack at hand.
  std::vector<uint64_t> callers_;
  std::vector<Place> places_;
  End end_ = End::unknown;
};

}  // namespace pi::jprof

#endif  // PI_JPROF_NATIVE_STACKS_H
