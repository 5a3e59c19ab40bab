// SPDX-License-Identifier: MIT
// JIT-compiled code of one process: which method owned each address at each time.
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
  uint64_t time = 0;  // when it was reported; it may exist since the end of the previous method
  const char* name = nullptr;
  bool dynamic = false;  // a stub, an adapter, the interpreter: its end is never reported
  // Its bytes and its source lines; null if not known. Moved code shares them with the method at
  // its former address.
  std::shared_ptr<const std::string> code = {};
  std::shared_ptr<const JitSource> source = {};

  std::string_view bytes() const {
    return code ? std::string_view(*code).substr(0, size) : std::string_view();
  }
  // The functions at an offset in bytes, innermost first; the last one is the method itself.
  std::vector<SourceFrame> frames_at(uint32_t offset) const {
    return source ? source->at(offset, name) : std::vector<SourceFrame>{{name, nullptr, 0}};
  }
};

// Accepts events in any order; the first lookup sorts them by time.
//
// A method ends when it is unloaded, or when a method that overlaps it is reported. Because reports
// come late, it begins at the end of the last method that it overlaps. Dynamic code may be inside
// dynamic code: a lookup returns the inner one.
class JitCode {
 public:
  explicit JitCode(size_t max_methods = size_t{1} << 25) : max_methods_(max_methods) {}

  // If the same method is already loaded, the first report stays. A method of size 0, or one that
  // wraps around the end of the address space, is ignored. So is a method beyond the limit, which
  // ignored() counts.
  void load(JitMethod method);
  void unload(uint64_t time, uint64_t address);
  // All events from this time on are known; earlier ones are not.
  void begin_late(uint64_t time);
  // Some events from this time on are lost: methods that exist then lose their names, and new ones
  // begin only when they are reported.
  void lose(uint64_t time);
  // No event from this time on is known, or none until begin_late().
  void stop(uint64_t time);

  // Ignores times: the method that was reported last counts, for all times.
  void ignore_times() {
    timeless_ = true;
    index_.reset();
  }
  bool timeless() const { return timeless_; }

  // When the runtime last wrote the source of this code, on the trace's clock.
  void set_written(int64_t time) { written_ = time; }
  // Whether a process that began at this time can have written the source. A file's time is that of
  // a tick of the kernel's clock, which can be some ticks older.
  bool can_be_of_process_begun(uint64_t time) const {
    constexpr int64_t ticks_ns = 50'000'000;
    return !written_ || static_cast<int64_t>(time) <= *written_ + ticks_ns;
  }

  // The method at an address. Methods reported before oldest belong to an earlier image of the
  // process and are ignored.
  const JitMethod* find(uint64_t address, uint64_t time, uint64_t oldest = 0) const;

  // The first time after this one at which an address gets another owner; UINT64_MAX: none.
  uint64_t next_change(uint64_t time) const;

  size_t methods() const { return methods_.size(); }
  size_t beyond_limit() const { return beyond_limit_; }
  // A method by its number, in the order of reports, from 0.
  const JitMethod& method(size_t number) const { return methods_[number]; }
  // The number of methods at addresses that other methods had before.
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

  bool is_loaded(const JitTimeline& timeline, const JitMethod& method) const;
  void replay(JitTimeline& timeline, const Event& event) const;
  const Index& index() const;

  size_t max_methods_;
  size_t beyond_limit_ = 0;
  std::vector<JitMethod> methods_;
  std::vector<Event> events_;
  bool timeless_ = false;
  std::optional<int64_t> written_;
  mutable std::optional<Index> index_;  // built from events_ by the first lookup
};

}  // namespace a2n

#endif  // A2N_JIT_CODE_H
