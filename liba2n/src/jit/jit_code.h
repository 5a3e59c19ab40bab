// SPDX-License-Identifier: MIT
// Code that one process made at run time: whose each address was at each moment.
#ifndef A2N_JIT_CODE_H
#define A2N_JIT_CODE_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/rectangle_index.h"
#include "jit_source.h"
#include "jit_timeline.h"

namespace a2n {

struct JitMethod {
  uint64_t address = 0;
  uint64_t size = 0;
  uint64_t time = 0;  // when it was told: it may have been there since the end of what was before
  const char* name = nullptr;
  bool dynamic = false;  // a stub, an adapter, the interpreter: nobody tells of its end
  // Its bytes and its lines, null where they are not known: code that moves shares them with what
  // it was before.
  std::shared_ptr<const std::string> code = {};
  std::shared_ptr<const JitSource> source = {};

  std::string_view bytes() const {
    return code ? std::string_view(*code).substr(0, size) : std::string_view();
  }
  // The functions at an offset, the innermost first; the last one is the method itself.
  std::vector<SourceFrame> frames_at(uint32_t offset) const {
    return source ? source->at(offset, name) : std::vector<SourceFrame>{{name, nullptr, 0}};
  }
};

// Takes what happened in any order; the first question puts it into the order of time.
//
// A method ends when it is unloaded, or when another is told of that it overlaps. It begins, as
// what tells of it comes late, at the end of the last one that it overlaps. Dynamic code may lie
// inside dynamic code: the inner one counts.
class JitCode {
 public:
  // Told again while it is there: the first one stays. One without bytes, or around the end of all
  // addresses, is ignored.
  void load(JitMethod method);
  void unload(uint64_t time, uint64_t address);
  // From this time on all is known; what came before is not.
  void begin_late(uint64_t time);
  // From this time on some of what happened is not known: methods that were there have no name any
  // more, new ones have theirs only from when they are told of.
  void lose(uint64_t time);
  // Nothing is known from this time on, or until begin_late().
  void stop(uint64_t time);

  // Times mean nothing: what was told last counts, for ever.
  void ignore_times() {
    timeless_ = true;
    index_.reset();
  }
  bool timeless() const { return timeless_; }

  // What was at an address; what was told before oldest belonged to another image of the process.
  const JitMethod* find(uint64_t address, uint64_t time, uint64_t oldest = 0) const;

  // The first moment after time at which an address gets another owner; UINT64_MAX: none.
  uint64_t next_change(uint64_t time) const;

  size_t methods() const { return methods_.size(); }
  // The one that was told as the number-th, from 0.
  const JitMethod& method(size_t number) const { return methods_[number]; }
  // Methods that took a place where others had been.
  size_t reuses() const;

 private:
  enum class Kind : uint8_t { load, unload, begin_late, lose, stop };
  struct Event {
    uint64_t time;
    Kind kind;
    uint64_t address;  // of an unload
    uint32_t method;   // of a load
  };
  struct Index {
    RectangleIndex rectangles;
    std::vector<uint64_t> changes;  // sorted
    size_t reuses = 0;
  };

  bool is_there(const JitTimeline& timeline, const JitMethod& method) const;
  void replay(JitTimeline& timeline, const Event& event) const;
  const Index& index() const;

  std::vector<JitMethod> methods_;
  std::vector<Event> events_;
  bool timeless_ = false;
  mutable std::optional<Index> index_;  // of the events so far
};

}  // namespace a2n

#endif  // A2N_JIT_CODE_H
