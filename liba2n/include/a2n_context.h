/* SPDX-License-Identifier: MIT */
/*
 * liba2n: the module and symbol that an address of a process belonged to at a given time.
 *
 * A context holds everything that the library knows: settings, processes with their mappings,
 * JIT-compiled code, symbols and notes. A program creates one, reports to it the events of a trace,
 * looks addresses up in it, and frees it. Contexts share nothing. The classic functions of a2n.h
 * work on one default context.
 *
 * Time: mappings and JIT-compiled code are intervals in address and time. Every time is in
 * nanoseconds of the trace's clock. Events of one process must be reported in the order of their
 * times; an event with an earlier time than the newest one counts as if it had that one's time. A
 * lookup may ask about any time. A new mapping ends the mappings that it overlaps. The image of a
 * process begins with its first event, a fork or an exec, and ends with the next exec or when its
 * pid is forked again. The exit of the process does not end it, because samples follow the exit.
 *
 * Thread-safety: the functions take no lock.
 * - Functions on different contexts may run at the same time in different threads.
 * - Functions on one context must not run at the same time: the caller serializes them. This
 *   includes lookups, which read files and fill caches. It need not be the same thread that calls.
 * - What a pointer returned by a context points to does not change. Any thread may read it, also
 *   while another one calls a function on that context, until a2n_context_free(). Where a function
 *   returns something shorter-lived, its comment says so.
 * - Functions without a context may be called by any thread at any time.
 * The exceptions are a2n_context_new(), which reads the environment, and file descriptors, whose
 * offset contexts share: see there. No function is async-signal-safe. A thread that is cancelled
 * (pthread_cancel) inside a function is cancelled after the function has returned.
 *
 * Errors: a function that returns int returns an A2N_ code. Its comment lists all codes but these
 * three, which every function on a context may return: A2N_INVALID_ARGUMENT (the context, or a
 * pointer that must not be null, is null), A2N_MEMORY_ERROR and A2N_INTERNAL_ERROR. In these cases
 * functions that return a pointer return null, and functions that return a number return 0. After
 * one of the other codes the context is unchanged, unless the comment lists a change.
 *
 * The library never exits and prints nothing. Messages for the reader of a report are notes, see
 * a2n_get_note(). The symbols of a module are read by the first lookup of an address in it.
 */
#ifndef A2N_CONTEXT_H
#define A2N_CONTEXT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- return codes (those of Performance Inspector) ------------------------------------------ */
#define A2N_SUCCESS 0
#define A2N_NO_SYMBOL_FOUND 1 /* the module is known, no symbol covers the address */
#define A2N_NO_SYMBOLS 2      /* the module is known and has no symbols at all */
#define A2N_NO_MODULE 3
#define A2N_FLAKY_SYMBOL 4 /* uncertain: an export without size, or the symbol before the address */
#define A2N_CREATE_PROCESS_ERROR 10 /* not returned any more */
#define A2N_ADD_MODULE_ERROR 11
#define A2N_NO_PROCESS 13
#define A2N_MEMORY_ERROR 16
#define A2N_NULL_SYMDATA 17
#define A2N_JITTED_ERROR 27 /* a file about JIT-compiled code cannot be used */
#define A2N_CLONE_ERROR 30
#define A2N_FORK_ERROR 31
#define A2N_FILE_NOT_FOUND 32
#define A2N_WRITE_ERROR 34
#define A2N_MSI_ERROR 35   /* not an MSI file, one of another version, or loaded too late */
#define A2N_MSI_DAMAGED 36 /* the intact part of the MSI file is used */
#define A2N_INVALID_ARGUMENT 40
#define A2N_RANGE_FILE_ERROR 44
#define A2N_METHOD_LENGTH_ERROR 46
#define A2N_METHOD_NAME_ERROR 47
#define A2N_INTERNAL_ERROR 49

/* The meaning of a return code, in static storage, never null. */
const char *a2n_rc_to_string(int rc);

/* The library's version: major << 24 | minor << 16 | revision. */
uint32_t a2n_get_version(void);

