// SPDX-License-Identifier: MIT
// Gets the names of addresses from liba2n.
#include "a2n_symbolizer.h"

#include <a2n.h>
#include <cli.h>
#include <fmt/format.h>
#include <pi/files.h>
#include <pi/jit_log.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <cstdlib>
#include <new>
#include <optional>
#include <utility>

#include "read/trace_archive.h"
#include "text/name_limit.h"
#include "text/text.h"
#include "text_file.h"
#include "thread_log.h"

namespace post {
namespace {

static_assert(A2N_STAMP_ANON == PITRACE_STAMP_ANON && A2N_STAMP_VDSO == PITRACE_STAMP_VDSO &&
              A2N_STAMP_VSYSCALL32 == PITRACE_STAMP_VSYSCALL32 &&
              A2N_STAMP_VSYSCALL64 == PITRACE_STAMP_VSYSCALL64);

pi::Status check(int rc, const std::string& what) {
  if (rc == A2N_SUCCESS) return {};
  return pi::Error{rc, fmt::format("{}: {}.", what, A2nRcToString(rc))};
}

pi::Status use_text(int (*use)(const char*, uint64_t, uint64_t), const std::string& path,
                    const FileRange& range, const char* what) {
  if (range.offset == 0) return {};
  return check(use(path.c_str(), range.offset, range.size),
               fmt::format("cannot read the kernel's {} from {}", what, path));
}

pi::Status use_running_kernel() {
  pi::Status status = check(A2nSetKallsymsFileLocation("/proc/kallsyms", 0, 0),
                            "the running kernel's symbols cannot be read from /proc/kallsyms");
  // A kernel without loadable modules has no such file.
  if (!status || ::access("/proc/modules", F_OK) != 0) return status;
  return check(A2nSetModulesFileLocation("/proc/modules", 0, 0),
               "the running kernel's modules cannot be read from /proc/modules");
}

// Files of a runtime in a temporary directory are valid on that machine only.
bool is_this_machine(const TraceInfo& info) {
  utsname here{};
  return ::uname(&here) == 0 && (info.host.empty() || info.host == here.nodename) &&
         (info.kernel.empty() || info.kernel == here.release);
}

// The trace's clock, CLOCK_MONOTONIC, minus that of files, in nanoseconds.
int64_t file_clock() {
  const auto now = [](clockid_t clock) {
    timespec time{};
    ::clock_gettime(clock, &time);
    return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
  };
  return now(CLOCK_MONOTONIC) - now(CLOCK_REALTIME);
}

// Returns the directory for cached files; "" when there is none.
std::string cache_directory() {
  if (const char* cache = ::secure_getenv("XDG_CACHE_HOME"); cache && *cache == '/')
    return std::string(cache) + "/pitrace";
  const char* home = ::secure_getenv("HOME");
  return home && *home == '/' ? std::string(home) + "/.cache/pitrace" : "";
}

// Names must not depend on the available memory: the library reports a lack of it, and nothing but
// an error may come of it.
int checked(int rc) {
  if (rc == A2N_MEMORY_ERROR) throw std::bad_alloc();
  return rc;
}

Found found_of(int rc, const SYMDATA& data) {
  if ((data.flags & A2N_FLAG_FUNCTION) != 0) return Found::function;
  switch (rc) {
    case A2N_SUCCESS:
    case A2N_FLAKY_SYMBOL:
      return Found::symbol;
    case A2N_NO_SYMBOL_FOUND:
    case A2N_NO_SYMBOLS:
      return Found::no_symbol;
    default:
      return Found::no_module;
  }
}

// Shows progress in one line of the terminal, which each call overwrites.
void show_transfer(void*, const char* path, uint64_t done, uint64_t total) {
  constexpr uint64_t mib = 1 << 20;
  if (!path)
    pi::cli::to_stderr("\r\033[K");
  else if (total != 0)
    pi::cli::to_stderr(fmt::format("\r\033[Kdebuginfod: {} of {} MiB for {}", done / mib,
                                   total / mib, printable(path)));
  else
    pi::cli::to_stderr(
        fmt::format("\r\033[Kdebuginfod: {} MiB for {}", done / mib, printable(path)));
}

// Returns nothing if the file is not such a log: the files that are read go into archives.
std::optional<std::string> read_thread_log(int fd, const std::string& name) {
  constexpr size_t largest = size_t{1} << 28;
  auto text = pi::read_text_file(fd, name, largest);
  if (!text || !pi::is_thread_log(*text)) return std::nullopt;
  return std::move(*text);
}

}  // namespace

A2nSymbolizer::A2nSymbolizer() {
  A2nInit();
}
A2nSymbolizer::~A2nSymbolizer() {
  A2nInit();
}

void A2nSymbolizer::release_symbols() {
  A2nInit();
}

pi::Status A2nSymbolizer::configure(const TraceFile& file, const std::string& path,
                                    const SymbolOptions& options, int saved_symbols) {
  pi::Status status = set_naming(options);
  if (!status) return status;
  prefix_ = log_prefix(options.log_prefix, path);
  here_ = saved_symbols < 0 && is_this_machine(file.info);
  if (here_) A2nSetFileClock(file_clock());
  report_logs_ = options.report_logs;
  for (const BuildId& build_id : file.build_ids)
    if (build_id.inode != 0)
      A2nSetFileBuildId(build_id.path.c_str(), build_id.inode, build_id.id.c_str());
    else
      A2nSetModuleBuildId(build_id.path.c_str(), build_id.id.c_str());
  if (saved_symbols < 0) return set_sources(file, path, options);
  if (options.sources_given())
    return pi::Error{-1, path +
                             " is an archive, which contains its symbols. Give the options for the "
                             "symbols (-k, -kas, -kmap, -sympath, -lmrg, -nv) when you make it."};
  return take_saved(A2nLoadTraceSymbols(saved_symbols), path);
}

pi::Status A2nSymbolizer::set_naming(const SymbolOptions& options) {
  A2nSetNoSymbolFoundAction(options.plain_no_symbol ? A2N_NSF_NSF
                            : options.section_names ? A2N_NSF_SECTION
                                                    : A2N_NSF_FUNCTION);
  A2nSetDemangleCppNamesMode(options.demangle ? 1 : 0);
  A2nSetSymbolQualityMode(options.any_symbol ? A2N_QUALITY_ANY : A2N_QUALITY_GOOD);
  A2nSetRenameDuplicateSymbolsMode(options.rename_duplicates ? 1 : 0);
  if (options.report_sources) A2nSetErrorMessageMode(A2N_MESSAGES_INFO);
  A2nSetCollapseMMIRange(options.dynamic_code_name.c_str());
  // As in Performance Inspector: without validation, all code of the log is used for the whole
  // trace.
  A2nSetJittedTimesMode(options.validate ? 1 : 0);
  A2nSetCodeGatherMode(options.code ? 1 : 0);
  A2nSetCacheDirectory(cache_directory().c_str());
  for (const auto& [module, first, last, name] : options.ranges)
    if (const pi::Status status =
            check(A2nCollapseSymbolRange(module.c_str(), first.c_str(), last.c_str(), name.c_str()),
                  fmt::format("the range {} {} {} (-a2nrng)", module, first, last));
        !status)
      return status;
  if (options.range_file.empty()) return {};
  const int rc = A2nSetRangeDescFilename(options.range_file.c_str());
  if (rc == A2N_SUCCESS) return {};
  return pi::Error{rc, fmt::format("the ranges (-a2nrfn) cannot be used: {}.", A2nGetErrorText())};
}

// The good part of a damaged file is used; the report contains a remark on the damage.
pi::Status A2nSymbolizer::take_saved(int rc, const std::string& path) {
  if (rc == A2N_SUCCESS) return {};
  if (rc != A2N_MSI_DAMAGED)
    return pi::Error{rc, fmt::format("the saved symbols of {} cannot be used: {}.", path,
                                     *A2nGetErrorText() ? A2nGetErrorText() : A2nRcToString(rc))};
  damage_ = A2nGetErrorText();
  return {};
}

pi::Status A2nSymbolizer::set_sources(const TraceFile& file, const std::string& path,
                                      const SymbolOptions& options) {
  A2nSetSymbolSearchPath(options.search_path.c_str());
  A2nUseDebuginfod(::isatty(STDERR_FILENO) == 1 ? show_transfer : nullptr, nullptr);
  A2nSetSymbolValidationMode(options.validate ? 1 : 0);
  A2nSetValidateKernelMode(options.validate ? 1 : 0);
  pi::Status status;
  if (!options.saved_symbols.empty())
    status = take_saved(A2nLoadMsiFile(options.saved_symbols.c_str()), options.saved_symbols);
  if (!status) return status;
  if (options.running_kernel) {
    status = use_running_kernel();
  } else {
    status = use_text(A2nSetKallsymsFileLocation, path, file.kallsyms, "symbols");
    if (status) status = use_text(A2nSetModulesFileLocation, path, file.modules, "modules");
  }
  if (status && !options.kernel_image.empty())
    status = check(A2nSetKernelImageName(options.kernel_image.c_str()),
                   fmt::format("the kernel image {} (-k) cannot be used", options.kernel_image));
  if (status && !options.kernel_map.empty())
    status = check(A2nSetKernelMapName(options.kernel_map.c_str()),
                   fmt::format("the kernel's map {} (-kmap) cannot be used", options.kernel_map));
  return status;
}

void A2nSymbolizer::create(uint64_t time, uint32_t pid) {
  A2nSetTime(time);
  checked(A2nCreateProcess(pid));
}

void A2nSymbolizer::fork(uint64_t time, uint32_t parent, uint32_t child) {
  A2nSetTime(time);
  checked(A2nForkProcess(parent, child));
}

void A2nSymbolizer::clone(uint64_t time, uint32_t parent, uint32_t child) {
  A2nSetTime(time);
  checked(A2nCloneProcess(parent, child));
}

void A2nSymbolizer::exec(uint64_t time, uint32_t pid) {
  A2nSetTime(time);
  checked(A2nExecProcess(pid));
}

void A2nSymbolizer::set_name(uint64_t time, uint32_t pid, std::string_view name) {
  A2nSetTime(time);
  text_ = name;
  checked(A2nSetProcessName(pid, text_.c_str()));
}

void A2nSymbolizer::release(uint32_t pid) {
  checked(A2nReleaseProcess(pid));
}

bool A2nSymbolizer::add_module(uint64_t time, const pi::ModuleEntry& module) {
  A2nSetTime(time);
  text_ = module.name;
  if (is_jit_dump(text_)) jit_dumps_[module.pid] = text_;
  return checked(A2nAddModuleEx(module.pid, module.address, module.size, text_.c_str(),
                                module.stamp, module.offset, module.inode)) == A2N_SUCCESS;
}

Lookup A2nSymbolizer::lookup(uint64_t time, uint32_t pid, uint64_t address) {
  SYMDATA data{};
  const int rc = checked(A2nGetSymbolAt(pid, address, time, &data));
  text_ = limited_name(data.sym_name ? data.sym_name : "NoSymbols");
  const Found found = found_of(rc, data);
  std::optional<uint64_t> file_address;
  uint64_t in_file = 0;
  if (has_no_symbol(found) &&
      checked(A2nGetFileAddressAt(pid, found == Found::function ? data.sym_addr : address, time,
                                  &in_file)) == A2N_SUCCESS)
    file_address = in_file;
  return {found,
          data.mod_name ? data.mod_name : "NoModule",
          text_,
          data.sym_addr,
          data.mod_addr,
          (data.flags & A2N_FLAG_MODULE_64) != 0,
          (data.flags & A2N_FLAG_MODULE_32) != 0,
          reinterpret_cast<uintptr_t>(data.method),
          file_address};
}

std::vector<SourceFrame> A2nSymbolizer::frames(uint64_t time, uint32_t pid, uint64_t address) {
  constexpr size_t deepest = 256;
  A2N_FRAME found[deepest];
  size_t count = 0;
  std::vector<SourceFrame> frames;
  frame_names_.clear();
  if (checked(A2nGetFramesAt(pid, address, time, found, deepest, &count)) != A2N_SUCCESS)
    return frames;
  for (size_t i = 0; i < std::min(count, deepest); ++i)
    frames.push_back({frame_names_.emplace_back(limited_name(found[i].name)),
                      found[i].file ? found[i].file : "", found[i].line});
  return frames;
}

Code A2nSymbolizer::code(uint64_t time, uint32_t pid, uint64_t address) {
  const unsigned char* bytes = nullptr;
  uint64_t start = 0;
  size_t length = 0;
  if (checked(A2nGetCodeAt(pid, address, time, &bytes, &start, &length)) != A2N_SUCCESS) return {};
  return {std::as_bytes(std::span(bytes, length)), start};
}

bool A2nSymbolizer::is_of_root(uint64_t time, uint32_t pid, uint64_t address) {
  uint32_t owner = 0;
  return checked(A2nGetOwnerAt(pid, address, time, &owner)) == A2N_SUCCESS && owner == 0;
}

size_t A2nSymbolizer::read_code(uint64_t time, uint32_t pid, uint64_t address,
                                std::span<std::byte> out) {
  size_t length = 0;
  checked(A2nReadCodeAt(pid, address, time, reinterpret_cast<unsigned char*>(out.data()),
                        out.size(), &length));
  return length;
}

std::string A2nSymbolizer::plt_name(uint64_t time, uint32_t pid, uint64_t address) {
  const char* const name = A2nGetPltNameAt(pid, address, time);
  return name ? name : "";
}

int A2nSymbolizer::archived_log(const LogKey& log) const {
  const auto found = archived_->find(log);
  return found == archived_->end() ? -1 : found->second.get();
}

std::map<LogKey, int> A2nSymbolizer::logs() const {
  std::map<LogKey, int> logs;
  for (const auto& [log, fd] : used_) logs[log] = archived_ ? archived_log(log) : fd.get();
  return logs;
}

void A2nSymbolizer::keep(const LogKey& log, pi::UniqueFd fd) {
  if (used_.size() >= max_archived_logs) fd.reset();
  used_.insert_or_assign(log, std::move(fd));
}

int A2nSymbolizer::load_file(const ProcessIds& process, LogKind kind, const std::string& path) {
  const LogKey log{kind, process.pid};
  const A2N_JIT_PROCESS inner{process.inner_pid, process.pid_namespace};
  const int form = kind == LogKind::code   ? A2N_JIT_LOG
                   : kind == LogKind::dump ? A2N_JIT_DUMP
                                           : A2N_JIT_PERF_MAP;
  pi::UniqueFd file;  // not for logs in archives: their paths are those of the archive
  int fd = archived_ ? archived_log(log) : -1;
  if (archived_ && fd < 0) return A2N_FILE_NOT_FOUND;
  if (!archived_) {
    if (const int rc = A2nOpenJittedMethods(process.pid, form, path.c_str(), &fd);
        rc != A2N_SUCCESS)
      return rc;
    file = pi::UniqueFd(fd);
  }
  const std::string name = archived_ ? archived_name(log) : path;
  const int rc = A2nLoadJittedMethodsFrom(process.pid, form, fd, name.c_str(), &inner);
  if (rc == A2N_SUCCESS) keep(log, std::move(file));
  return rc;
}

bool A2nSymbolizer::load_code(const ProcessIds& process, LogKind kind,
                              const std::vector<std::string>& paths, bool& refused) {
  if (used_.contains({kind, process.pid})) return true;
  for (const std::string& path : paths) {
    // Runtimes write jitdump files to any directory, but map them: few mappings name such a file.
    if (!archived_ && kind != LogKind::dump && !directories_.may_have(path)) continue;
    const int rc = checked(load_file(process, kind, path));
    if (rc == A2N_FILE_NOT_FOUND) continue;
    if (rc == A2N_SUCCESS) {
      if (report_logs_)
        log_messages_.push_back(fmt::format("process {}: {}", process.pid, printable(path)));
      return true;
    }
    refused = true;
    log_notes_.push_back(printable(A2nGetErrorText()));
  }
  return false;
}

void A2nSymbolizer::look_for_logs(const ProcessIds& process) {
  bool refused = false;
  const bool logged = load_code(process, LogKind::code,
                                jprof_logs(prefix_, pi::jit_log::jita2n_kind, process), refused);
  if (refused && !logged)
    foreign_log_pids_.insert(process.pid);
  else
    foreign_log_pids_.erase(process.pid);
  if (logged || (!here_ && !archived_)) return;
  const auto dump = jit_dumps_.find(process.pid);
  const bool dumped = dump != jit_dumps_.end() &&
                      load_code(process, LogKind::dump, jit_dumps(dump->second, process), refused);
  if (!dumped) load_code(process, LogKind::map, perf_maps(process), refused);
}

uint64_t A2nSymbolizer::next_code_change(uint64_t time, uint32_t pid) {
  return A2nGetNextCodeChange(pid, time);
}

std::vector<pi::ThreadStart> A2nSymbolizer::thread_starts(const ProcessIds& process) {
  if (foreign_log_pids_.contains(process.pid)) return {};
  const LogKey key{LogKind::threads, process.pid};
  if (archived_) {
    const auto text = read_thread_log(archived_log(key), archived_name(key));
    if (text) keep(key, pi::UniqueFd());
    return pi::parse_thread_log(text.value_or(""));
  }
  for (const std::string& path : jprof_logs(prefix_, pi::jit_log::jtnm_kind, process)) {
    if (!directories_.may_have(path)) continue;
    // A user who may write to the directory could place a link to another user's file there.
    auto file = pi::open_regular(path, pi::Links::refused);
    const auto text = file ? read_thread_log(file->fd.get(), path) : std::nullopt;
    if (!text) continue;
    keep(key, std::move(file->fd));
    return pi::parse_thread_log(*text);
  }
  return {};
}

// liba2n's number of a duplicate ("#2") and the mark of an inlined function stay as they are.
std::string A2nSymbolizer::readable(const std::string& name) const {
  const size_t end = std::min({name.find('#'), name.find(' '), name.size()});
  const std::string mangled = name.substr(0, end);
  std::string text(A2nDemangle(mangled.c_str(), nullptr, 0), '\0');
  if (text.empty()) return name;
  A2nDemangle(mangled.c_str(), text.data(), text.size() + 1);
  return printable(text) + name.substr(end);
}

std::vector<std::string> A2nSymbolizer::notes() {
  constexpr size_t max_missing = 10;
  std::vector<std::string> notes = log_notes_;
  size_t missing = 0;
  for (const uint32_t pid : expected_)
    if (!used_.contains({LogKind::code, pid}) && ++missing <= max_missing)
      notes.push_back(fmt::format(
          "process {} has compiled code, but its log is not there ({}): its methods have no names; "
          "-jdir names the directory of the logs",
          pid, printable(jprof_logs(prefix_, pi::jit_log::jita2n_kind, {pid, 0, 0}).front())));
  if (missing > max_missing)
    notes.push_back(fmt::format("and the logs of {} more processes", missing - max_missing));
  for (size_t i = 0; const char* note = A2nGetNote(i); ++i)
    if (A2nGetNoteLevel(i) == A2N_MESSAGES_WARNING) notes.push_back(printable(note));
  return notes;
}

void A2nSymbolizer::add_damage(DamageLog& damage) {
  for (size_t i = 0; const char* note = A2nGetNote(i); ++i)
    if (A2nGetNoteLevel(i) == A2N_MESSAGES_ERROR)
      damage.add_of_another_file(printable(note), A2nGetNoteBytes(i));
}

std::vector<std::string> A2nSymbolizer::sources() {
  std::vector<std::string> sources;
  for (size_t i = 0; const char* note = A2nGetNote(i); ++i)
    if (A2nGetNoteLevel(i) == A2N_MESSAGES_INFO) sources.push_back(printable(note));
  return sources;
}

}  // namespace post
