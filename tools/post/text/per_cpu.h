// SPDX-License-Identifier: MIT
// A value for each CPU. A file can name any CPU: memory grows with the CPUs that are used, not with
// the highest number.
#ifndef POST_PER_CPU_H
#define POST_PER_CPU_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace post {

template <typename Value>
class PerCpu {
 public:
  // References stay valid.
  Value& operator[](uint32_t cpu) {
    const size_t chunk = cpu / chunk_size;
    if (chunks_.size() <= chunk) chunks_.resize(chunk + 1);
    if (!chunks_[chunk]) chunks_[chunk] = std::make_unique<Chunk>();
    return (*chunks_[chunk])[cpu % chunk_size];
  }
  // nullptr: not used yet.
  const Value* find(uint32_t cpu) const {
    const size_t chunk = cpu / chunk_size;
    if (chunks_.size() <= chunk || !chunks_[chunk]) return nullptr;
    return &(*chunks_[chunk])[cpu % chunk_size];
  }
  // Calls take(cpu, value) in the order of the CPUs; also for some that were never used.
  template <typename Take>
  void for_each(const Take& take) {
    for (size_t chunk = 0; chunk < chunks_.size(); ++chunk) {
      if (!chunks_[chunk]) continue;
      for (size_t i = 0; i < chunk_size; ++i)
        take(static_cast<uint32_t>(chunk * chunk_size + i), (*chunks_[chunk])[i]);
    }
  }

 private:
  static constexpr size_t chunk_size = 16;
  using Chunk = std::array<Value, chunk_size>;
  std::vector<std::unique_ptr<Chunk>> chunks_;
};

}  // namespace post

#endif  // POST_PER_CPU_H
