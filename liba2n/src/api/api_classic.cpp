// SPDX-License-Identifier: MIT
// The classic functions of a2n.h: each calls a function of a2n_context.h with a default context.
#include "a2n.h"
#include "api_state.h"
#include "pi/no_cancel.h"

namespace {

a2n_context default_context;
uint64_t now = 0;  // see A2nSetTime()

}  // namespace

extern "C" {

const char* A2nRcToString(int rc) {
  return a2n_rc_to_string(rc);
}

uint32_t A2nGetVersion(void) {
  return a2n_get_version();
}

size_t A2nDemangle(const char* name, char* text, size_t room) {
  return a2n_demangle(name, text, room);
}

int A2nInit(void) {
  const pi::NoCancel off;
  default_context.reset();
  now = 0;
  return A2N_SUCCESS;
}

const char* A2nGetErrorText(void) {
  return a2n_get_error_text(&default_context);
}

void A2nSetTime(uint64_t time) {
  now = time;
}

int A2nAddJittedMethodEx(uint32_t pid, const char* name, uint64_t address, uint64_t length,
                         const void* code, int line_type, size_t lines,
                         const A2N_METHOD_LINE* line) {
  if (lines != 0 && line_type != A2N_LINES_JVMTI) return A2N_INVALID_ARGUMENT;
  return a2n_add_method(&default_context, now, pid, name, address, length, code, line, lines);
}

int A2nAddModule(uint32_t pid, uint64_t base, uint64_t length, const char* name, uint32_t stamp,
                 uint32_t checksum) {
  static_cast<void>(checksum);  // for Windows modules; Linux has build-ids
  return A2nAddModuleEx(pid, base, length, name, stamp, 0, 0);
}

void A2nSetNoSymbolFoundAction(int action) {
  a2n_set_no_symbol_action(&default_context, action);
}

void A2nSetDemangleCppNamesMode(int on) {
  a2n_set_demangle(&default_context, on);
}

void A2nSetSymbolQualityMode(int mode) {
  a2n_set_symbol_quality(&default_context, mode);
}

void A2nSetSymbolValidationMode(int on) {
  a2n_set_symbol_validation(&default_context, on);
}

void A2nSetValidateKernelMode(int on) {
  a2n_set_kernel_validation(&default_context, on);
}

void A2nSetRenameDuplicateSymbolsMode(int on) {
  a2n_set_rename_duplicates(&default_context, on);
}

int A2nCollapseSymbolRange(const char* module, const char* first, const char* last,
                           const char* name) {
  return a2n_collapse_symbol_range(&default_context, module, first, last, name);
}

int A2nSetRangeDescFilename(const char* name) {
  return a2n_read_symbol_ranges(&default_context, name);
}

void A2nSetReturnRangeSymbolsMode(int mode) {
  a2n_set_range_symbols(&default_context, mode);
}

void A2nSetErrorMessageMode(int mode) {
  a2n_set_max_note_level(&default_context, mode);
}

void A2nSetSymbolSearchPath(const char* path) {
  a2n_set_search_path(&default_context, path);
}

void A2nSetCacheDirectory(const char* path) {
  a2n_set_cache_directory(&default_context, path);
}

int A2nUseDebuginfod(a2n_progress progress, void* data) {
  return a2n_use_debuginfod(&default_context, progress, data);
}

int A2nSetKallsymsFileLocation(const char* name, uint64_t offset, uint64_t size) {
  return a2n_set_kallsyms(&default_context, name, offset, size);
}

int A2nSetModulesFileLocation(const char* name, uint64_t offset, uint64_t size) {
  return a2n_set_kernel_modules(&default_context, name, offset, size);
}

int A2nSetKernelImageName(const char* name) {
  return a2n_set_kernel_image(&default_context, name);
}

int A2nSetKernelMapName(const char* name) {
  return a2n_set_kernel_map(&default_context, name);
}

int A2nSetModuleBuildId(const char* path, const char* build_id) {
  return a2n_set_build_id(&default_context, path, 0, build_id);
}

int A2nSetFileBuildId(const char* path, uint64_t inode, const char* build_id) {
  return a2n_set_build_id(&default_context, path, inode, build_id);
}

int A2nCreateProcess(uint32_t pid) {
  return a2n_create_process(&default_context, now, pid);
}

int A2nForkProcess(uint32_t forker, uint32_t forked) {
  return a2n_fork_process(&default_context, now, forker, forked);
}

int A2nCloneProcess(uint32_t cloner, uint32_t cloned) {
  return a2n_clone_process(&default_context, now, cloner, cloned);
}

int A2nExecProcess(uint32_t pid) {
  return a2n_exec_process(&default_context, now, pid);
}

int A2nReleaseProcess(uint32_t pid) {
  return a2n_release_process(&default_context, pid);
}

int A2nSetProcessName(uint32_t pid, const char* name) {
  return a2n_set_process_name(&default_context, now, pid, name);
}

const char* A2nGetProcessName(uint32_t pid) {
  return a2n_get_process_name(&default_context, now, pid);
}

const char* A2nGetProcessNameAt(uint32_t pid, uint64_t time) {
  return a2n_get_process_name(&default_context, time, pid);
}

int A2nAddModuleEx(uint32_t pid, uint64_t base, uint64_t length, const char* name, uint32_t stamp,
                   uint64_t offset, uint64_t inode) {
  return a2n_add_module(&default_context, now, pid, base, length, name, stamp, offset, inode);
}

int A2nAddJittedMethod(uint32_t pid, const char* name, uint64_t address, uint64_t length,
                       const void* code) {
  return a2n_add_method(&default_context, now, pid, name, address, length, code, nullptr, 0);
}

int A2nAddMMIMethod(uint32_t pid, const char* name, uint64_t address, uint64_t length) {
  return a2n_add_dynamic_code(&default_context, now, pid, name, address, length);
}

int A2nRemoveJittedMethod(uint32_t pid, uint64_t address) {
  return a2n_remove_method(&default_context, now, pid, address);
}

void A2nSetCollapseMMIRange(const char* name) {
  a2n_set_dynamic_code_name(&default_context, name);
}

int A2nLoadJittedMethods(uint32_t pid, int form, const char* path, const A2N_JIT_PROCESS* process) {
  return a2n_load_methods(&default_context, pid, form, path, process);
}

int A2nOpenJittedMethods(uint32_t pid, int form, const char* path, int* fd) {
  return a2n_open_methods(&default_context, pid, form, path, fd);
}

int A2nLoadJittedMethodsFrom(uint32_t pid, int form, int fd, const char* name,
                             const A2N_JIT_PROCESS* process) {
  return a2n_load_methods_from(&default_context, pid, form, fd, name, process);
}

uint64_t A2nGetNextCodeChange(uint32_t pid, uint64_t time) {
  return a2n_get_next_code_change(&default_context, time, pid);
}

void A2nSetJittedTimesMode(int on) {
  a2n_set_jit_times(&default_context, on);
}

void A2nSetFileClock(int64_t offset) {
  a2n_set_file_clock(&default_context, offset);
}

void A2nSetCodeGatherMode(int on) {
  a2n_set_code_gather(&default_context, on);
}

int A2nGetSymbol(uint32_t pid, uint64_t address, SYMDATA* data) {
  return a2n_get_symbol(&default_context, now, pid, address, data);
}

int A2nGetSymbolAt(uint32_t pid, uint64_t address, uint64_t time, SYMDATA* data) {
  return a2n_get_symbol(&default_context, time, pid, address, data);
}

int A2nGetFramesAt(uint32_t pid, uint64_t address, uint64_t time, A2N_FRAME* frames, size_t room,
                   size_t* count) {
  return a2n_get_frames(&default_context, time, pid, address, frames, room, count);
}

int A2nGetCodeAt(uint32_t pid, uint64_t address, uint64_t time, const unsigned char** code,
                 uint64_t* start, size_t* length) {
  return a2n_get_code(&default_context, time, pid, address, code, start, length);
}

int A2nReadCodeAt(uint32_t pid, uint64_t address, uint64_t time, unsigned char* bytes, size_t room,
                  size_t* length) {
  return a2n_read_code(&default_context, time, pid, address, bytes, room, length);
}

const char* A2nGetPltNameAt(uint32_t pid, uint64_t address, uint64_t time) {
  return a2n_get_plt_name(&default_context, time, pid, address);
}

int A2nGetFileAddressAt(uint32_t pid, uint64_t address, uint64_t time, uint64_t* file_address) {
  return a2n_get_file_address(&default_context, time, pid, address, file_address);
}

int A2nGetOwnerAt(uint32_t pid, uint64_t address, uint64_t time, uint32_t* uid) {
  return a2n_get_owner(&default_context, time, pid, address, uid);
}

int A2nCreateMsiFile(const char* name) {
  return a2n_create_msi_file(&default_context, name);
}

int A2nLoadMsiFile(const char* name) {
  return a2n_load_msi_file(&default_context, name);
}

int A2nGetMsiFileInformation(int* word_size, int* big_endian, int* os) {
  return a2n_get_msi_file_information(&default_context, word_size, big_endian, os);
}

int A2nSaveTraceSymbols(int fd) {
  return a2n_save_trace_symbols(&default_context, fd);
}

int A2nLoadTraceSymbols(int fd) {
  return a2n_load_trace_symbols(&default_context, fd);
}

const char* A2nGetSymbolFile(size_t index) {
  return a2n_get_symbol_file(&default_context, index);
}

int A2nOpenSymbolFile(size_t index, int* fd) {
  return a2n_open_symbol_file(&default_context, index, fd);
}

const char* A2nGetNote(size_t index) {
  return a2n_get_note(&default_context, index);
}

int A2nGetNoteLevel(size_t index) {
  return a2n_get_note_level(&default_context, index);
}

uint64_t A2nGetNoteBytes(size_t index) {
  return a2n_get_note_bytes(&default_context, index);
}

}  // extern "C"
