// SPDX-License-Identifier: MIT
// The C functions of a2n.h: arguments checked, exceptions turned into return codes.
#include <string>
#include <utility>

#include "a2n.h"
#include "api_state.h"
#include "base/safe_file.h"
#include "environment.h"
#include "saving.h"

namespace {

using a2n::fixed_settings;
using a2n::guarded;
using a2n::Library;
using a2n::told;

// A setting, unless the environment fixed it.
template <class Set>
void set(a2n::Fixed setting, Set use) noexcept {
  guarded([&](Library& lib) {
    if (!(fixed_settings() & setting)) use(lib);
    return A2N_SUCCESS;
  });
}

int told(a2n::LoadOutcome outcome) {
  a2n::error_text = std::move(outcome.text);
  return outcome.rc;
}

// Checks that the file can be read now, although its text is read later.
int locate(const char* name, uint64_t offset, uint64_t size, a2n::TextLocation& location) {
  if (!name || !*name) return A2N_INVALID_ARGUMENT;
  const auto file = a2n::open_regular(name);
  if (!file) return A2N_FILE_NOT_FOUND;
  // Files of /proc have size 0 until they are read.
  if (offset > INT64_MAX || (file->size != 0 && offset > file->size)) return A2N_INVALID_ARGUMENT;
  location = {name, offset, size};
  return A2N_SUCCESS;
}

}  // namespace

