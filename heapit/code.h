// SPDX-License-Identifier: MIT
// The code of this process: which files it is in, and how its frames are left.
#ifndef PI_HEAPIT_CODE_H
#define PI_HEAPIT_CODE_H

#include <cstddef>
#include <cstdint>

#include <pi/raw_lock.h>

#include "call_path.h"
#include "loaded/rule_cache.h"
#include "log.h"

namespace pi::heapit {

struct MapsLine;

class Code final : public CodeFiles {
 public:
  static constexpr size_t memory_bytes = (1 << 20) + unwind::RuleCache::memory_bytes;
  // memory: that many zeroed bytes.
  explicit Code(std::byte* memory);

  // For Walk.
  unwind::Table::Found rule(uint64_t address, unwind::OwnedRule& space) {
    return rules_.find(address, space);
  }
  bool is_executable(uint64_t address);

  void log_file_of(uint64_t address, Log& log) override;

  // After dlclose(): if files were unloaded, others may be at their addresses from now on.
  void forget_unloaded();
  uint64_t generation() const override { return generation_.load(std::memory_order_relaxed); }

 private:
  struct Mapped {
    uint64_t begin, end, offset, inode;
  };
  static constexpr size_t max_mapped = (1 << 20) / sizeof(Mapped);

  bool is_known(uint64_t address);
  void add(const MapsLine& line, Log* log);

  unwind::RuleCache rules_;
  std::atomic<uint64_t> generation_ = 0;
  RawLock lock_;  // of what follows
  Mapped* mapped_;
  size_t count_ = 0;
  unsigned long long unloaded_ = 0;  // files that the loader has unloaded so far
};

}  // namespace pi::heapit

#endif  // PI_HEAPIT_CODE_H
