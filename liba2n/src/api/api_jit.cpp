// SPDX-License-Identifier: MIT
// The functions of a2n_context.h for JIT-compiled code, source lines and bytes of code.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "a2n_context.h"
#include "api_state.h"

namespace {

using a2n::guarded;
using a2n::guarded_value;
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

bool is_form(int form) {
  return form >= A2N_JIT_LOG && form <= A2N_JIT_PERF_MAP;
}

}  // namespace

extern "C" {

int a2n_add_method(a2n_context* context, uint64_t time, uint32_t pid, const char* name,
                   uint64_t address, uint64_t length, const void* code,
                   const A2N_METHOD_LINE* lines, size_t count) {
  return guarded(context, [=](Library& lib) {
    if (count != 0 && !lines) return A2N_INVALID_ARGUMENT;
    JitMethod method;
    if (code && length <= A2N_LONGEST_CODE)
      method.code = std::make_shared<const std::string>(static_cast<const char*>(code),
                                                        static_cast<size_t>(length));
    std::vector<JitSource::Line> sorted;
    for (size_t i = 0; i < count; ++i) sorted.push_back({lines[i].offset, lines[i].line, nullptr});
    if (!sorted.empty()) {
      JitSource source;
      source.set_lines(std::move(sorted));
      method.source = std::make_shared<const JitSource>(std::move(source));
    }
    return add_method(lib, pid, time, name, address, length, std::move(method));
  });
}

int a2n_add_dynamic_code(a2n_context* context, uint64_t time, uint32_t pid, const char* name,
                         uint64_t address, uint64_t length) {
  return guarded(context, [=](Library& lib) {
    JitMethod method;
    method.dynamic = true;
    return add_method(lib, pid, time, name, address, length, std::move(method));
  });
}

int a2n_remove_method(a2n_context* context, uint64_t time, uint32_t pid, uint64_t address) {
  return guarded(context, [=](Library& lib) {
    if (!lib.processes().find(pid, UINT64_MAX)) return A2N_NO_PROCESS;
    lib.jit().own(pid).unload(time, address);
    return A2N_SUCCESS;
  });
}

int a2n_set_dynamic_code_name(a2n_context* context, const char* name) {
  return guarded(context, [name](Library& lib) {
    lib.settings().dynamic_name = name ? name : "";
    return A2N_SUCCESS;
  });
}

int a2n_load_methods(a2n_context* context, uint32_t pid, int form, const char* path,
                     const A2N_JIT_PROCESS* process) {
  return guarded(context, [=](Library& lib) {
    if (!path || !*path || !is_form(form)) return A2N_INVALID_ARGUMENT;
    return context->report(lib.load_jitted(pid, form, path, process ? *process : A2N_JIT_PROCESS{}),
                           A2N_JITTED_ERROR);
  });
}

int a2n_open_methods(a2n_context* context, uint32_t pid, int form, const char* path, int* fd) {
  return guarded(context, [=](Library& lib) -> int {
    if (!path || !*path || !fd || !is_form(form)) return A2N_INVALID_ARGUMENT;
    auto opened = lib.open_jitted(pid, form, path);
    if (!opened) return context->report(opened.error(), A2N_JITTED_ERROR);
    *fd = opened->release();
    return A2N_SUCCESS;
  });
}

int a2n_load_methods_from(a2n_context* context, uint32_t pid, int form, int fd, const char* name,
                          const A2N_JIT_PROCESS* process) {
  return guarded(context, [=](Library& lib) {
    if (fd < 0 || !name || !is_form(form)) return A2N_INVALID_ARGUMENT;
    return context->report(
        lib.load_jitted(pid, form, fd, name, process ? *process : A2N_JIT_PROCESS{}),
        A2N_JITTED_ERROR);
  });
}

uint64_t a2n_get_next_code_change(a2n_context* context, uint64_t time, uint32_t pid) {
  return guarded_value(context, UINT64_MAX,
                       [=](Library& lib) { return lib.jit().next_change(pid, time); });
}

int a2n_set_jit_times(a2n_context* context, int on) {
  return guarded(context, [on](Library& lib) {
    if (!on) lib.jit().ignore_times();
    return A2N_SUCCESS;
  });
}

int a2n_set_file_clock(a2n_context* context, int64_t offset) {
  return guarded(context, [offset](Library& lib) {
    lib.settings().file_clock = offset;
    return A2N_SUCCESS;
  });
}

int a2n_set_code_gather(a2n_context* context, int on) {
  return guarded(context, [on](Library& lib) {
    lib.settings().gather_code = on != 0;
    return A2N_SUCCESS;
  });
}

int a2n_get_code(a2n_context* context, uint64_t time, uint32_t pid, uint64_t address,
                 const unsigned char** code, uint64_t* start, size_t* length) {
  if (!code || !start || !length) return A2N_NULL_SYMDATA;
  return guarded(context, [=](Library& lib) {
    const auto found = lib.code(pid, address, time);
    *code = reinterpret_cast<const unsigned char*>(found.bytes.data());
    *start = found.start;
    *length = found.bytes.size();
    return found.bytes.empty() ? A2N_NO_SYMBOL_FOUND : A2N_SUCCESS;
  });
}

int a2n_read_code(a2n_context* context, uint64_t time, uint32_t pid, uint64_t address,
                  unsigned char* bytes, size_t capacity, size_t* length) {
  if (!length || (!bytes && capacity != 0)) return A2N_NULL_SYMDATA;
  *length = 0;
  return guarded(context, [=](Library& lib) {
    *length = lib.read_code(pid, address, time, reinterpret_cast<char*>(bytes), capacity);
    return *length == 0 ? A2N_NO_SYMBOL_FOUND : A2N_SUCCESS;
  });
}

const char* a2n_get_plt_name(a2n_context* context, uint64_t time, uint32_t pid, uint64_t address) {
  return guarded_value<const char*>(context, nullptr,
                                    [=](Library& lib) { return lib.plt_name(pid, address, time); });
}

int a2n_get_file_address(a2n_context* context, uint64_t time, uint32_t pid, uint64_t address,
                         uint64_t* file_address) {
  if (!file_address) return A2N_NULL_SYMDATA;
  return guarded(context, [=](Library& lib) {
    const auto found = lib.file_address(pid, address, time);
    if (found) *file_address = *found;
    return found ? A2N_SUCCESS : A2N_NO_MODULE;
  });
}

int a2n_get_file_symbol(a2n_context* context, const char* path, uint64_t inode,
                        uint64_t file_address, SYMDATA* data) {
  if (!data) return A2N_NULL_SYMDATA;
  return guarded(context, [=](Library& lib) {
    if (!path || !*path) return A2N_INVALID_ARGUMENT;
    return lib.file_symbol(path, inode, file_address, *data);
  });
}

int a2n_get_owner(a2n_context* context, uint64_t time, uint32_t pid, uint64_t address,
                  uint32_t* uid) {
  if (!uid) return A2N_NULL_SYMDATA;
  return guarded(context, [=](Library& lib) {
    const auto owner = lib.owner(pid, address, time);
    if (owner) *uid = *owner;
    return owner ? A2N_SUCCESS : A2N_NO_MODULE;
  });
}

int a2n_get_frames(a2n_context* context, uint64_t time, uint32_t pid, uint64_t address,
                   A2N_FRAME* frames, size_t capacity, size_t* count) {
  if (!count || (!frames && capacity != 0)) return A2N_NULL_SYMDATA;
  *count = 0;
  return guarded(context, [=](Library& lib) {
    const auto found = lib.frames(pid, address, time);
    for (size_t i = 0; i < found.size() && i < capacity; ++i)
      frames[i] = {found[i].name, found[i].file, found[i].line};
    *count = found.size();
    return found.empty() ? A2N_NO_SYMBOL_FOUND : A2N_SUCCESS;
  });
}

}  // extern "C"
