// SPDX-License-Identifier: MIT
// The state of a context (settings, processes, mappings, modules, kernel) and the lookup.
#ifndef A2N_LIBRARY_H
#define A2N_LIBRARY_H

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "a2n_context.h"
#include "base/interner.h"
#include "base/notes.h"
#include "elf/code_bytes.h"
#include "elf/plt_entries.h"
#include "jit/jit_table.h"
#include "kernel.h"
#include "modules.h"
#include "process/process_table.h"
#include "sources.h"
#include "symbols/duplicate_names.h"
#include "symbols/symbol_ranges.h"

namespace a2n {

struct Settings {
  int no_symbol_action = A2N_NSF_SECTION;
  bool demangle = false;
  bool any_symbol = false;         // if no symbol contains an address, the one before it is used
  bool rename_duplicates = false;  // "name#2" for the second symbol with a name
  bool range_and_symbol = false;   // "range.symbol" instead of "range"
  bool gather_code = false;        // the bytes of JIT-compiled code are stored
  // Added to the time of a file, it is a time of the trace's clock; nullopt: not known.
  std::optional<int64_t> file_clock;
  std::string dynamic_name;  // one name for all dynamic code; empty: each has its own
};

class Library {
 public:
  Library()
      : modules_(interner_, notes_), kernel_(notes_), sources_(notes_, modules_.debuginfod()) {}

  Settings& settings() { return settings_; }
  ProcessTable& processes() { return processes_; }
  Modules& modules() { return modules_; }
  Kernel& kernel() { return kernel_; }
  SymbolRanges& ranges() { return ranges_; }
  JitTable& jit() { return jit_; }
  Sources& sources() { return sources_; }
  Notes& notes() { return notes_; }
  bool msi_loaded() const { return msi_loaded_; }
  void set_msi_loaded() { msi_loaded_ = true; }
  const char* intern(const char* text) { return interner_.add(text); }

  // offset 0: zero or not known. Returns an A2N_ code.
  int add_module(uint64_t time, uint32_t pid, uint64_t base, uint64_t length, const char* name,
                 uint32_t stamp, uint64_t offset, uint64_t inode);
  int lookup(uint32_t pid, uint64_t address, uint64_t time, SYMDATA& data);
  // Opens the file at path with the checks of owner and links that its form requires.
  pi::Result<pi::UniqueFd> open_jitted(uint32_t pid, int form, const std::string& path);
  // Reads a file that a process's runtime wrote; form is A2N_JIT_LOG, _DUMP or _PERF_MAP.
  pi::Status load_jitted(uint32_t pid, int form, const std::string& path,
                         const A2N_JIT_PROCESS& process);
  pi::Status load_jitted(uint32_t pid, int form, int fd, const std::string& name,
                         const A2N_JIT_PROCESS& process);
  // The functions at an address, innermost first; empty if there is no symbol.
  std::vector<SourceFrame> frames(uint32_t pid, uint64_t address, uint64_t time);

  // The virtual address in the file that is mapped at an address; nothing if no file was read.
  std::optional<uint64_t> file_address(uint32_t pid, uint64_t address, uint64_t time);
  // The symbol at a virtual address in a file, of which nothing needs to be mapped.
  int file_symbol(const char* path, uint64_t inode, uint64_t file_address, SYMDATA& data);

  // The bytes of the symbol at an address; empty if they are not available.
  struct Code {
    std::string_view bytes;
    uint64_t start = 0;
  };
  Code code(uint32_t pid, uint64_t address, uint64_t time);

  // The function to which the entry of a procedure linkage table at an address leads, with its
  // name as in the file; null if there is no such entry or the file is not there.
  const char* plt_name(uint32_t pid, uint64_t address, uint64_t time);
  std::optional<uint32_t> owner(uint32_t pid, uint64_t address, uint64_t time);

  // Copies bytes of code from an address on; returns how many, 0 if they are not available.
  size_t read_code(uint32_t pid, uint64_t address, uint64_t time, char* out, size_t room);

  // Reads the symbols of every module that was added.
  void gather();
  // The path of the index-th file that symbols were read from, or null.
  const char* symbol_file(size_t index);
  // Opens that file; ENOENT if it was replaced or changed after its symbols were read.
  // As Modules::open().
  pi::Result<pi::UniqueFd> open_file(const char* path, uint64_t inode);
  pi::Result<pi::UniqueFd> open_symbol_file(size_t index);

 private:
  struct Mapping {
    uint64_t base;
    uint64_t length;
    uint64_t offset;
    uint64_t time;  // when it was mapped
    Module* module;
    bool resolved;             // file and bias are valid
    const LoadedModule* file;  // null if there is no usable file
    std::optional<uint64_t> bias;
  };

  std::optional<Piece> piece_at(const Space* space, uint64_t address, uint64_t time) const;
  void resolve(Mapping& mapping);
  // The JIT-compiled method at an address, or null. A file mapping replaces methods reported before
  // it and all methods without timestamps.
  const JitMethod* jitted(const Space* space, const std::optional<Piece>& piece, uint64_t address,
                          uint64_t time, JitTrust trust);
  int lookup_jitted(const JitMethod& method, JitTrust trust, SYMDATA& data);
  int lookup_user(const Piece& piece, uint64_t address, SYMDATA& data);
  // bias: of the addresses in data.
  int lookup_file(const ModuleSymbols& content, uint64_t vaddr, uint64_t bias, SYMDATA& data);
  int lookup_kernel(uint64_t address, SYMDATA& data);
  int lookup_vsyscall(const char* module, const char* symbol, const Piece& page, SYMDATA& data);
  int symbol_found(const TablePart& part, const Symbol& symbol, uint64_t address, uint64_t bias,
                   SYMDATA& data);
  int no_symbol(int rc, SYMDATA& data);
  int no_section_symbol(int rc, const Section* section, uint64_t bias, SYMDATA& data);
  void in_function(const FunctionRange& function, uint64_t bias, SYMDATA& data);
  int no_module(SYMDATA& data);
  const char* readable(const TablePart& part, const Symbol& symbol);
  std::vector<SourceFrame> mapped_frames(const Piece& piece, uint64_t address, const char* symbol);
  const char* readable(const char* name);
  const std::vector<PltEntry>& plt_entries(const ModuleSymbols& content);
  std::string function_code(const Mapping& mapping, uint64_t vaddr, uint64_t length);

  Settings settings_;
  Notes notes_;
  Interner interner_;
  ProcessTable processes_;
  Modules modules_;
  Kernel kernel_;
  SymbolRanges ranges_;
  DuplicateNames duplicates_;
  JitTable jit_;
  Sources sources_;
  std::deque<Mapping> mappings_;  // indexed by the tags of pieces
  // Readable names by symbol. The keys stay valid because a loaded table never moves.
  std::unordered_map<const Symbol*, const char*> names_;
  std::unordered_map<const Section*, const char*> section_names_;
  std::unordered_map<const FunctionRange*, const char*> function_names_;
  std::unordered_map<const char*, const char*> readable_;  // of inlined functions, by mangled name
  // Bytes of symbols returned by code(), by module and virtual address.
  std::map<std::pair<const ModuleSymbols*, uint64_t>, std::string> code_;
  std::unordered_map<const ModuleSymbols*, uint64_t> code_sizes_;  // total size of code_ by module
  CodePieces pieces_;
  std::vector<const char*> files_;  // files that symbols were read from; see symbol_file()
  bool msi_loaded_ = false;
  std::unordered_map<const ModuleSymbols*, std::vector<PltEntry>> plt_entries_;
};

}  // namespace a2n

#endif  // A2N_LIBRARY_H
