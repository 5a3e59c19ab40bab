// SPDX-License-Identifier: MIT
// A map by process id. It caches the last entry found: successive lookups are mostly for the same
// process.
#ifndef A2N_PID_MAP_H
#define A2N_PID_MAP_H

#include <cstdint>
#include <unordered_map>

namespace a2n {

// Not thread-safe, not even for lookups: find() updates the cache.
template <class Value>
class PidMap {
 public:
  bool empty() const { return values_.empty(); }
  // Inserts a missing value. References stay valid.
  Value& operator[](uint32_t pid) { return values_[pid]; }
  // The value of a process, or null.
  const Value* find(uint32_t pid) const {
    if (last_ && last_pid_ == pid) return last_;
    const auto found = values_.find(pid);
    if (found == values_.end()) return nullptr;
    last_pid_ = pid;
    return last_ = &found->second;
  }
  void erase(uint32_t pid) {
    if (last_pid_ == pid) last_ = nullptr;
    values_.erase(pid);
  }
  // Calls use(value) for each value.
  template <class Use>
  void for_each(Use use) {
    for (auto& [pid, value] : values_) use(value);
  }

 private:
  std::unordered_map<uint32_t, Value> values_;
  mutable const Value* last_ = nullptr;
  mutable uint32_t last_pid_ = 0;
};

}  // namespace a2n

#endif  // A2N_PID_MAP_H