/* The readable form of a C++ or Rust name, whatever a2n_set_demangle() says. Writes as much of it to
 * text as has space in `room` bytes, with a final zero unless room is 0. Returns its whole length;
 * 0, and text is empty: name is null or is not mangled, or there is no memory. */
size_t a2n_demangle(const char *name, char *text, size_t room);

/* ---- contexts ------------------------------------------------------------------------------- */
typedef struct a2n_context a2n_context;

/* Creates an empty context. Null: out of memory. It reads environment variables, in upper or in
 * lower case: A2N_SEARCH_PATH, A2N_SYMBOL_QUALITY=good|any, A2N_ERROR_MESSAGES=none|error|warn|
 * info|all, A2N_NSF_ACTION=null|nsf|section|function, A2N_RENAME_DUPLICATE_SYMBOLS, A2N_DONT_DEMANGLE,
 * A2N_DONT_VALIDATE, A2N_RETURN_RANGE_SYMBOLS (the last four have an effect with any value). A
 * setting that a variable makes is fixed: the function for it then returns A2N_SUCCESS and has no
 * effect. Programs that run with another user's rights (setuid) ignore the variables.
 * Threads: any, but not at the same time as setenv(), putenv() or unsetenv(). */
a2n_context *a2n_context_new(void);

/* Frees a context and all that it returned. Null does nothing. */
void a2n_context_free(a2n_context *context);

/* The reason why the last function on this context failed, if that function's comment names this
 * one: a sentence without a final full stop, "" if the return code is the complete reason.
 * Never null. Valid until the next such function is called. */
const char *a2n_get_error_text(a2n_context *context);

/* ---- settings ------------------------------------------------------------------------------- */
/* Settings apply to later lookups. Make them before the first lookup: results that were already
 * computed do not change. A2N_INVALID_ARGUMENT: the value is not one of those listed. */

#define A2N_NSF_NULL 1	  /* the name is null */
#define A2N_NSF_NSF 2	  /* "NoSymbolFound", "NoSymbols" */
#define A2N_NSF_SECTION 3 /* the section's name as "<<.text>>", else as A2N_NSF_NSF (default) */
/* Our addition: a function without a symbol, whose boundaries the module's unwind table (.eh_frame)
 * contains, as "[FILE+0x1234]": the last component of the module's path, and the virtual address in
 * the file at which the function begins, as nm and objdump show it. Other code as A2N_NSF_SECTION.
 * A symbol without a size in .dynsym then names no code of another function. */
#define A2N_NSF_FUNCTION 4

/* The name that a lookup returns if there is no symbol: action is A2N_NSF_*. */
int a2n_set_no_symbol_action(a2n_context *context, int action);

/* Whether C++ and Rust names are demangled; default 0. */
int a2n_set_demangle(a2n_context *context, int on);

#define A2N_QUALITY_ANY 1  /* if no symbol covers an address, the one before it in its section */
#define A2N_QUALITY_GOOD 2 /* default */

/* mode is A2N_QUALITY_*. With A2N_QUALITY_ANY a lookup returns A2N_FLAKY_SYMBOL for a symbol that
 * does not cover the address. */
int a2n_set_symbol_quality(a2n_context *context, int mode);

/* Whether the symbols of a file are used only if it is known to be the traced one (by its build-id,
 * or because its inode matches and it has not changed); default 1. With 0 the file at the path is
 * used in any case; a note reports each file that is not known to be the traced one. */
int a2n_set_symbol_validation(a2n_context *context, int on);

/* The same for the kernel's image, map or saved image: whether its symbols must match those of the
 * trace; default 1. */
int a2n_set_kernel_validation(a2n_context *context, int on);

/* Whether the second symbol with a name within a module, in address order, is named "name#2", and
 * so on; default 0. */
int a2n_set_rename_duplicates(a2n_context *context, int on);

