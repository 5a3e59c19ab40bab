// SPDX-License-Identifier: MIT
// Indices of source lines on disk, so that DWARF is read once and not at every run.
#ifndef A2N_SOURCE_CACHE_H
#define A2N_SOURCE_CACHE_H

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "dwarf/source_index.h"
#include "pi/files.h"
#include "pi/unique_fd.h"

namespace a2n {

// Which index is meant. The build-id alone proves nothing: any user can give a file any build-id.
// So an index is used for the very file only that it was read from.
struct SourceCacheKey {
  std::string build_id;
  pi::FileIdentity file;
};

// A directory that only its owner, who runs this program, may write to; else nothing is read from
// it or written. Empty: no cache. What fails is as if there were none. Indices that were used least
// recently are removed when all together are larger than the limit.
class SourceCache {
 public:
  static constexpr uint64_t default_limit = uint64_t{1} << 30;

  void set_directory(std::string directory) { directory_ = std::move(directory); }
  void set_limit(uint64_t bytes) { limit_ = bytes; }

  std::optional<SourceIndex> load(const SourceCacheKey& key) const;
  // Makes the directory where it is missing, but not what it is in.
  void save(const SourceCacheKey& key, const SourceIndex& index) const;

 private:
  pi::UniqueFd open_directory() const;
  // Until bytes more are within the limit.
  void evict(int directory, uint64_t bytes) const;

  std::string directory_;
  uint64_t limit_ = default_limit;
};

}  // namespace a2n

#endif  // A2N_SOURCE_CACHE_H
