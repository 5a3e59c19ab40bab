// SPDX-License-Identifier: MIT
// The C functions of a2n.h on code made at run time, source lines and bytes of code.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "a2n.h"
#include "api_state.h"

namespace {

using a2n::guarded;
using a2n::JitMethod;
using a2n::JitSource;
using a2n::Library;

int add_method(Library& lib, uint32_t pid, uint64_t time, const char* name, uint64_t address,
               uint64_t length, JitMethod method) {
  if (!name || !*name) return A2N_METHOD_NAME_ERROR;
  if (length == 0 || length > UINT64_MAX - address) return A2N_METHOD_LENGTH_ERROR;
  if (!lib.processes().find(pid, UINT64_MAX)) return A2N_NO_PROCESS;
  method.address = address;
  method.size = length;
  method.time = time;
  method.name = lib.intern(name);
  lib.jit().own(pid).load(std::move(method));
  return A2N_SUCCESS;
}

}  // namespace

extern "C" {

int A2nAddJittedMethod(uint32_t pid, const char* name, uint64_t address, uint64_t length,
                       const void* code) {
  return A2nAddJittedMethodEx(pid, name, address, length, code, 0, 0, nullptr);
}

int A2nAddJittedMethodEx(uint32_t pid, const char* name, uint64_t address, uint64_t length,
                         const void* code, int line_type, size_t lines,
                         const A2N_METHOD_LINE* line) {
  return guarded([=](Library& lib) {
    if (lines != 0 && (!line || line_type != A2N_LINES_JVMTI)) return A2N_INVALID_ARGUMENT;
    JitMethod method;
    if (code && length <= A2N_LONGEST_CODE)
      method.code = std::make_shared<const std::string>(static_cast<const char*>(code),
                                                        static_cast<size_t>(length));
    std::vector<JitSource::Line> sorted;
    for (size_t i = 0; i < lines; ++i) sorted.push_back({line[i].offset, line[i].line, nullptr});
    if (!sorted.empty()) {
      JitSource source;
      source.set_lines(std::move(sorted));
      method.source = std::make_shared<const JitSource>(std::move(source));
    }
    return add_method(lib, pid, lib.time(), name, address, length, std::move(method));
  });
}

int A2nAddMMIMethod(uint32_t pid, const char* name, uint64_t address, uint64_t length) {
  return guarded([=](Library& lib) {
    JitMethod method;
    method.dynamic = true;
    return add_method(lib, pid, lib.time(), name, address, length, std::move(method));
  });
}

int A2nRemoveJittedMethod(uint32_t pid, uint64_t address) {
  return guarded([=](Library& lib) {
    if (!lib.processes().find(pid, UINT64_MAX)) return A2N_NO_PROCESS;
    lib.jit().own(pid).unload(lib.time(), address);
    return A2N_SUCCESS;
  });
}

int A2nLoadJittedMethods(uint32_t pid, int form, const char* path, const A2N_JIT_PROCESS* process) {
  return guarded([=](Library& lib) {
    if (!path || !*path || form < A2N_JIT_LOG || form > A2N_JIT_PERF_MAP)
      return A2N_INVALID_ARGUMENT;
    return a2n::told(lib.load_jitted(pid, form, path, process ? *process : A2N_JIT_PROCESS{}),
                     A2N_JITTED_ERROR);
  });
}

int A2nOpenJittedMethods(uint32_t pid, int form, const char* path, int* fd) {
  return guarded([=](Library& lib) -> int {
    if (!path || !*path || !fd || form < A2N_JIT_LOG || form > A2N_JIT_PERF_MAP)
      return A2N_INVALID_ARGUMENT;
    auto opened = lib.open_jitted(pid, form, path);
    if (!opened) return a2n::told(opened.error(), A2N_JITTED_ERROR);
    *fd = opened->release();
    return A2N_SUCCESS;
  });
}

int A2nLoadJittedMethodsFrom(uint32_t pid, int form, int fd, const char* name,
                             const A2N_JIT_PROCESS* process) {
  return guarded([=](Library& lib) {
    if (fd < 0 || !name || form < A2N_JIT_LOG || form > A2N_JIT_PERF_MAP)
      return A2N_INVALID_ARGUMENT;
    return a2n::told(lib.load_jitted(pid, form, fd, name, process ? *process : A2N_JIT_PROCESS{}),
                     A2N_JITTED_ERROR);
  });
}

uint64_t A2nGetNextCodeChange(uint32_t pid, uint64_t time) {
  uint64_t next = UINT64_MAX;
  guarded([&](Library& lib) {
    next = lib.jit().next_change(pid, time);
    return A2N_SUCCESS;
  });
  return next;
}

void A2nSetJittedTimesMode(int on) {
  guarded([on](Library& lib) {
    if (!on) lib.jit().ignore_times();
    return A2N_SUCCESS;
  });
}

void A2nSetCodeGatherMode(int on) {
  guarded([on](Library& lib) {
    lib.settings().gather_code = on != 0;
    return A2N_SUCCESS;
  });
}

void A2nSetCollapseMMIRange(const char* name) {
  guarded([name](Library& lib) {
    lib.settings().dynamic_name = name ? name : "";
    return A2N_SUCCESS;
  });
}

void A2nSetCacheDirectory(const char* path) {
  guarded([path](Library& lib) {
    lib.sources().cache().set_directory(path ? path : "");
    return A2N_SUCCESS;
  });
}

int A2nGetCodeAt(uint32_t pid, uint64_t address, uint64_t time, const unsigned char** code,
                 uint64_t* start, size_t* length) {
  if (!code || !start || !length) return A2N_NULL_SYMDATA;
  return guarded([=](Library& lib) {
    const auto found = lib.code(pid, address, time);
    *code = reinterpret_cast<const unsigned char*>(found.bytes.data());
    *start = found.start;
    *length = found.bytes.size();
    return found.bytes.empty() ? A2N_NO_SYMBOL_FOUND : A2N_SUCCESS;
  });
}

int A2nReadCodeAt(uint32_t pid, uint64_t address, uint64_t time, unsigned char* bytes, size_t room,
                  size_t* length) {
  if (!length || (!bytes && room != 0)) return A2N_NULL_SYMDATA;
  *length = 0;
  return guarded([=](Library& lib) {
    *length = lib.read_code(pid, address, time, reinterpret_cast<char*>(bytes), room);
    return *length == 0 ? A2N_NO_SYMBOL_FOUND : A2N_SUCCESS;
  });
}

int A2nGetFramesAt(uint32_t pid, uint64_t address, uint64_t time, A2N_FRAME* frames, size_t room,
                   size_t* count) {
  if (!count || (!frames && room != 0)) return A2N_NULL_SYMDATA;
  *count = 0;
  return guarded([=](Library& lib) {
    const auto found = lib.frames(pid, address, time);
    for (size_t i = 0; i < found.size() && i < room; ++i)
      frames[i] = {found[i].name, found[i].file, found[i].line};
    *count = found.size();
    return found.empty() ? A2N_NO_SYMBOL_FOUND : A2N_SUCCESS;
  });
}

}  // extern "C"
