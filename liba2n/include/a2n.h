/* SPDX-License-Identifier: MIT */
/*
 * liba2n's classic interface: the module and symbol that an address of a process belonged to.
 *
 * The names and return codes of these functions are those of Performance Inspector (its published
 * API list). Functions that pitrace adds are named A2n...At or A2n...Ex, or their comment says "our
 * addition".
 * Each function is one of a2n_context.h on a default context, which is created, and reads the
 * environment, when it is first used. That header describes parameters, units, errors and notes;
 * the comment here names the function and describes differences. New programs should use
 * a2n_context.h.
 *
 * Time: functions without a time parameter use the time of A2nSetTime(), initially 0.
 *
 * Thread-safety: these functions take no lock, so that two of them must not run at the same time;
 * the caller serializes them. They may run at the same time as functions of a2n_context.h on other
 * contexts. A2nRcToString(), A2nGetVersion() and A2nDemangle() may be called by any thread at any
 * time. Returned pointers are valid until A2nInit(), and any thread may read the data until then.
 *
 * Errors: a function that returns int returns the codes of the function that its comment names,
 * unless the comment lists codes. Each may also return A2N_MEMORY_ERROR and A2N_INTERNAL_ERROR.
 * Functions that return void ignore an invalid value.
 */
#ifndef A2N_H
#define A2N_H

#include <stddef.h>
#include <stdint.h>

#include "a2n_context.h"