/* The symbols from first to last, both included and named as nm names them, of a module (its path
 * or the last component of its path) are reported as one symbol of this name; null or "":
 * "FIRST..LAST". An address in two ranges belongs to the range that was added first. A note reports
 * a module that does not have these symbols. A2N_INVALID_ARGUMENT: module, first or last is null or
 * "". */
int a2n_collapse_symbol_range(a2n_context *context, const char *module, const char *first,
			      const char *last, const char *name);

/* Adds a range for each line "MODULE FIRST LAST [NAME]" of a file; empty lines and those that begin
 * with # are comments. A2N_INVALID_ARGUMENT: path is null or ""; A2N_FILE_NOT_FOUND;
 * A2N_RANGE_FILE_ERROR: a line has another form. a2n_get_error_text() has the reason; on an error
 * no range is added. */
int a2n_read_symbol_ranges(a2n_context *context, const char *path);

#define A2N_RANGE_NAME 0	/* default */
#define A2N_RANGE_NAME_SYMBOL 1 /* "RANGE.SYMBOL", at the symbol's address */

/* The name that a lookup returns for a symbol in a range: mode is A2N_RANGE_NAME*. */
int a2n_set_range_symbols(a2n_context *context, int mode);

#define A2N_MESSAGES_NONE 0
#define A2N_MESSAGES_ERROR 1   /* a file that is used is damaged */
#define A2N_MESSAGES_WARNING 2 /* default */
#define A2N_MESSAGES_INFO 3    /* where the symbols of each module came from */
#define A2N_MESSAGES_ALL 4

/* The highest level of the notes that are kept: level is A2N_MESSAGES_*. */
int a2n_set_max_note_level(a2n_context *context, int level);

/* Directories, separated by ':', that are searched for files of a module's name, with the whole
 * path below the directory, or the last component alone: first the module, then its separate debug
 * file. They come before the file's own path. Default: none. Null or "" resets. */
int a2n_set_search_path(a2n_context *context, const char *path);

/* A directory in which the library caches source lines, because reading debug information is slow.
 * It must belong to the caller, and no other user may write to it. An entry is used only for the
 * same file that it was read from. The directory takes at most 1 GiB: the least recently used
 * entries are removed. It is created if it does not exist. Null or "", the default: no cache.
 * Several contexts and processes may use the same directory at the same time. */
int a2n_set_cache_directory(a2n_context *context, const char *path);

/* Called while a file is transferred, about once a second or more often: done of total bytes of the
 * debug file of the module at path; total 0: not known. After the last call for a file, once with
 * path null. It must not call functions of the library on the same context. */
typedef void (*a2n_progress)(void *data, const char *path, uint64_t done, uint64_t total);

/* From now on, debug files of modules without symbols, if they are not on this machine, are asked
 * for from the debuginfod servers in the environment variable DEBUGINFOD_URLS, by build-id, with
 * elfutils' client, which has a cache and reads other DEBUGINFOD_ variables. Without that variable
 * no network is used. Names are as good as the servers are. If a server fails, sends nothing for 30
 * seconds (DEBUGINFOD_TIMEOUT and DEBUGINFOD_MAXTIME replace this limit), takes longer than 120
 * seconds for a file (DEBUGINFOD_MAXTIME replaces it) or 300 seconds for all files of the context (a
 * longer DEBUGINFOD_MAXTIME replaces it), a note says so and no more files are asked for. progress
 * may be null; data is passed to it. */
int a2n_use_debuginfod(a2n_context *context, a2n_progress progress, void *data);

/* The text of /proc/kallsyms and of /proc/modules: size bytes at an offset of a file, both in
 * bytes; size 0 means up to the end of the file. It is read at the first lookup of a kernel
 * address. The kernel itself is the module "vmlinux"; a kernel module has its name in kallsyms
 * without brackets ("ext4", also "bpf" and "__builtin__ftrace"). A2N_INVALID_ARGUMENT: path is null
 * or "", or the offset is after the end of the file; A2N_FILE_NOT_FOUND: the file cannot be
 * opened. */
int a2n_set_kallsyms(a2n_context *context, const char *path, uint64_t offset, uint64_t size);
int a2n_set_kernel_modules(a2n_context *context, const char *path, uint64_t offset, uint64_t size);

