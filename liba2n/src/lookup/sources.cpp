// SPDX-License-Identifier: MIT
// Source lines of modules.
#include "sources.h"

#include <string>
#include <utility>

#include "dwarf/dwarf_index.h"
#include "elf/elf_file.h"

namespace a2n {

const SourceIndex& Sources::of(const ModuleSymbols& module) {
  const auto [known, added] = indices_.try_emplace(&module);
  if (added) known->second = read(module);
  return known->second;
}

// Reads the files that the symbols came from, if they are unchanged. Missing debug files may be
// installed later, so only a complete index is cached.
SourceIndex Sources::read(const ModuleSymbols& module) {
  for (size_t i = 0; i < module.files.size(); ++i) {
    // Check the identity: another file may have the path now.
    const auto file = ElfFile::open(module.files[i]);
    if (!file || !(file->identity() == module.identities[i])) continue;
    const SourceCacheKey key{module.build_id, file->identity()};
    if (auto cached = cache_.load(key)) return std::move(*cached);
    const auto download = [&](const std::string& build_id) {
      const auto found = debuginfod_.find(build_id, module.files.front());
      return found ? found->name() : std::string();
    };
    auto dwarf = read_dwarf(*file, {module.files, module.search, download});
    if (!dwarf) notes_.add(dwarf.error().message);
    if (!dwarf || (dwarf->index.empty() && dwarf->missing.empty())) continue;
    for (const std::string& sentence : dwarf->missing)
      notes_.add(module.files.front() + ": " + sentence);
    if (dwarf->missing.empty()) cache_.save(key, dwarf->index);
    return std::move(dwarf->index);
  }
  return {};
}

}  // namespace a2n
