// SPDX-License-Identifier: MIT
// A cache of source line indices on disk, so that each program run need not read DWARF again.
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

// Identifies an index. The build-id alone is not sufficient, because any user can create a file
// with any build-id. So an index is used only for the same file that it was read from.
struct SourceCacheKey {
  std::string build_id;
  pi::FileIdentity file;
};

// The directory must belong to the user who runs this program and be writable only by its owner;
// otherwise it is not used. Empty: no cache. Errors are ignored, as if there were no cache. When
// the total size exceeds the limit, the least recently used indices are removed.
class SourceCache {
 public:
  static constexpr uint64_t default_limit = uint64_t{1} << 30;

  void set_directory(std::string directory) { directory_ = std::move(directory); }
  void set_limit(uint64_t bytes) { limit_ = bytes; }

  std::optional<SourceIndex> load(const SourceCacheKey& key) const;
  // Creates the directory if it is missing, but not its parents.
  void save(const SourceCacheKey& key, const SourceIndex& index) const;

 private:
  pi::UniqueFd open_directory() const;
  // Removes indices until bytes more fit into the limit.
  void evict(int directory, uint64_t bytes) const;

  std::string directory_;
  uint64_t limit_ = default_limit;
};

}  // namespace a2n

#endif  // A2N_SOURCE_CACHE_H