/* An uncompressed kernel image (vmlinux), whose symbols replace those of kallsyms for the kernel
 * itself. It is used only if its build-id is the traced one, or one of them is not known, and if
 * its functions begin at symbols of the trace's kallsyms. Its addresses are moved by the KASLR
 * offset, the difference of the two _stext. A2N_INVALID_ARGUMENT: path is null or "";
 * A2N_FILE_NOT_FOUND: the file cannot be opened. */
int a2n_set_kernel_image(a2n_context *context, const char *path);

/* A symbol map of the kernel in the form of nm -a (genmap, System.map), used if there is no image
 * or the image does not match. It is moved by the difference of its _stext and that of the trace's
 * kallsyms, and must match them as an image must. Return codes as a2n_set_kernel_image(). */
int a2n_set_kernel_map(a2n_context *context, const char *path);

/* The build-id that the file of a path had when it was traced: lower-case hex; "": it had none;
 * "?": not known, because the file changed or was removed; "!": it did not have this path where the
 * recorder ran (chroot, container, private mount). A file of that path with another build-id is not
 * used for symbols, nor is one marked "?" or "!"; a separate debug file with the traced build-id is
 * always used. path may also be "[vdso]" or "vmlinux". inode: the file's inode, if several files
 * had the path; 0: each file with that path for which no call has the inode. After the first call
 * for any path, files for which there was none are like "?".
 * A2N_INVALID_ARGUMENT: path is null or "", or build_id has another form. */
int a2n_set_build_id(a2n_context *context, const char *path, uint64_t inode, const char *build_id);

/* ---- processes ------------------------------------------------------------------------------ */
/* From this time on pid exists and has no mappings; an earlier image of that pid ends. */
int a2n_create_process(a2n_context *context, uint64_t time, uint32_t pid);

/* child starts with a copy of parent's mappings and with its name; an earlier process of that pid
 * ends. An unknown parent is created. A2N_FORK_ERROR: both are the same. */
int a2n_fork_process(a2n_context *context, uint64_t time, uint32_t parent, uint32_t child);

/* child shares the address space of parent until it execs. An unknown parent is created.
 * A2N_CLONE_ERROR: both are the same. */
int a2n_clone_process(a2n_context *context, uint64_t time, uint32_t parent, uint32_t child);

/* A new image begins in pid: its mappings end, and it keeps its name until another one is set. An
 * unknown pid is created. */
int a2n_exec_process(a2n_context *context, uint64_t time, uint32_t pid);

/* Nothing will be asked or reported about the process pid any more, until another one has its id:
 * the library forgets its name, its images and what only they had mapped, so that memory grows with
 * the processes that run. Processes that share its mappings, or were forked from it, keep them.
 * What pointed to names stays valid. An unknown pid does nothing. */
int a2n_release_process(a2n_context *context, uint32_t pid);

/* pid has this name from this time on. An unknown pid is created. A2N_INVALID_ARGUMENT: name is
 * null. */
int a2n_set_process_name(a2n_context *context, uint64_t time, uint32_t pid, const char *name);

/* The name of pid at this time; null: pid was not known at this time or had no name. */
const char *a2n_get_process_name(a2n_context *context, uint64_t time, uint32_t pid);

/* ---- modules -------------------------------------------------------------------------------- */
#define A2N_STAMP_ANON 0xfffffff1u
#define A2N_STAMP_VSYSCALL32 0xfffffff2u
#define A2N_STAMP_VSYSCALL64 0xfffffff4u
#define A2N_STAMP_VDSO 0xfffffff8u

/* While a process that mapped a file runs on this machine, the library can open the file through
 * /proc, even if it was deleted or replaced or is in another mount namespace. The library tries
 * that file last, after the search path and the path itself, and uses it only if its build-id is
 * the traced one. */

