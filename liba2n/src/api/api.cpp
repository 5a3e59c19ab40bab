// SPDX-License-Identifier: MIT
// The functions of a2n_context.h: they check arguments and convert exceptions to return codes.
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "a2n_context.h"
#include "api_state.h"
#include "base/safe_file.h"
#include "demangle/demangle.h"
#include "environment.h"
#include "saving.h"

namespace {

using a2n::guarded;
using a2n::guarded_value;
using a2n::Library;

// Makes a setting, unless the environment fixes it.
template <class Set>
int set(a2n_context* context, a2n::Fixed setting, Set use) noexcept {
  return guarded(context, [&](Library& lib) {
    if (!context->is_fixed(setting)) use(lib);
    return A2N_SUCCESS;
  });
}

// Checks that a file can be opened and passes the location of a text in it to use. The text is read
// later.
template <class Set>
int locate(a2n_context* context, const char* path, uint64_t offset, uint64_t size,
           Set use) noexcept {
  return guarded(context, [&](Library& lib) {
    if (!path || !*path) return A2N_INVALID_ARGUMENT;
    const auto file = a2n::open_regular(path);
    if (!file) return A2N_FILE_NOT_FOUND;
    // stat() reports size 0 for files of /proc.
    if (offset > INT64_MAX || (file->size != 0 && offset > file->size)) return A2N_INVALID_ARGUMENT;
    use(lib.kernel(), a2n::TextLocation{path, offset, size});
    return A2N_SUCCESS;
  });
}

}  // namespace

