// SPDX-License-Identifier: MIT
// What is known by process id. The one asked for last is found at once, as the next question mostly
// is of the same process.
#ifndef A2N_PID_MAP_H
#define A2N_PID_MAP_H

#include <cstdint>
#include <unordered_map>

namespace a2n {

// Not thread-safe, not even to look up.
template <class Value>
class PidMap {
 public:
  bool empty() const { return values_.empty(); }
  // Made where it is missing. References stay valid.
  Value& operator[](uint32_t pid) { return values_[pid]; }
  // Null where there is none.
  const Value* find(uint32_t pid) const {
    if (last_ && last_pid_ == pid) return last_;
    const auto found = values_.find(pid);
    if (found == values_.end()) return nullptr;
    last_pid_ = pid;
    return last_ = &found->second;
  }
  // Calls use(value) for each.
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