/* From this time on, pid has an executable mapping of length bytes at base. name: the file's path,
 * "//anon", "[vdso]", "[vsyscall]" or any other label; stamp: 0 or A2N_STAMP_*; offset: the file
 * offset of the mapping in bytes, 0 if not known; inode: the file's inode, 0 if not known. An
 * unknown pid is created. A2N_INVALID_ARGUMENT: name is null or ""; A2N_ADD_MODULE_ERROR: length is
 * 0, or base + length overflows. */
int a2n_add_module(a2n_context *context, uint64_t time, uint32_t pid, uint64_t base,
		   uint64_t length, const char *name, uint32_t stamp, uint64_t offset,
		   uint64_t inode);

/* ---- JIT-compiled code ---------------------------------------------------------------------- */
/* A runtime reports a method after it created the code. So a method exists from the end of the
 * previous method that it overlaps, until it is removed or another method that overlaps it is
 * reported. It takes precedence over modules, except files that were mapped later. Its module is
 * "JITCODE".
 * Dynamic code (stubs, adapters, an interpreter; Performance Inspector: MMI) has the module
 * "GENERATED_CODE". */

typedef struct a2n_method_line {
	uint32_t offset; /* bytes from the method's address: the line's code begins here */
	uint32_t line;
} A2N_METHOD_LINE;

/* Code longer than this, in bytes, is not stored. */
#define A2N_LONGEST_CODE ((uint64_t)1 << 28)

/* Reports a method of length bytes at address in an existing process. code: its bytes, or null.
 * lines, count: its source lines; null if count is 0. Reporting an existing method again has no
 * effect. A2N_METHOD_NAME_ERROR: name is null or ""; A2N_METHOD_LENGTH_ERROR: length is 0,
 * or address + length overflows; A2N_NO_PROCESS: pid is not known. */
int a2n_add_method(a2n_context *context, uint64_t time, uint32_t pid, const char *name,
		   uint64_t address, uint64_t length, const void *code,
		   const A2N_METHOD_LINE *lines, size_t count);

/* Reports dynamic code; it may be inside other dynamic code. Return codes as a2n_add_method(). */
int a2n_add_dynamic_code(a2n_context *context, uint64_t time, uint32_t pid, const char *name,
			 uint64_t address, uint64_t length);

/* The method at address is removed. If no method is known there, code at that address is unknown
 * before this time. A2N_NO_PROCESS: pid is not known. */
int a2n_remove_method(a2n_context *context, uint64_t time, uint32_t pid, uint64_t address);

/* All dynamic code is reported with this name; null or "", the default: each piece has its own
 * name. */
int a2n_set_dynamic_code_name(a2n_context *context, const char *name);

/* Forms of files that a runtime writes about its code: */
#define A2N_JIT_LOG 1	   /* log-jita2n of JProf */
#define A2N_JIT_DUMP 2	   /* jitdump, as for perf inject */
#define A2N_JIT_PERF_MAP 3 /* perf-PID.map: no timestamps; used if no other form has a name */

/* The ids of a process that runs in its own PID namespace; 0: it has none, or not known. */
typedef struct a2n_jit_process {
	uint32_t inner_pid;	/* NSpid: its id in that namespace */
	uint32_t pid_namespace; /* the namespace's inode */
} A2N_JIT_PROCESS;

/* Reads a file of this form (A2N_JIT_*) about the code of pid. Report the process first: its start
 * time must match the file. process may be null. A dump or map must be owned by root, by the user
 * of this program or, if that is root, by the user of pid, and be writable by no other user. A
 * symbolic link as the last component of the path is refused, and in the path of a dump, which the
 * kernel has reported, any link. Notes report damage in a file that is used. A2N_INVALID_ARGUMENT: path is null or "", or form is not valid; A2N_FILE_NOT_FOUND;
 * A2N_JITTED_ERROR: the file is refused, and nothing in it is used. a2n_get_error_text() has the
 * reason. */
int a2n_load_methods(a2n_context *context, uint32_t pid, int form, const char *path,
		     const A2N_JIT_PROCESS *process);