extern "C" {

const char* A2nRcToString(int rc) {
  switch (rc) {
    case A2N_SUCCESS:
      return "success";
    case A2N_NO_SYMBOL_FOUND:
      return "no symbol covers the address";
    case A2N_NO_SYMBOLS:
      return "the module has no symbols";
    case A2N_NO_MODULE:
      return "no module at the address";
    case A2N_FLAKY_SYMBOL:
      return "doubtful symbol: an export without size";
    case A2N_CREATE_PROCESS_ERROR:
      return "the process could not be created";
    case A2N_ADD_MODULE_ERROR:
      return "the module's length is 0 or wraps around";
    case A2N_NO_PROCESS:
      return "no such process";
    case A2N_MEMORY_ERROR:
      return "out of memory";
    case A2N_NULL_SYMDATA:
      return "no place given for the result";
    case A2N_INVALID_ARGUMENT:
      return "invalid argument";
    case A2N_FILE_NOT_FOUND:
      return "the file cannot be opened";
    case A2N_FORK_ERROR:
      return "a process cannot fork itself";
    case A2N_CLONE_ERROR:
      return "a process cannot clone itself";
    case A2N_WRITE_ERROR:
      return "the file cannot be written";
    case A2N_MSI_ERROR:
      return "not a usable file of saved symbols";
    case A2N_MSI_DAMAGED:
      return "the file of saved symbols is damaged";
    case A2N_RANGE_FILE_ERROR:
      return "the description of ranges makes no sense";
    case A2N_JITTED_ERROR:
      return "what tells of code made at run time cannot be used";
    case A2N_METHOD_LENGTH_ERROR:
      return "the method's length is 0 or wraps around";
    case A2N_METHOD_NAME_ERROR:
      return "the method has no name";
    case A2N_INTERNAL_ERROR:
      return "internal error";
    default:
      return "unknown return code";
  }
}

uint32_t A2nGetVersion(void) {
  return 1u << 24;
}

int A2nInit(void) {
  a2n::forget_library();
  return A2N_SUCCESS;
}

const char* A2nGetErrorText(void) {
  return a2n::error_text.c_str();
}

void A2nSetNoSymbolFoundAction(int action) {
  if (action < A2N_NSF_NULL || action > A2N_NSF_SECTION) return;
  set(a2n::fixed_no_symbol_action, [=](Library& lib) { lib.settings().no_symbol_action = action; });
}

void A2nSetDemangleCppNamesMode(int on) {
  set(a2n::fixed_demangle, [=](Library& lib) { lib.settings().demangle = on != 0; });
}

void A2nSetSymbolQualityMode(int mode) {
  if (mode != A2N_QUALITY_ANY && mode != A2N_QUALITY_GOOD) return;
  set(a2n::fixed_quality,
      [=](Library& lib) { lib.settings().any_symbol = mode == A2N_QUALITY_ANY; });
}

void A2nSetSymbolValidationMode(int on) {
  set(a2n::fixed_validation, [=](Library& lib) { lib.modules().set_validate(on != 0); });
}

void A2nSetValidateKernelMode(int on) {
  set(a2n::fixed_validation, [=](Library& lib) { lib.kernel().set_validate(on != 0); });
}

void A2nSetRenameDuplicateSymbolsMode(int on) {
  set(a2n::fixed_rename_duplicates,
      [=](Library& lib) { lib.settings().rename_duplicates = on != 0; });
}

int A2nCollapseSymbolRange(const char* module, const char* first, const char* last,
                           const char* name) {
  return guarded([=](Library& lib) {
    for (const char* text : {module, first, last})
      if (!text || !*text) return A2N_INVALID_ARGUMENT;
    lib.ranges().add(module, first, last, name ? name : "");
    return A2N_SUCCESS;
  });
}

int A2nSetRangeDescFilename(const char* name) {
  return guarded([=](Library& lib) {
    if (!name || !*name) return A2N_INVALID_ARGUMENT;
    return told(lib.ranges().read(name), A2N_RANGE_FILE_ERROR);
  });
}

void A2nSetReturnRangeSymbolsMode(int mode) {
  if (mode != A2N_RANGE_NAME && mode != A2N_RANGE_NAME_SYMBOL) return;
  set(a2n::fixed_range_symbols,
      [=](Library& lib) { lib.settings().range_and_symbol = mode == A2N_RANGE_NAME_SYMBOL; });
}

void A2nSetErrorMessageMode(int mode) {
  if (mode < A2N_MESSAGES_NONE || mode > A2N_MESSAGES_ALL) return;
  set(a2n::fixed_messages, [=](Library& lib) { lib.notes().set_most(mode); });
}

void A2nSetSymbolSearchPath(const char* path) {
  set(a2n::fixed_search_path,
      [=](Library& lib) { lib.modules().set_search_path(path ? path : ""); });
}

int A2nSetKallsymsFileLocation(const char* name, uint64_t offset, uint64_t size) {
  return guarded([=](Library& lib) {
    a2n::TextLocation location;
    const int rc = locate(name, offset, size, location);
    if (rc == A2N_SUCCESS) lib.kernel().set_kallsyms(std::move(location));
    return rc;
  });
}

int A2nSetModulesFileLocation(const char* name, uint64_t offset, uint64_t size) {
  return guarded([=](Library& lib) {
    a2n::TextLocation location;
    const int rc = locate(name, offset, size, location);
    if (rc == A2N_SUCCESS) lib.kernel().set_modules(std::move(location));
    return rc;
  });
}

int A2nSetKernelImageName(const char* name) {
  return guarded([name](Library& lib) {
    a2n::TextLocation location;
    const int rc = locate(name, 0, 0, location);
    if (rc == A2N_SUCCESS) lib.kernel().set_image(name);
    return rc;
  });
}

int A2nSetFileBuildId(const char* path, uint64_t inode, const char* build_id) {
  return guarded([&](Library& lib) -> int {
    if (!path || !*path || !build_id) return A2N_INVALID_ARGUMENT;
    return lib.modules().set_build_id(path, inode, build_id) ? A2N_SUCCESS : A2N_INVALID_ARGUMENT;
  });
}

int A2nSetKernelMapName(const char* name) {
  return guarded([name](Library& lib) {
    a2n::TextLocation location;
    const int rc = locate(name, 0, 0, location);
    if (rc == A2N_SUCCESS) lib.kernel().set_map(name);
    return rc;
  });
}

int A2nSetModuleBuildId(const char* path, const char* build_id) {
  return guarded([=](Library& lib) {
    if (!path || !*path || !build_id) return A2N_INVALID_ARGUMENT;
    if (!lib.modules().set_build_id(path, 0, build_id)) return A2N_INVALID_ARGUMENT;
    if (std::string(path) == "vmlinux") lib.kernel().set_image_build_id(build_id);
    return A2N_SUCCESS;
  });
}

void A2nSetTime(uint64_t time) {
  guarded([time](Library& lib) { return lib.set_time(time), A2N_SUCCESS; });
}

int A2nCreateProcess(uint32_t pid) {
  return guarded([pid](Library& lib) {
    lib.processes().create(pid, lib.time());
    return A2N_SUCCESS;
  });
}

int A2nForkProcess(uint32_t forker, uint32_t forked) {
  return guarded([=](Library& lib) {
    if (forker == forked) return A2N_FORK_ERROR;
    lib.processes().fork(forker, forked, lib.time());
    return A2N_SUCCESS;
  });
}

int A2nCloneProcess(uint32_t cloner, uint32_t cloned) {
  return guarded([=](Library& lib) {
    if (cloner == cloned) return A2N_CLONE_ERROR;
    lib.processes().clone(cloner, cloned, lib.time());
    return A2N_SUCCESS;
  });
}

int A2nExecProcess(uint32_t pid) {
  return guarded([pid](Library& lib) {
    lib.processes().exec(pid, lib.time());
    return A2N_SUCCESS;
  });
}

int A2nSetProcessName(uint32_t pid, const char* name) {
  return guarded([=](Library& lib) {
    if (!name) return A2N_INVALID_ARGUMENT;
    lib.processes().set_name(pid, lib.intern(name), lib.time());
    return A2N_SUCCESS;
  });
}

const char* A2nGetProcessName(uint32_t pid) {
  const char* name = nullptr;
  guarded([&](Library& lib) {
    name = lib.processes().name(pid, lib.time());
    return A2N_SUCCESS;
  });
  return name;
}

const char* A2nGetProcessNameAt(uint32_t pid, uint64_t time) {
  const char* name = nullptr;
  guarded([&](Library& lib) {
    name = lib.processes().name(pid, time);
    return A2N_SUCCESS;
  });
  return name;
}

int A2nAddModule(uint32_t pid, uint64_t base, uint64_t length, const char* name, uint32_t stamp,
                 uint32_t checksum) {
  static_cast<void>(checksum);  // of Windows modules; Linux has build-ids
  return A2nAddModuleEx(pid, base, length, name, stamp, 0, 0);
}

int A2nAddModuleEx(uint32_t pid, uint64_t base, uint64_t length, const char* name, uint32_t stamp,
                   uint64_t offset, uint64_t inode) {
  return guarded(
      [=](Library& lib) { return lib.add_module(pid, base, length, name, stamp, offset, inode); });
}

int A2nGetSymbol(uint32_t pid, uint64_t address, SYMDATA* data) {
  if (!data) return A2N_NULL_SYMDATA;
  return guarded([=](Library& lib) { return lib.lookup(pid, address, lib.time(), *data); });
}

int A2nGetSymbolAt(uint32_t pid, uint64_t address, uint64_t time, SYMDATA* data) {
  if (!data) return A2N_NULL_SYMDATA;
  return guarded([=](Library& lib) { return lib.lookup(pid, address, time, *data); });
}

int A2nCreateMsiFile(const char* name) {
  return guarded([=](Library& lib) {
    if (!name || !*name) return A2N_INVALID_ARGUMENT;
    return told(a2n::create_msi_file(lib, name), A2N_WRITE_ERROR);
  });
}

int A2nLoadMsiFile(const char* name) {
  return guarded([=](Library& lib) {
    if (!name || !*name) return A2N_INVALID_ARGUMENT;
    const auto file = a2n::open_regular(name);
    if (!file) return told(file.error(), A2N_FILE_NOT_FOUND);
    return told(a2n::load_msi(lib, file->fd.get(), name, false));
  });
}

int A2nGetMsiFileInformation(int* word_size, int* big_endian, int* os) {
  return guarded([=](Library& lib) {
    if (!lib.msi_loaded()) return A2N_MSI_ERROR;
    // Files of other kinds of systems are not loaded.
    if (word_size) *word_size = 64;
    if (big_endian) *big_endian = 0;
    if (os) *os = A2N_OS_LINUX;
    return A2N_SUCCESS;
  });
}

int A2nSaveTraceSymbols(int fd) {
  return guarded(
      [=](Library& lib) { return told(a2n::save_trace_symbols(lib, fd), A2N_WRITE_ERROR); });
}

int A2nLoadTraceSymbols(int fd) {
  return guarded(
      [=](Library& lib) { return told(a2n::load_msi(lib, fd, "the archive's symbols", true)); });
}

const char* A2nGetSymbolFile(size_t index) {
  const char* path = nullptr;
  guarded([&](Library& lib) {
    path = lib.symbol_file(index);
    return A2N_SUCCESS;
  });
  return path;
}

int A2nOpenSymbolFile(size_t index, int* fd) {
  return guarded([=](Library& lib) -> int {
    if (!fd) return A2N_INVALID_ARGUMENT;
    auto opened = lib.open_symbol_file(index);
    if (!opened) return a2n::told(opened.error(), A2N_INVALID_ARGUMENT);
    *fd = opened->release();
    return A2N_SUCCESS;
  });
}

const char* A2nGetNote(size_t index) {
  const char* note = nullptr;
  guarded([&](Library& lib) {
    note = lib.notes().get(index);
    return A2N_SUCCESS;
  });
  return note;
}

uint64_t A2nGetNoteBytes(size_t index) {
  uint64_t bytes = 0;
  guarded([&](Library& lib) {
    bytes = lib.notes().bytes(index);
    return A2N_SUCCESS;
  });
  return bytes;
}

int A2nGetNoteLevel(size_t index) {
  return guarded([index](Library& lib) { return lib.notes().level(index); });
}

}  // extern "C"
