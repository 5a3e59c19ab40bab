// SPDX-License-Identifier: MIT
// What was read from files already: a user can give one file any number of names.
#ifndef A2N_READ_FILES_H
#define A2N_READ_FILES_H

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "elf_file.h"
#include "module_symbols.h"
#include "pi/result.h"

namespace a2n {

// Hard links of one file, and a file that was renamed, are read once. A file that changes while it
// is analysed is read in at most max_states, and a debug file for at most max_users modules: then
// the memory and the time of all files of a run stay in proportion to their stored bytes. Not
// thread-safe.
class ReadFiles {
 public:
  static constexpr size_t max_states = 4;
  static constexpr size_t max_users = 64;

  // The symbols of a mapped file (or null), its debug file (or null), or both, as read_module();
  // search: see ModuleSymbols. The error's message is the reason why a file is not read again.
  pi::Result<std::shared_ptr<const ModuleSymbols>> read(const ElfFile* mapped, const ElfFile* debug,
                                                        const std::vector<std::string>& search);

  // Whether a file has a symbol table that names code, which is read to see that.
  bool has_symtab(const ElfFile& file);

  // The checksum that .gnu_debuglink contains, of the file's contents at the first call for it;
  // nullopt if the file cannot be read.
  std::optional<uint32_t> checksum(const ElfFile& file);

 private:
  using Inode = std::pair<dev_t, ino_t>;
  // A file's contents, as far as it can be seen without reading all of them. The time of the last
  // change of the inode is not compared: a new hard link changes it.
  struct Contents {
    Inode inode{};
    off_t size = 0;
    int64_t modified_ns = 0;
    std::string build_id;
    bool operator==(const Contents&) const = default;
  };
  struct State {
    Contents mapped, debug;
    std::shared_ptr<const ModuleSymbols> symbols;
  };
  static Contents contents_of(const ElfFile* file);

  std::map<Inode, std::vector<State>> states_;  // by the mapped file; the debug file if none is
  std::map<Inode, std::vector<std::pair<Contents, bool>>> symtabs_;
  std::map<Inode, size_t> users_;  // number of states with this debug file
  std::map<Inode, std::optional<uint32_t>> checksums_;
};

}  // namespace a2n

#endif  // A2N_READ_FILES_H