/* Opens such a file for reading, with the checks of a2n_load_methods(). The caller closes *fd. It
 * can pass *fd to a2n_load_methods_from(), which then reads the same file even if the path leads to
 * another one later. Return codes as a2n_load_methods(). */
int a2n_open_methods(a2n_context *context, uint32_t pid, int form, const char *path, int *fd);

/* Reads such a file from an open descriptor, from its beginning, without the checks of owner and
 * links. name: for messages. The caller still owns fd, whose offset has changed; no other thread
 * may use that offset at the same time. A2N_INVALID_ARGUMENT: fd is negative, name is null, or form
 * is not valid; other codes as a2n_load_methods(). */
int a2n_load_methods_from(a2n_context *context, uint32_t pid, int form, int fd, const char *name,
			  const A2N_JIT_PROCESS *process);

/* The first time after this one at which JIT-compiled code of pid changes the owner of an address;
 * UINT64_MAX: never, or an error. */
uint64_t a2n_get_next_code_change(a2n_context *context, uint64_t time, uint32_t pid);

/* Whether times of JIT-compiled code are used; default 1. With 0, from now on an address belongs to
 * the method that was reported last, at any time. It cannot be turned on again. */
int a2n_set_jit_times(a2n_context *context, int on);

/* What is to be added to the time of a file (CLOCK_REALTIME) to get a time of the trace's clock, in
 * nanoseconds. From now on, a file of the form A2N_JIT_PERF_MAP names no code of a process, or of an
 * image, that began more than 50 ms after the file was last written: an earlier process with that id
 * wrote it. Without this call, times of files are not compared. Valid for a trace of this boot. */
int a2n_set_file_clock(a2n_context *context, int64_t offset);

/* Whether a2n_load_methods() also stores the bytes of code; default 0. */
int a2n_set_code_gather(a2n_context *context, int on);

/* ---- lookup --------------------------------------------------------------------------------- */
#define A2N_FLAG_MODULE_64 0x1 /* the module's file has 64 bits */
#define A2N_FLAG_MODULE_32 0x2 /* it has 32 bits; neither flag: not known */
#define A2N_FLAG_EXPORTS 0x4   /* the module has exported symbols only */
#define A2N_FLAG_JITTED 0x8    /* the symbol is JIT-compiled code */
#define A2N_FLAG_RANGE 0x10    /* the symbol is in a range, see a2n_collapse_symbol_range() */
#define A2N_FLAG_MMI 0x80      /* JIT-compiled code that is not a method: dynamic code */
#define A2N_FLAG_KERNEL 0x10000 /* our addition: an address of the kernel or of a kernel module */
#define A2N_FLAG_FUNCTION 0x40000 /* our addition: there is no symbol; name, address and length are
				   * those of a function, see A2N_NSF_FUNCTION */
#define A2N_FLAG_TIMELESS 0x20000 /* our addition: JIT-compiled code from a file without
				   * timestamps: the name may be wrong */

/* Equal names of equal modules are returned as equal pointers. */
typedef struct a2n_symdata {
	const char *owning_pid_name; /* null when the process has no name */
	uint32_t owning_pid;	     /* owner of the address space (for a clone: its parent) */
	uint32_t flags;		     /* A2N_FLAG_* */
	const char *mod_name;	     /* "NoModule" when there is none */
	uint64_t mod_addr;
	uint64_t mod_length; /* in bytes */
	const char *sym_name; /* see a2n_set_no_symbol_action() */
	uint64_t sym_addr;    /* address in the process, 0 without a module */
	uint64_t sym_length;  /* in bytes */
	const void *method; /* our addition: identifies a method, even if several have the same
			     * name and address; else null */
} SYMDATA;

/* The symbol at an address of pid at this time. Kernel addresses do not depend on pid. A procedure
 * linkage table is "<plt>". Without a symbol, sym_addr and sym_length are those of the function
 * (A2N_NSF_FUNCTION), the section (A2N_NSF_SECTION) or the module. A2N_SUCCESS, A2N_NO_SYMBOL_FOUND,
 * A2N_NO_SYMBOLS, A2N_NO_MODULE and A2N_FLAKY_SYMBOL fill data; A2N_NULL_SYMDATA: data is null. */
