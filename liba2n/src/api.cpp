// SPDX-License-Identifier: MIT
// The C functions of a2n.h: arguments checked, exceptions turned into return codes.
#include <memory>
#include <new>
#include <string>

#include "a2n.h"
#include "library.h"
#include "safe_file.h"

namespace {

using a2n::Library;

std::unique_ptr<Library> library;

Library& current() {
  if (!library) library = std::make_unique<Library>();
  return *library;
}

// Nothing is thrown into C.
template <class Work>
int guarded(Work work) noexcept {
  try {
    return work(current());
  } catch (const std::bad_alloc&) {
    return A2N_MEMORY_ERROR;
  } catch (...) {
    return A2N_INTERNAL_ERROR;
  }
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
  library.reset();
  return A2N_SUCCESS;
}

void A2nSetNoSymbolFoundAction(int action) {
  if (action < A2N_NSF_NULL || action > A2N_NSF_SECTION) return;
  guarded([action](Library& lib) { return lib.settings().no_symbol_action = action, A2N_SUCCESS; });
}

void A2nSetDemangleCppNamesMode(int on) {
  guarded([on](Library& lib) { return lib.settings().demangle = on != 0, A2N_SUCCESS; });
}

void A2nSetSymbolSearchPath(const char* path) {
  guarded([path](Library& lib) {
    lib.modules().set_search_path(path ? path : "");
    return A2N_SUCCESS;
  });
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

const char* A2nGetNote(size_t index) {
  const char* note = nullptr;
  guarded([&](Library& lib) {
    note = lib.notes().get(index);
    return A2N_SUCCESS;
  });
  return note;
}

}  // extern "C"
