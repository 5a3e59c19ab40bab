// SPDX-License-Identifier: MIT
// The state of a context (settings, processes, mappings, modules, kernel) and the lookup.
#include "library.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <iterator>
#include <set>
#include <utility>

#include "base/budgets.h"
#include "base/last_at.h"
#include "base/running_process.h"
#include "base/safe_file.h"
#include "demangle/demangle.h"
#include "elf/vdso.h"
#include "jit/jit_dump.h"
#include "jit/jit_log.h"
#include "jit/perf_map.h"
#include "pi/files.h"

namespace a2n {
namespace {

constexpr uint64_t kernel_half = 0xffff800000000000;
constexpr Piece vsyscall_page{0xffffffffff600000, 0xffffffffff601000, 0};
constexpr uint32_t system_pid = 0;

bool in_vsyscall_page(uint64_t address) {
  return address >= vsyscall_page.begin && address < vsyscall_page.end;
}

// "libx.so" of "/usr/lib/libx.so (deleted)".
std::string_view file_name(std::string_view path) {
  constexpr std::string_view deleted = " (deleted)";
  if (path.ends_with(deleted)) path.remove_suffix(deleted.size());
  return path.substr(path.rfind('/') + 1);
}

// The user who runs the process may own a file about its code. Only root may use other users'
// files; for other callers, and when the process has ended, it is nullopt.
std::optional<uint32_t> jit_file_owner(uint32_t pid, const ProcessTable::Birth& birth) {
  struct stat status {};
  if (::geteuid() != 0 || ::stat(("/proc/" + std::to_string(pid)).c_str(), &status) != 0 ||
      !runs_since(pid, birth.born != 0 ? birth.born : birth.seen))
    return std::nullopt;
  return status.st_uid;
}

}  // namespace

int Library::add_module(uint64_t time, uint32_t pid, uint64_t base, uint64_t length,
                        const char* name, uint32_t stamp, uint64_t offset, uint64_t inode) {
  if (!name || !*name) return A2N_INVALID_ARGUMENT;
  if (length == 0 || length > UINT64_MAX - base) return A2N_ADD_MODULE_ERROR;
  if (mappings_.size() >= UINT32_MAX) return A2N_MEMORY_ERROR;
  Module* module = modules_.get(name, stamp, inode);
  module->add_mapping({pid, base, base + length, time});
  // Ignore repeated reports to save memory: a snapshot repeats mappings that events reported.
  if (const auto piece = processes_.newest(pid, base);
      piece && piece->begin == base && piece->end == base + length) {
    const Mapping& old = mappings_[piece->tag];
    if (old.module == module && old.offset + (base - old.base) == offset) return A2N_SUCCESS;
  }
  const Mapping mapping{base, length, offset, time, module, false, nullptr, std::nullopt};
  uint32_t tag = 0;
  if (const auto unused = processes_.take_unused_tag()) {
    tag = *unused;
    mappings_[tag] = mapping;
  } else {
    tag = static_cast<uint32_t>(mappings_.size());
    mappings_.push_back(mapping);
  }
  processes_.add(pid, base, base + length, tag, time);
  return A2N_SUCCESS;
}

std::optional<Piece> Library::piece_at(const Space* space, uint64_t address, uint64_t time) const {
  if (!space) return std::nullopt;
  if (auto piece = space->map.find(address, time)) return piece;
  // Mappings that all processes have may be reported once, for pid 0.
  const Space* system = processes_.find(system_pid, time);
  return system && system != space ? system->map.find(address, time) : std::nullopt;
}

int Library::lookup(uint32_t pid, uint64_t address, uint64_t time, SYMDATA& data) {
  data = {};
  data.owning_pid = pid;
  data.owning_pid_name = processes_.name(pid, time);
  const Space* space = processes_.find(pid, time);
  if (space && space->owner != pid) {
    data.owning_pid = space->owner;
    // After an exec the owner has another image and another name: keep the name of pid.
    if (processes_.find(space->owner, time) == space) {
      data.owning_pid_name = processes_.name(space->owner, time);
    }
  }
  if (in_vsyscall_page(address)) {
    return lookup_vsyscall("[vsyscall]", "<vsyscall-64>", vsyscall_page, data);
  }
  if (address >= kernel_half) return lookup_kernel(address, data);
  const auto piece = piece_at(space, address, time);
  for (const JitTrust trust : {JitTrust::timed, JitTrust::timeless})
    if (const JitMethod* method = jitted(space, piece, address, time, trust))
      return lookup_jitted(*method, trust, data);
  return piece ? lookup_user(*piece, address, data) : no_module(data);
}

const JitMethod* Library::jitted(const Space* space, const std::optional<Piece>& piece,
                                 uint64_t address, uint64_t time, JitTrust trust) {
  const JitMethod* method = jit_.find(space, address, time, trust);
  if (!method || !piece) return method;
  const Mapping& mapping = mappings_[piece->tag];
  // Runtimes that map code twice, writable and executable, use a memfd: it contains the methods.
  const Module& module = *mapping.module;
  if (module.kind != ModuleKind::file || std::string_view(module.name).starts_with("/memfd:"))
    return method;
  return trust == JitTrust::timed && method->time >= mapping.time ? method : nullptr;
}

int Library::lookup_jitted(const JitMethod& method, JitTrust trust, SYMDATA& data) {
  const bool renamed = method.dynamic && !settings_.dynamic_name.empty();
  data.flags |= A2N_FLAG_JITTED | (method.dynamic ? A2N_FLAG_MMI : 0) |
                (trust == JitTrust::timeless ? A2N_FLAG_TIMELESS : 0);
  data.mod_name = method.dynamic ? "GENERATED_CODE" : "JITCODE";
  data.sym_name = renamed ? interner_.add(settings_.dynamic_name) : method.name;
  data.mod_addr = data.sym_addr = method.address;
  data.mod_length = data.sym_length = method.size;
  data.method = &method;
  return A2N_SUCCESS;
}

pi::Status Library::load_jitted(uint32_t pid, int form, const std::string& path,
                                const A2N_JIT_PROCESS& process) {
  const auto fd = open_jitted(pid, form, path);
  if (!fd) return fd.error();
  return load_jitted(pid, form, fd->get(), path, process);
}

pi::Status Library::load_jitted(uint32_t pid, int form, int fd, const std::string& name,
                                const A2N_JIT_PROCESS& process) {
  if (::lseek(fd, 0, SEEK_SET) != 0)
    return pi::Error{errno, name + ": it cannot be read from its beginning"};
  JitCode code;
  const auto birth = processes_.birth(pid);
  const uint32_t namespace_pid = process.inner_pid != 0 ? process.inner_pid : pid;
  pi::Status status;
  if (form == A2N_JIT_LOG)
    status = read_jit_log(fd, name, {namespace_pid, process.pid_namespace, birth.born, birth.seen},
                          settings_.gather_code, interner_, notes_, code);
  else if (form == A2N_JIT_DUMP)
    status = read_jit_dump(fd, name, namespace_pid, settings_.gather_code, interner_, notes_, code);
  else
    status = read_perf_map(fd, name, interner_, notes_, code);
  if (status && code.beyond_limit() != 0)
    notes_.add(name + ": only the first " + std::to_string(code.methods()) + " methods are used; " +
               std::to_string(code.beyond_limit()) + " more have no names");
  struct stat facts {};
  if (form == A2N_JIT_PERF_MAP && settings_.file_clock && ::fstat(fd, &facts) == 0)
    code.set_written(facts.st_mtim.tv_sec * 1'000'000'000 + facts.st_mtim.tv_nsec +
                     *settings_.file_clock);
  if (status) jit_.add(pid, std::move(code));
  return status;
}

std::vector<SourceFrame> Library::frames(uint32_t pid, uint64_t address, uint64_t time) {
  const Space* space = processes_.find(pid, time);
  const auto piece = piece_at(space, address, time);
  if (const JitMethod* method = jitted(space, piece, address, time, JitTrust::timed))
    return method->frames_at(static_cast<uint32_t>(address - method->address));
  SYMDATA data;
  const int rc = lookup(pid, address, time, data);
  if (rc != A2N_SUCCESS && rc != A2N_FLAKY_SYMBOL) return {};
  const bool mapped = (data.flags & (A2N_FLAG_KERNEL | A2N_FLAG_JITTED)) == 0 && piece;
  return mapped ? mapped_frames(*piece, address, data.sym_name)
                : std::vector<SourceFrame>{{data.sym_name, nullptr, 0}};
}

std::vector<SourceFrame> Library::mapped_frames(const Piece& piece, uint64_t address,
                                                const char* symbol) {
  const Mapping& mapping = mappings_[piece.tag];
  if (!mapping.file || !mapping.bias) return {{symbol, nullptr, 0}};
  const SourceIndex& index = sources_.of(*mapping.file->content);
  if (index.empty()) return {{symbol, nullptr, 0}};
  std::vector<SourceFrame> frames;
  for (const IndexedFrame& frame : index.at(address - *mapping.bias))
    frames.push_back({frame.name ? readable(frame.name) : symbol,
                      *frame.file ? frame.file : nullptr, frame.line});
  return frames;
}

Library::Code Library::code(uint32_t pid, uint64_t address, uint64_t time) {
  const Space* space = processes_.find(pid, time);
  const auto piece = piece_at(space, address, time);
  if (const JitMethod* method = jitted(space, piece, address, time, JitTrust::timed))
    return {method->bytes(), method->address};
  SYMDATA data;
  if (!piece) return {};
  const int rc = lookup(pid, address, time, data);
  const bool has_bounds = rc == A2N_SUCCESS || (data.flags & A2N_FLAG_FUNCTION) != 0;
  if (!has_bounds || data.method || (data.flags & A2N_FLAG_KERNEL) != 0) return {};
  const Mapping& mapping = mappings_[piece->tag];
  if (!mapping.file || !mapping.bias) return {};
  const ModuleSymbols& content = *mapping.file->content;
  const uint64_t vaddr = data.sym_addr - *mapping.bias;
  const auto [known, added] = code_.try_emplace({&content, vaddr});
  if (added) known->second = function_code(mapping, vaddr, data.sym_length);
  return {known->second, data.sym_addr};
}

// Overlapping functions are copied separately, so the total size is limited.
std::string Library::function_code(const Mapping& mapping, uint64_t vaddr, uint64_t length) {
  const ModuleSymbols& content = *mapping.file->content;
  uint64_t& size = code_sizes_[&content];
  const uint64_t limit =
      budgets::function_code.of(content.image ? content.image->size() : content.code_bytes);
  if (size > limit) return {};
  std::string code = a2n::read_code(content, vaddr, length);
  size += code.size();
  if (size <= limit) return code;
  notes_.add(std::string(mapping.module->name) + ": its functions overlap and have more than " +
             std::to_string(limit) + " bytes; the code of some is not shown");
  return {};
}

size_t Library::read_code(uint32_t pid, uint64_t address, uint64_t time, char* out, size_t room) {
  if (address >= kernel_half && !in_vsyscall_page(address))
    return kernel_.read_code(address, out, room);
  const Space* space = processes_.find(pid, time);
  const auto piece = piece_at(space, address, time);
  if (const JitMethod* method = jitted(space, piece, address, time, JitTrust::timed)) {
    const uint64_t at = address - method->address;
    const std::string_view bytes = method->bytes();
    return at < bytes.size() ? bytes.copy(out, room, at) : 0;
  }
  if (!piece) return 0;
  Mapping& mapping = mappings_[piece->tag];
  if (!mapping.resolved) resolve(mapping);
  if (!mapping.file || !mapping.bias) return 0;
  const size_t mapped = static_cast<size_t>(std::min<uint64_t>(room, piece->end - address));
  return pieces_.read(*mapping.file->content, address - *mapping.bias, out, mapped);
}

// Read from the file again, so that only those who ask pay for it.
const std::vector<PltEntry>& Library::plt_entries(const ModuleSymbols& content) {
  const auto [known, added] = plt_entries_.try_emplace(&content);
  if (!added || !content.exact_offsets || content.files.empty()) return known->second;
  const auto file = ElfFile::open(content.files.front());
  // Another file may have the path now.
  if (file && file->identity() == content.identities.front())
    known->second = read_plt_entries(*file);
  return known->second;
}

const char* Library::plt_name(uint32_t pid, uint64_t address, uint64_t time) {
  const auto piece = piece_at(processes_.find(pid, time), address, time);
  if (!piece) return nullptr;
  Mapping& mapping = mappings_[piece->tag];
  if (!mapping.resolved) resolve(mapping);
  if (!mapping.file || !mapping.bias) return nullptr;
  const ModuleSymbols& content = *mapping.file->content;
  const uint64_t vaddr = address - *mapping.bias;
  const PltEntry* const entry = last_at(plt_entries(content), vaddr, &PltEntry::start);
  if (!entry || !entry->contains(vaddr)) return nullptr;
  if (!entry->name.empty()) return interner_.add(entry->name);
  const Symbol* const resolver = content.symbols.find(entry->resolver);
  return resolver ? interner_.add(content.symbols.name(*resolver)) : nullptr;
}

std::optional<uint64_t> Library::file_address(uint32_t pid, uint64_t address, uint64_t time) {
  const Space* space = processes_.find(pid, time);
  const auto piece = piece_at(space, address, time);
  if (!piece || jitted(space, piece, address, time, JitTrust::timed)) return {};
  Mapping& mapping = mappings_[piece->tag];
  if (!mapping.resolved) resolve(mapping);
  const ModuleKind kind = mapping.module->kind;
  const bool has_addresses = kind == ModuleKind::file || kind == ModuleKind::vdso;
  if (!has_addresses || !mapping.file || !mapping.bias) return {};
  return address - *mapping.bias;
}

int Library::file_symbol(const char* path, uint64_t inode, uint64_t file_address, SYMDATA& data) {
  data = {};
  const Module& module = *modules_.get(path, 0, inode);
  if (module.kind != ModuleKind::file) return no_module(data);
  data.mod_name = module.name;
  const LoadedModule* const file = modules_.load(module, 0, 0);
  if (!file) return no_symbol(A2N_NO_SYMBOLS, data);
  data.flags |= file->content->is_64 ? A2N_FLAG_MODULE_64 : A2N_FLAG_MODULE_32;
  return lookup_file(*file->content, file_address, 0, data);
}

std::optional<uint32_t> Library::owner(uint32_t pid, uint64_t address, uint64_t time) {
  const Space* space = processes_.find(pid, time);
  const auto piece = piece_at(space, address, time);
  if (!piece || jitted(space, piece, address, time, JitTrust::timed)) return {};
  Mapping& mapping = mappings_[piece->tag];
  if (!mapping.resolved) resolve(mapping);
  return mapping.file ? mapping.file->content->owner : std::nullopt;
}

const char* Library::readable(const char* name) {
  if (!settings_.demangle) return name;
  const char*& known = readable_[name];
  if (known) return known;
  const auto text = demangle(name);
  return known = text ? interner_.add(*text) : name;
}

void Library::resolve(Mapping& mapping) {
  mapping.file = modules_.load(*mapping.module, mapping.base, mapping.length);
  if (mapping.file) {
    mapping.bias = mapping.file->content->bias(mapping.base, mapping.length, mapping.offset);
  }
  mapping.resolved = true;
}

int Library::lookup_user(const Piece& piece, uint64_t address, SYMDATA& data) {
  Mapping& mapping = mappings_[piece.tag];
  const Module& module = *mapping.module;
  if (module.kind == ModuleKind::vsyscall_64) {
    return lookup_vsyscall(module.name, "<vsyscall-64>", piece, data);
  }
  if (module.kind == ModuleKind::vsyscall_32) {
    return lookup_vsyscall(module.name, "<vsyscall-32>", piece, data);
  }
  data.mod_name = module.name;
  data.mod_addr = piece.begin;
  data.mod_length = piece.end - piece.begin;
  if (!mapping.resolved) resolve(mapping);
  if (!mapping.file) return no_symbol(A2N_NO_SYMBOLS, data);
  const ModuleSymbols& content = *mapping.file->content;
  data.flags |= content.is_64 ? A2N_FLAG_MODULE_64 : A2N_FLAG_MODULE_32;
  if (!mapping.bias)
    return no_symbol(content.symbols.empty() ? A2N_NO_SYMBOLS : A2N_NO_SYMBOL_FOUND, data);
  return lookup_file(content, address - *mapping.bias, *mapping.bias, data);
}

int Library::lookup_file(const ModuleSymbols& content, uint64_t vaddr, uint64_t bias,
                         SYMDATA& data) {
  const int missing = content.symbols.empty() ? A2N_NO_SYMBOLS : A2N_NO_SYMBOL_FOUND;
  const Section* section = content.section(vaddr);
  if (section && section->plt) {
    data.sym_name = "<plt>";
    data.sym_addr = section->range.begin + bias;
    data.sym_length = section->range.end - section->range.begin;
    return A2N_SUCCESS;
  }
  const Symbol* symbol = content.symbols.find(vaddr);
  const FunctionRange* function =
      settings_.no_symbol_action == A2N_NSF_FUNCTION ? content.function(vaddr) : nullptr;
  // An export without a size may belong to the function before.
  if (symbol && function && content.exports_only && symbol->size_guessed &&
      !function->contains(symbol->start))
    symbol = nullptr;
  const bool covered = symbol != nullptr;
  if (!symbol && settings_.any_symbol) {
    // Use only a symbol of the same section: other sections contain other code.
    symbol = content.symbols.before(vaddr);
    if (symbol && content.section(symbol->start) != section) symbol = nullptr;
  }
  if (!symbol && function) {
    in_function(*function, bias, data);
    return missing;
  }
  if (!symbol) return no_section_symbol(missing, section, bias, data);
  if (content.exports_only) data.flags |= A2N_FLAG_EXPORTS;
  const int rc = symbol_found({&content.symbols}, *symbol, vaddr, bias, data);
  const bool doubtful = !covered || (content.exports_only && symbol->size_guessed);
  return doubtful ? A2N_FLAKY_SYMBOL : rc;
}

int Library::lookup_kernel(uint64_t address, SYMDATA& data) {
  data.flags = A2N_FLAG_KERNEL;
  const Kernel::Found found = kernel_.find(address);
  if (!found.module) return no_module(data);
  data.mod_name = interner_.add(found.module->name);
  data.mod_addr = found.module->range.begin;
  data.mod_length = found.module->range.end - found.module->range.begin;
  if (!found.symbol) return no_symbol(found.symbols ? A2N_NO_SYMBOL_FOUND : A2N_NO_SYMBOLS, data);
  const TablePart part =
      TablePart::of(*found.table, kernel_.modules_of(found.table), *found.symbol);
  return symbol_found(part, *found.symbol, address - found.shift, found.shift, data);
}

int Library::lookup_vsyscall(const char* module, const char* symbol, const Piece& page,
                             SYMDATA& data) {
  data.mod_name = interner_.add(module);
  data.sym_name = interner_.add(symbol);
  data.mod_addr = data.sym_addr = page.begin;
  data.mod_length = data.sym_length = page.end - page.begin;
  return A2N_SUCCESS;
}

int Library::symbol_found(const TablePart& part, const Symbol& symbol, uint64_t address,
                          uint64_t bias, SYMDATA& data) {
  data.sym_name = readable(part, symbol);
  data.sym_addr = symbol.start + bias;
  data.sym_length = symbol.size;
  if (ranges_.empty()) return A2N_SUCCESS;
  const SymbolRange* range = ranges_.find(data.mod_name, part, address, notes_);
  if (!range) return A2N_SUCCESS;
  data.flags |= A2N_FLAG_RANGE;
  if (settings_.range_and_symbol) {
    data.sym_name = interner_.add(range->name + "." + data.sym_name);
    return A2N_SUCCESS;
  }
  data.sym_name = interner_.add(range->name);
  data.sym_addr = range->addresses.begin + bias;
  data.sym_length = range->addresses.end - range->addresses.begin;
  return A2N_SUCCESS;
}

int Library::no_symbol(int rc, SYMDATA& data) {
  data.sym_addr = data.mod_addr;
  data.sym_length = data.mod_length;
  if (settings_.no_symbol_action == A2N_NSF_NULL) return rc;
  data.sym_name = rc == A2N_NO_SYMBOL_FOUND ? "NoSymbolFound" : "NoSymbols";
  return rc;
}

int Library::no_section_symbol(int rc, const Section* section, uint64_t bias, SYMDATA& data) {
  if (settings_.no_symbol_action < A2N_NSF_SECTION || !section || section->name.empty()) {
    return no_symbol(rc, data);
  }
  const char*& name = section_names_[section];
  if (!name) name = interner_.add("<<" + section->name + ">>");
  data.sym_name = name;
  data.sym_addr = section->range.begin + bias;
  data.sym_length = section->range.end - section->range.begin;
  return rc;
}

// "[libx.so+0x1234]", "[vdso+0x780]": the last component of the path, and where the function begins
// in the file.
void Library::in_function(const FunctionRange& function, uint64_t bias, SYMDATA& data) {
  const char*& name = function_names_[&function];
  if (!name) {
    std::string_view file = file_name(data.mod_name);
    if (file == vdso_name) file = file.substr(1, file.size() - 2);
    char start[17];
    const auto end = std::to_chars(start, std::end(start), function.start, 16).ptr;
    name = interner_.add("[" + std::string(file) + "+0x" + std::string(start, end) + "]");
  }
  data.sym_name = name;
  data.sym_addr = function.start + bias;
  data.sym_length = function.size;
  data.flags |= A2N_FLAG_FUNCTION;
}

int Library::no_module(SYMDATA& data) {
  data.mod_name = "NoModule";
  if (settings_.no_symbol_action != A2N_NSF_NULL) data.sym_name = "NoSymbols";
  return A2N_NO_MODULE;
}

const char* Library::readable(const TablePart& part, const Symbol& symbol) {
  const char*& known = names_[&symbol];
  if (known) return known;
  std::string name = part.table->name(symbol);
  if (settings_.demangle) {
    if (auto text = demangle(name.c_str())) name = std::move(*text);
  }
  if (settings_.rename_duplicates) {
    const uint32_t ordinal = duplicates_.ordinal(part, symbol);
    if (ordinal > 1) name += "#" + std::to_string(ordinal);
  }
  return known = interner_.add(name);
}

pi::Result<pi::UniqueFd> Library::open_file(const char* path, uint64_t inode) {
  return modules_.open(*modules_.get(path, 0, inode));
}

pi::Result<pi::UniqueFd> Library::open_symbol_file(size_t index) {
  const char* const path = symbol_file(index);
  if (!path) return pi::Error{EINVAL, "there are fewer files"};
  auto file = pi::open_regular(path);
  if (!file) return pi::Error{ENOENT, std::string(path) + ": " + file.error().message};
  const auto identity = pi::identity_of(file->status);
  for (const SavedModule& module : modules_.loaded())
    for (size_t i = 0; i < module.content->identities.size(); ++i)
      if (module.content->files[i] == path && module.content->identities[i] == identity)
        return std::move(file->fd);
  return pi::Error{ENOENT, std::string(path) +
                               ": it was replaced or changed after its symbols "
                               "had been read"};
}

pi::Result<pi::UniqueFd> Library::open_jitted(uint32_t pid, int form, const std::string& path) {
  // Dumps and maps are in directories where any user may create files, so their owner is checked. A
  // log must not be a symbolic link, which could lead to another user's file. The path of a dump,
  // which the kernel has reported, has none in its directories either.
  auto file =
      form == A2N_JIT_LOG
          ? a2n::open_regular(path, pi::Links::refused)
          : a2n::open_trusted(path, jit_file_owner(pid, processes_.birth(pid)),
                              form == A2N_JIT_DUMP ? pi::Links::nowhere : pi::Links::refused);
  if (!file) return file.error();
  return std::move(file->fd);
}

const char* Library::symbol_file(size_t index) {
  if (files_.empty() || index >= files_.size()) {
    files_.clear();
    std::set<std::string> paths;
    for (const SavedModule& module : modules_.loaded())
      paths.insert(module.content->files.begin(), module.content->files.end());
    for (const std::string& path : paths) files_.push_back(interner_.add(path));
  }
  return index < files_.size() ? files_[index] : nullptr;
}

void Library::gather() {
  for (Mapping& mapping : mappings_)
    if (!mapping.resolved) resolve(mapping);
}

}  // namespace a2n