int a2n_get_symbol(a2n_context *context, uint64_t time, uint32_t pid, uint64_t address,
		   SYMDATA *data);

/* One of the functions at an address. */
typedef struct a2n_frame {
	const char *name;
	const char *file; /* null when it is not known */
	uint32_t line;	  /* 0 when it is not known */
} A2N_FRAME;

/* The functions at an address, each inlined into the next one; the last one is the symbol that
 * a2n_get_symbol() returns. The first capacity functions are stored in frames, which may be null if
 * capacity is 0; *count becomes the number of all. A2N_NO_SYMBOL_FOUND: there are none;
 * A2N_NULL_SYMDATA: count or frames is null. */
int a2n_get_frames(a2n_context *context, uint64_t time, uint32_t pid, uint64_t address,
		   A2N_FRAME *frames, size_t capacity, size_t *count);

/* The bytes of the symbol, or of the function without a symbol, at an address of pid at this time: *length bytes from the address *start.
 * For JIT-compiled code they are available if a2n_set_code_gather() was on or a2n_add_method() had
 * them; otherwise they come from the mapped file. A2N_NO_SYMBOL_FOUND: there is no symbol, or its
 * bytes are not available; A2N_NULL_SYMDATA: code, start or length is null. */
int a2n_get_code(a2n_context *context, uint64_t time, uint32_t pid, uint64_t address,
		 const unsigned char **code, uint64_t *start, size_t *length);

/* Copies bytes of code from an address of pid on, at this time, up to the first byte that is not
 * available and at most capacity bytes; *length becomes their number. It also copies code without a
 * symbol from mapped files. Kernel code comes from the image that was set. It can differ from the
 * code that ran: the kernel patches its code at boot and while it runs. A2N_NO_SYMBOL_FOUND: no
 * byte is available; A2N_NULL_SYMDATA: length is null, or bytes is null and capacity is not 0. */
int a2n_read_code(a2n_context *context, uint64_t time, uint32_t pid, uint64_t address,
		  unsigned char *bytes, size_t capacity, size_t *length);

/* The function to which the entry of a procedure linkage table at an address of pid leads at this
 * time: the name in the file's dynamic symbols, or of an indirect function without one. It is not
 * demangled, and it is null if no such entry is there or the file is not on this machine. */
const char *a2n_get_plt_name(a2n_context *context, uint64_t time, uint32_t pid, uint64_t address);

/* *file_address becomes the virtual address in its file (or in the vdso's image), as nm and objdump show
 * it, of an address of pid at this time. A2N_NO_MODULE: no file was read, as for JIT-compiled code, the
 * kernel and saved symbols of an unknown file; A2N_NULL_SYMDATA: file_address is null. */
int a2n_get_file_address(a2n_context *context, uint64_t time, uint32_t pid, uint64_t address,
			 uint64_t *file_address);

/* The symbol at a virtual address in the file of this path and inode (0: not known), which no process
 * needs to have mapped: with a2n_set_build_id() also a file that is on no machine any more, if its
 * debug file is found. Addresses in data are virtual addresses in the file. Return codes as
 * a2n_get_symbol(). A2N_INVALID_ARGUMENT: path is null or "". */
int a2n_get_file_symbol(a2n_context *context, const char *path, uint64_t inode, uint64_t file_address,
			SYMDATA *data);

/* *uid becomes the user id of the owner of the files, as they were when they were opened, that have
 * the symbols of an address of pid at this time. It is 0 only if all of them belong to root. The
 * owner chose the names and the paths of sources in them. A2N_NO_MODULE: no file was read, as for
 * JIT-compiled code, the kernel and saved symbols; A2N_NULL_SYMDATA: uid is null. */
int a2n_get_owner(a2n_context *context, uint64_t time, uint32_t pid, uint64_t address,
		  uint32_t *uid);

/* ---- saved symbols (MSI files) -------------------------------------------------------------- */
/* An MSI file contains the symbols, sections and build-ids of modules, so that addresses can be
 * looked up on a machine without these files. genmsi(1) describes its format. */