#ifdef __cplusplus
extern "C" {
#endif

/* a2n_rc_to_string() */
const char *A2nRcToString(int rc);

/* a2n_get_version() */
uint32_t A2nGetVersion(void);

/* a2n_demangle() (our addition) */
size_t A2nDemangle(const char *name, char *text, size_t capacity);

/* Frees the contents of the default context: processes, modules, settings. Before the first use it
 * has no effect. Returns A2N_SUCCESS. */
int A2nInit(void);

/* a2n_get_error_text(); A2nInit() keeps the text (our addition). */
const char *A2nGetErrorText(void);

/* ---- settings (before the first lookup) ---------------------------------------------------- */
/* a2n_set_no_symbol_action() */
void A2nSetNoSymbolFoundAction(int action);

/* a2n_set_demangle() */
void A2nSetDemangleCppNamesMode(int on);

/* a2n_set_symbol_quality() */
void A2nSetSymbolQualityMode(int mode);

/* a2n_set_symbol_validation() */
void A2nSetSymbolValidationMode(int on);

/* a2n_set_kernel_validation() */
void A2nSetValidateKernelMode(int on);

/* a2n_set_rename_duplicates() */
void A2nSetRenameDuplicateSymbolsMode(int on);

/* a2n_collapse_symbol_range() */
int A2nCollapseSymbolRange(const char *module, const char *first, const char *last,
			   const char *name);

/* a2n_read_symbol_ranges() */
int A2nSetRangeDescFilename(const char *name);

/* a2n_set_range_symbols() */
void A2nSetReturnRangeSymbolsMode(int mode);

/* a2n_set_max_note_level() */
void A2nSetErrorMessageMode(int mode);

/* a2n_set_search_path() */
void A2nSetSymbolSearchPath(const char *path);

/* a2n_set_cache_directory() (our addition) */
void A2nSetCacheDirectory(const char *path);

/* a2n_use_debuginfod() (our addition) */
int A2nUseDebuginfod(a2n_progress progress, void *data);

/* a2n_set_kallsyms() and a2n_set_kernel_modules() */
int A2nSetKallsymsFileLocation(const char *name, uint64_t offset, uint64_t size);
int A2nSetModulesFileLocation(const char *name, uint64_t offset, uint64_t size);

/* a2n_set_kernel_image() */
int A2nSetKernelImageName(const char *name);

/* a2n_set_kernel_map() */
int A2nSetKernelMapName(const char *name);

/* a2n_set_build_id(), without an inode and with one (our additions) */
int A2nSetModuleBuildId(const char *path, const char *build_id);
int A2nSetFileBuildId(const char *path, uint64_t inode, const char *build_id);

/* ---- processes ------------------------------------------------------------------------------ */
/* Sets the time, in nanoseconds of the trace's clock, for functions without a time parameter (our
 * addition). */
void A2nSetTime(uint64_t time);

/* a2n_create_process() */
int A2nCreateProcess(uint32_t pid);

/* a2n_fork_process() */
int A2nForkProcess(uint32_t forker, uint32_t forked);

/* a2n_clone_process() */
int A2nCloneProcess(uint32_t cloner, uint32_t cloned);

/* a2n_exec_process() (our addition) */
int A2nExecProcess(uint32_t pid);

/* a2n_release_process() (our addition) */
int A2nReleaseProcess(uint32_t pid);

/* a2n_set_process_name() */
int A2nSetProcessName(uint32_t pid, const char *name);

/* a2n_get_process_name() */
const char *A2nGetProcessName(uint32_t pid);
const char *A2nGetProcessNameAt(uint32_t pid, uint64_t time);

/* ---- modules -------------------------------------------------------------------------------- */
/* a2n_add_module() with offset and inode 0. checksum is ignored. Performance Inspector's function
 * has one more parameter, which is always null. */
int A2nAddModule(uint32_t pid, uint64_t base, uint64_t length, const char *name, uint32_t stamp,
		 uint32_t checksum);

/* a2n_add_module() (our addition) */
int A2nAddModuleEx(uint32_t pid, uint64_t base, uint64_t length, const char *name, uint32_t stamp,
		   uint64_t offset, uint64_t inode);

/* ---- JIT-compiled code ---------------------------------------------------------------------- */
/* a2n_add_method() without lines */
int A2nAddJittedMethod(uint32_t pid, const char *name, uint64_t address, uint64_t length,
		       const void *code);

#define A2N_LINES_JVMTI 2

/* a2n_add_method(), with the number of its lines in lines. A2N_INVALID_ARGUMENT: there are lines,
 * and line_type is not A2N_LINES_JVMTI. */
int A2nAddJittedMethodEx(uint32_t pid, const char *name, uint64_t address, uint64_t length,
			 const void *code, int line_type, size_t lines, const A2N_METHOD_LINE *line);

/* a2n_add_dynamic_code() */
int A2nAddMMIMethod(uint32_t pid, const char *name, uint64_t address, uint64_t length);

/* a2n_remove_method() (our addition) */
int A2nRemoveJittedMethod(uint32_t pid, uint64_t address);

/* a2n_set_dynamic_code_name() */
void A2nSetCollapseMMIRange(const char *name);

/* a2n_load_methods() (our addition) */
int A2nLoadJittedMethods(uint32_t pid, int form, const char *path, const A2N_JIT_PROCESS *process);

/* a2n_open_methods() (our addition) */
int A2nOpenJittedMethods(uint32_t pid, int form, const char *path, int *fd);

/* a2n_load_methods_from() (our addition) */
int A2nLoadJittedMethodsFrom(uint32_t pid, int form, int fd, const char *name,
			     const A2N_JIT_PROCESS *process);

/* a2n_get_next_code_change() (our addition) */
uint64_t A2nGetNextCodeChange(uint32_t pid, uint64_t time);

/* a2n_set_jit_times() (our addition) */
void A2nSetJittedTimesMode(int on);

/* a2n_set_file_clock() (our addition) */
void A2nSetFileClock(int64_t offset);

/* a2n_set_code_gather() */
void A2nSetCodeGatherMode(int on);

/* ---- lookup --------------------------------------------------------------------------------- */
/* a2n_get_symbol() */
int A2nGetSymbol(uint32_t pid, uint64_t address, SYMDATA *data);
int A2nGetSymbolAt(uint32_t pid, uint64_t address, uint64_t time, SYMDATA *data);

/* a2n_get_frames() (our addition) */
int A2nGetFramesAt(uint32_t pid, uint64_t address, uint64_t time, A2N_FRAME *frames, size_t room,
		   size_t *count);

/* a2n_get_code() (our addition) */
int A2nGetCodeAt(uint32_t pid, uint64_t address, uint64_t time, const unsigned char **code,
		 uint64_t *start, size_t *length);

/* a2n_read_code() (our addition) */
int A2nReadCodeAt(uint32_t pid, uint64_t address, uint64_t time, unsigned char *bytes, size_t room,
		  size_t *length);

/* a2n_get_plt_name() (our addition) */
const char *A2nGetPltNameAt(uint32_t pid, uint64_t address, uint64_t time);

/* a2n_get_file_address() (our addition) */
int A2nGetFileAddressAt(uint32_t pid, uint64_t address, uint64_t time, uint64_t *file_address);

/* a2n_get_owner() (our addition) */
int A2nGetOwnerAt(uint32_t pid, uint64_t address, uint64_t time, uint32_t *uid);

/* ---- saved symbols (MSI files) -------------------------------------------------------------- */
/* a2n_create_msi_file() */
int A2nCreateMsiFile(const char *name);

/* a2n_load_msi_file() */
int A2nLoadMsiFile(const char *name);

/* a2n_get_msi_file_information() */
int A2nGetMsiFileInformation(int *word_size, int *big_endian, int *os);

/* a2n_save_trace_symbols() and a2n_load_trace_symbols() (our additions) */
int A2nSaveTraceSymbols(int fd);
int A2nLoadTraceSymbols(int fd);

/* a2n_get_symbol_file() (our addition) */
const char *A2nGetSymbolFile(size_t index);

/* a2n_open_symbol_file() (our addition) */
int A2nOpenSymbolFile(size_t index, int *fd);

/* ---- notes (our addition) -------------------------------------------------------------------- */
/* a2n_get_note() */
const char *A2nGetNote(size_t index);

/* a2n_get_note_level() */
int A2nGetNoteLevel(size_t index);

/* a2n_get_note_bytes() */
uint64_t A2nGetNoteBytes(size_t index);

#ifdef __cplusplus
}
#endif

#endif /* A2N_H */