extern "C" {

const char* a2n_rc_to_string(int rc) {
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
      return "the pointer for the result is null";
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
      return "the description of ranges is malformed";
    case A2N_JITTED_ERROR:
      return "a file about JIT-compiled code cannot be used";
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

uint32_t a2n_get_version(void) {
  return 1u << 24;
}

size_t a2n_demangle(const char* name, char* text, size_t room) {
  const pi::NoCancel off;
  if (room != 0) *text = '\0';
  try {
    const auto readable = name ? a2n::demangle(name) : std::nullopt;
    if (!readable) return 0;
    if (room != 0) text[readable->copy(text, room - 1)] = '\0';
    return readable->size();
  } catch (...) {
    return 0;
  }
}

a2n_context* a2n_context_new(void) {
  const pi::NoCancel off;
  try {
    auto context = std::make_unique<a2n_context>();
    context->library();
    return context.release();
  } catch (...) {
    return nullptr;
  }
}

void a2n_context_free(a2n_context* context) {
  const pi::NoCancel off;
  delete context;
}

const char* a2n_get_error_text(a2n_context* context) {
  return context ? context->error_text() : "";
}

int a2n_set_no_symbol_action(a2n_context* context, int action) {
  if (action < A2N_NSF_NULL || action > A2N_NSF_FUNCTION) return A2N_INVALID_ARGUMENT;
  return set(context, a2n::fixed_no_symbol_action,
             [=](Library& lib) { lib.settings().no_symbol_action = action; });
}

int a2n_set_demangle(a2n_context* context, int on) {
  return set(context, a2n::fixed_demangle,
             [=](Library& lib) { lib.settings().demangle = on != 0; });
}

int a2n_set_symbol_quality(a2n_context* context, int mode) {
  if (mode != A2N_QUALITY_ANY && mode != A2N_QUALITY_GOOD) return A2N_INVALID_ARGUMENT;
  return set(context, a2n::fixed_quality,
             [=](Library& lib) { lib.settings().any_symbol = mode == A2N_QUALITY_ANY; });
}

int a2n_set_symbol_validation(a2n_context* context, int on) {
  return set(context, a2n::fixed_validation,
             [=](Library& lib) { lib.modules().set_validate(on != 0); });
}

int a2n_set_kernel_validation(a2n_context* context, int on) {
  return set(context, a2n::fixed_validation,
             [=](Library& lib) { lib.kernel().set_validate(on != 0); });
}

int a2n_set_rename_duplicates(a2n_context* context, int on) {
  return set(context, a2n::fixed_rename_duplicates,
             [=](Library& lib) { lib.settings().rename_duplicates = on != 0; });
}

int a2n_collapse_symbol_range(a2n_context* context, const char* module, const char* first,
                              const char* last, const char* name) {
  return guarded(context, [=](Library& lib) {
    for (const char* text : {module, first, last})
      if (!text || !*text) return A2N_INVALID_ARGUMENT;
    lib.ranges().add(module, first, last, name ? name : "");
    return A2N_SUCCESS;
  });
}

int a2n_read_symbol_ranges(a2n_context* context, const char* path) {
  return guarded(context, [=](Library& lib) {
    if (!path || !*path) return A2N_INVALID_ARGUMENT;
    return context->report(lib.ranges().read(path), A2N_RANGE_FILE_ERROR);
  });
}

int a2n_set_range_symbols(a2n_context* context, int mode) {
  if (mode != A2N_RANGE_NAME && mode != A2N_RANGE_NAME_SYMBOL) return A2N_INVALID_ARGUMENT;
  return set(context, a2n::fixed_range_symbols, [=](Library& lib) {
    lib.settings().range_and_symbol = mode == A2N_RANGE_NAME_SYMBOL;
  });
}

int a2n_set_max_note_level(a2n_context* context, int level) {
  if (level < A2N_MESSAGES_NONE || level > A2N_MESSAGES_ALL) return A2N_INVALID_ARGUMENT;
  return set(context, a2n::fixed_messages, [=](Library& lib) { lib.notes().set_max_level(level); });
}

int a2n_set_search_path(a2n_context* context, const char* path) {
  return set(context, a2n::fixed_search_path,
             [=](Library& lib) { lib.modules().set_search_path(path ? path : ""); });
}

int a2n_set_cache_directory(a2n_context* context, const char* path) {
  return guarded(context, [=](Library& lib) {
    lib.sources().cache().set_directory(path ? path : "");
    return A2N_SUCCESS;
  });
}

int a2n_use_debuginfod(a2n_context* context, a2n_progress progress, void* data) {
  return guarded(context, [=](Library& lib) {
    lib.modules().debuginfod().use(progress, data);
    return A2N_SUCCESS;
  });
}

int a2n_set_kallsyms(a2n_context* context, const char* path, uint64_t offset, uint64_t size) {
  return locate(context, path, offset, size, [](a2n::Kernel& kernel, a2n::TextLocation location) {
    kernel.set_kallsyms(std::move(location));
  });
}

int a2n_set_kernel_modules(a2n_context* context, const char* path, uint64_t offset, uint64_t size) {
  return locate(context, path, offset, size, [](a2n::Kernel& kernel, a2n::TextLocation location) {
    kernel.set_modules(std::move(location));
  });
}

int a2n_set_kernel_image(a2n_context* context, const char* path) {
  return locate(context, path, 0, 0, [](a2n::Kernel& kernel, a2n::TextLocation location) {
    kernel.set_image(std::move(location.file));
  });
}

int a2n_set_kernel_map(a2n_context* context, const char* path) {
  return locate(context, path, 0, 0, [](a2n::Kernel& kernel, a2n::TextLocation location) {
    kernel.set_map(std::move(location.file));
  });
}

int a2n_set_build_id(a2n_context* context, const char* path, uint64_t inode, const char* build_id) {
  return guarded(context, [=](Library& lib) {
    if (!path || !*path || !build_id) return A2N_INVALID_ARGUMENT;
    if (!lib.modules().set_build_id(path, inode, build_id)) return A2N_INVALID_ARGUMENT;
    if (inode == 0 && std::strcmp(path, "vmlinux") == 0) lib.kernel().set_image_build_id(build_id);
    return A2N_SUCCESS;
  });
}

int a2n_create_process(a2n_context* context, uint64_t time, uint32_t pid) {
  return guarded(context, [=](Library& lib) {
    lib.processes().create(pid, time);
    return A2N_SUCCESS;
  });
}

int a2n_fork_process(a2n_context* context, uint64_t time, uint32_t parent, uint32_t child) {
  return guarded(context, [=](Library& lib) {
    if (parent == child) return A2N_FORK_ERROR;
    lib.processes().fork(parent, child, time);
    return A2N_SUCCESS;
  });
}

int a2n_clone_process(a2n_context* context, uint64_t time, uint32_t parent, uint32_t child) {
  return guarded(context, [=](Library& lib) {
    if (parent == child) return A2N_CLONE_ERROR;
    lib.processes().clone(parent, child, time);
    return A2N_SUCCESS;
  });
}

int a2n_exec_process(a2n_context* context, uint64_t time, uint32_t pid) {
  return guarded(context, [=](Library& lib) {
    lib.processes().exec(pid, time);
    return A2N_SUCCESS;
  });
}

int a2n_release_process(a2n_context* context, uint32_t pid) {
  return guarded(context, [=](Library& lib) {
    lib.processes().release(pid);
    return A2N_SUCCESS;
  });
}

int a2n_set_process_name(a2n_context* context, uint64_t time, uint32_t pid, const char* name) {
  return guarded(context, [=](Library& lib) {
    if (!name) return A2N_INVALID_ARGUMENT;
    lib.processes().set_name(pid, lib.intern(name), time);
    return A2N_SUCCESS;
  });
}

const char* a2n_get_process_name(a2n_context* context, uint64_t time, uint32_t pid) {
  return guarded_value<const char*>(context, nullptr,
                                    [=](Library& lib) { return lib.processes().name(pid, time); });
}

int a2n_add_module(a2n_context* context, uint64_t time, uint32_t pid, uint64_t base,
                   uint64_t length, const char* name, uint32_t stamp, uint64_t offset,
                   uint64_t inode) {
  return guarded(context, [=](Library& lib) {
    return lib.add_module(time, pid, base, length, name, stamp, offset, inode);
  });
}

int a2n_get_symbol(a2n_context* context, uint64_t time, uint32_t pid, uint64_t address,
                   SYMDATA* data) {
  if (!data) return A2N_NULL_SYMDATA;
  return guarded(context, [=](Library& lib) { return lib.lookup(pid, address, time, *data); });
}

int a2n_create_msi_file(a2n_context* context, const char* path) {
  return guarded(context, [=](Library& lib) {
    if (!path || !*path) return A2N_INVALID_ARGUMENT;
    return context->report(a2n::create_msi_file(lib, path), A2N_WRITE_ERROR);
  });
}

int a2n_load_msi_file(a2n_context* context, const char* path) {
  return guarded(context, [=](Library& lib) {
    if (!path || !*path) return A2N_INVALID_ARGUMENT;
    const auto file = a2n::open_regular(path);
    if (!file) return context->report(file.error(), A2N_FILE_NOT_FOUND);
    auto outcome = a2n::load_msi(lib, file->fd.get(), path, false);
    return context->report(outcome.rc, std::move(outcome.text));
  });
}

int a2n_get_msi_file_information(a2n_context* context, int* word_size, int* big_endian, int* os) {
  return guarded(context, [=](Library& lib) {
    if (!lib.msi_loaded()) return A2N_MSI_ERROR;
    // Files of other systems are not loaded, so these values are constant.
    if (word_size) *word_size = 64;
    if (big_endian) *big_endian = 0;
    if (os) *os = A2N_OS_LINUX;
    return A2N_SUCCESS;
  });
}

int a2n_save_trace_symbols(a2n_context* context, int fd) {
  return guarded(context, [=](Library& lib) {
    return context->report(a2n::save_trace_symbols(lib, fd), A2N_WRITE_ERROR);
  });
}

int a2n_load_trace_symbols(a2n_context* context, int fd) {
  return guarded(context, [=](Library& lib) {
    auto outcome = a2n::load_msi(lib, fd, "the archive's symbols", true);
    return context->report(outcome.rc, std::move(outcome.text));
  });
}

const char* a2n_get_symbol_file(a2n_context* context, size_t index) {
  return guarded_value<const char*>(context, nullptr,
                                    [=](Library& lib) { return lib.symbol_file(index); });
}

int a2n_open_symbol_file(a2n_context* context, size_t index, int* fd) {
  return guarded(context, [=](Library& lib) -> int {
    if (!fd) return A2N_INVALID_ARGUMENT;
    auto opened = lib.open_symbol_file(index);
    if (!opened) return context->report(opened.error(), A2N_INVALID_ARGUMENT);
    *fd = opened->release();
    return A2N_SUCCESS;
  });
}

int a2n_open_file(a2n_context* context, const char* path, uint64_t inode, int* fd) {
  return guarded(context, [=](Library& lib) -> int {
    if (!path || !*path || !fd) return A2N_INVALID_ARGUMENT;
    auto opened = lib.open_file(path, inode);
    if (!opened) return context->report(opened.error(), A2N_NO_MODULE);
    *fd = opened->release();
    return A2N_SUCCESS;
  });
}

const char* a2n_get_note(a2n_context* context, size_t index) {
  return guarded_value<const char*>(context, nullptr,
                                    [=](Library& lib) { return lib.notes().get(index); });
}

int a2n_get_note_level(a2n_context* context, size_t index) {
  return guarded_value(context, A2N_MESSAGES_NONE,
                       [=](Library& lib) { return lib.notes().level(index); });
}

uint64_t a2n_get_note_bytes(a2n_context* context, size_t index) {
  return guarded_value<uint64_t>(context, 0,
                                 [=](Library& lib) { return lib.notes().bytes(index); });
}

}  // extern "C"