/* Reads the symbols of all modules that were added, and of the kernel's image or map if one was
 * set, and writes them to a new file, which gets its name when it is complete. For a module without
 * a usable file it saves the reason, which is also a note. A2N_INVALID_ARGUMENT: path is null or
 * ""; A2N_FILE_NOT_FOUND: the kernel's image or map, or the directory, was not found;
 * A2N_WRITE_ERROR: another failure. a2n_get_error_text() has the reason. */
int a2n_create_msi_file(a2n_context *context, const char *path);

/* From now on the symbols of modules come from this file, and no other files are read; a saved
 * kernel image replaces that of a2n_set_kernel_image(). A module is recognized by its traced
 * build-id, with any path, and by its path only if the trace has no build-id for it.
 * A2N_INVALID_ARGUMENT: path is null or ""; A2N_FILE_NOT_FOUND; A2N_MSI_ERROR: not such a file, or
 * a module has already been added; A2N_MSI_DAMAGED: the intact part is used. a2n_get_error_text()
 * has the reason. */
int a2n_load_msi_file(a2n_context *context, const char *path);

#define A2N_OS_LINUX 2

/* The properties of the loaded MSI file: always 64, 0 and A2N_OS_LINUX. Each pointer may be null.
 * A2N_MSI_ERROR: no file was loaded. */
int a2n_get_msi_file_information(a2n_context *context, int *word_size, int *big_endian, int *os);

/* For an archive of one trace. Saving writes the symbols that lookups have read up to now, and the
 * kernel's symbols as they were used, to an open file from its offset on; loading reads such a file
 * from its beginning and uses its symbols for the same trace; its kernel symbols replace all other
 * sources. The caller still owns fd; no other thread may use its offset at the same time. Return
 * codes as a2n_create_msi_file() and a2n_load_msi_file(). */
int a2n_save_trace_symbols(a2n_context *context, int fd);
int a2n_load_trace_symbols(a2n_context *context, int fd);

/* The path of a file that symbols were read from up to now. Each file is in the list once; index is
 * from 0; null: there are no more. */
const char *a2n_get_symbol_file(a2n_context *context, size_t index);

/* Opens that file for reading; the caller closes *fd. A2N_INVALID_ARGUMENT: fd is null, or index is
 * out of range; A2N_FILE_NOT_FOUND: the file was removed, replaced or changed after its
 * symbols had been read. a2n_get_error_text() has the reason. */
int a2n_open_symbol_file(a2n_context *context, size_t index, int *fd);

/* Opens the file of this path and inode (0: not known) for reading, which is looked for and compared
 * with the traced one as for its symbols; not its separate debug file. The caller closes *fd.
 * A2N_FILE_NOT_FOUND: it is not there; A2N_NO_MODULE: the file there is another one, or cannot be
 * read; A2N_INVALID_ARGUMENT: path is null or "", or fd is null. a2n_get_error_text() has the
 * reason. */
int a2n_open_file(a2n_context *context, const char *path, uint64_t inode, int *fd);

/* ---- notes ---------------------------------------------------------------------------------- */
/* The note with this index, from 0: a message for the reader of a report, such as a file that was
 * not used because its build-id differs or it changed, a file that could not be read, or kernel
 * symbols that were withheld. Each note is in the list once, and only for modules in which
 * addresses were looked up. Null: there are no more. */
const char *a2n_get_note(a2n_context *context, size_t index);

/* The level of a note: A2N_MESSAGES_ERROR, A2N_MESSAGES_WARNING or A2N_MESSAGES_INFO;
 * A2N_MESSAGES_NONE: there is no such note. */
int a2n_get_note_level(a2n_context *context, size_t index);

/* The number of bytes of the damaged file that could not be used; 0 for notes of other levels. */
uint64_t a2n_get_note_bytes(a2n_context *context, size_t index);

#ifdef __cplusplus
}
#endif

#endif /* A2N_CONTEXT_H */
