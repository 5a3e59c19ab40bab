// SPDX-License-Identifier: MIT
// Names from liba2n.
#include "a2n_symbolizer.h"

#include <a2n.h>
#include <fmt/format.h>
#include <unistd.h>

#include "text.h"

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
               fmt::format("the kernel's {} cannot be taken from {}", what, path));
}

pi::Status use_running_kernel() {
  pi::Status status = check(A2nSetKallsymsFileLocation("/proc/kallsyms", 0, 0),
                            "the running kernel's symbols cannot be read from /proc/kallsyms");
  // A kernel without loadable modules has no such file.
  if (!status || ::access("/proc/modules", F_OK) != 0) return status;
  return check(A2nSetModulesFileLocation("/proc/modules", 0, 0),
               "the running kernel's modules cannot be read from /proc/modules");
}

Found found_of(int rc) {
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

}  // namespace

A2nSymbolizer::A2nSymbolizer() {
  A2nInit();
}
A2nSymbolizer::~A2nSymbolizer() {
  A2nInit();
}

pi::Status A2nSymbolizer::configure(const TraceFile& file, const std::string& path,
                                    const SymbolOptions& options, int saved_symbols) {
  pi::Status status = set_naming(options);
  if (!status) return status;
  for (const BuildId& build_id : file.build_ids)
    if (build_id.inode != 0)
      A2nSetFileBuildId(build_id.path.c_str(), build_id.inode, build_id.id.c_str());
    else
      A2nSetModuleBuildId(build_id.path.c_str(), build_id.id.c_str());
  if (saved_symbols < 0) return set_sources(file, path, options);
  if (options.sources_given())
    return pi::Error{-1, path +
                             " is an archive and has its symbols with it. Where they come from "
                             "(-k, -kas, -kmap, -sympath, -lmrg, -nv) is told when it is made."};
  return take_saved(A2nLoadTraceSymbols(saved_symbols), path);
}

pi::Status A2nSymbolizer::set_naming(const SymbolOptions& options) {
  A2nSetNoSymbolFoundAction(options.plain_no_symbol ? A2N_NSF_NSF : A2N_NSF_SECTION);
  A2nSetDemangleCppNamesMode(options.demangle ? 1 : 0);
  A2nSetSymbolQualityMode(options.any_symbol ? A2N_QUALITY_ANY : A2N_QUALITY_GOOD);
  A2nSetRenameDuplicateSymbolsMode(options.rename_duplicates ? 1 : 0);
  if (options.tell_sources) A2nSetErrorMessageMode(A2N_MESSAGES_INFO);
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

// What is good of a damaged file is used; the report must not look as if all were well.
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
  A2nCreateProcess(pid);
}

void A2nSymbolizer::fork(uint64_t time, uint32_t parent, uint32_t child) {
  A2nSetTime(time);
  A2nForkProcess(parent, child);
}

void A2nSymbolizer::clone(uint64_t time, uint32_t parent, uint32_t child) {
  A2nSetTime(time);
  A2nCloneProcess(parent, child);
}

void A2nSymbolizer::exec(uint64_t time, uint32_t pid) {
  A2nSetTime(time);
  A2nExecProcess(pid);
}

void A2nSymbolizer::set_name(uint64_t time, uint32_t pid, std::string_view name) {
  A2nSetTime(time);
  text_ = name;
  A2nSetProcessName(pid, text_.c_str());
}

bool A2nSymbolizer::add_module(uint64_t time, const pi::ModuleEntry& module) {
  A2nSetTime(time);
  text_ = module.name;
  return A2nAddModuleEx(module.pid, module.address, module.size, text_.c_str(), module.stamp,
                        module.offset, module.inode) == A2N_SUCCESS;
}

Lookup A2nSymbolizer::lookup(uint64_t time, uint32_t pid, uint64_t address) {
  SYMDATA data{};
  const int rc = A2nGetSymbolAt(pid, address, time, &data);
  return {found_of(rc), data.mod_name ? data.mod_name : "NoModule",
          data.sym_name ? data.sym_name : "NoSymbols", data.sym_addr,
          (data.flags & A2N_FLAG_MODULE_64) != 0};
}

std::vector<std::string> A2nSymbolizer::notes() {
  std::vector<std::string> notes;
  for (size_t i = 0; const char* note = A2nGetNote(i); ++i)
    if (A2nGetNoteLevel(i) <= A2N_MESSAGES_WARNING) notes.push_back(printable(note));
  return notes;
}

std::vector<std::string> A2nSymbolizer::sources() {
  std::vector<std::string> sources;
  for (size_t i = 0; const char* note = A2nGetNote(i); ++i)
    if (A2nGetNoteLevel(i) == A2N_MESSAGES_INFO) sources.push_back(printable(note));
  return sources;
}

}  // namespace post
