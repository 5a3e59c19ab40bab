// SPDX-License-Identifier: MIT
// Indices of source lines on disk, by build-id, so that DWARF is read once and not at every run.
#ifndef A2N_SOURCE_CACHE_H
#define A2N_SOURCE_CACHE_H

#include <optional>
#include <string>

#include "source_index.h"

namespace a2n {

// A directory that only its owner, who runs this program, may write to; else nothing is read from
// it or written. Empty: no cache. What fails is as if there were none.
class SourceCache {
 public:
  void set_directory(std::string directory) { directory_ = std::move(directory); }

  std::optional<SourceIndex> load(const std::string& build_id) const;
  // Makes the directory where it is missing, but not what it lies in.
  void save(const std::string& build_id, const SourceIndex& index) const;

 private:
  std::string path(const std::string& build_id) const;
  bool is_ours() const;

  std::string directory_;
};

}  // namespace a2n

#endif  // A2N_SOURCE_CACHE_H
