// SPDX-License-Identifier: MIT
// What was read from files already: a user can give one file any number of names.
#include "read_files.h"

#include <algorithm>

#include "base/crc32.h"
#include "elf_symbols.h"

namespace a2n {

ReadFiles::Contents ReadFiles::contents_of(const ElfFile* file) {
  if (!file) return {};
  const pi::FileIdentity& identity = file->identity();
  return {{identity.device, identity.inode},
          identity.size,
          identity.modified_ns,
          file->layout().build_id};
}

pi::Result<std::shared_ptr<const ModuleSymbols>> ReadFiles::read(
    const ElfFile* mapped, const ElfFile* debug, const std::vector<std::string>& search) {
  if (!mapped && !debug) return std::make_shared<const ModuleSymbols>();
  State state{contents_of(mapped), contents_of(debug), nullptr};
  std::vector<State>& states = states_[mapped ? state.mapped.inode : state.debug.inode];
  const auto known = std::find_if(states.begin(), states.end(), [&](const State& other) {
    return other.mapped == state.mapped && other.debug == state.debug;
  });
  if (known != states.end()) return known->symbols;
  if (states.size() >= max_states) return pi::Error{0, "it changes all the time; symbols not used"};
  if (debug && ++users_[state.debug.inode] > max_users)
    return pi::Error{0, debug->name() + " is the debug file of " + std::to_string(max_users) +
                            " other modules already; symbols not used"};
  ModuleSymbols symbols = read_module(mapped, debug);
  symbols.search = search;
  state.symbols = std::make_shared<const ModuleSymbols>(std::move(symbols));
  states.push_back(state);
  return state.symbols;
}

bool ReadFiles::has_symtab(const ElfFile& file) {
  const Contents contents = contents_of(&file);
  auto& states = symtabs_[contents.inode];
  for (const auto& [state, found] : states)
    if (state == contents) return found;
  if (states.size() >= max_states) return false;  // read() refuses this file
  return states.emplace_back(contents, has_symbols(file, SHT_SYMTAB)).second;
}

std::optional<uint32_t> ReadFiles::checksum(const ElfFile& file) {
  const Inode inode{file.identity().device, file.identity().inode};
  const auto known = checksums_.find(inode);
  if (known != checksums_.end()) return known->second;
  return checksums_[inode] = file_crc32(file.fd());
}

}  // namespace a2n
