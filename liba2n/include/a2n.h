/* SPDX-License-Identifier: MIT */
/*
 * liba2n: which module and symbol an address of a process belonged to at a moment.
 *
 * Function names and return codes are those of the original library (its published API list);
 * what we add is named A2n...At, A2n...Ex or listed as ours. Maps are intervals in address and
 * time: every call that changes a process or asks about it happens at a time, nanoseconds of the
 * trace's clock. The calls without a time use the one set by A2nSetTime(), 0 in the beginning.
 *
 * Times must not run back for the changes of one process; questions may be asked about any time.
 * A mapping ends what it overlaps. A process's image begins at A2nExecProcessAt() (or its fork)
 * and ends when the pid is forked anew; nothing ends it at the process's death, because ticks
 * follow that.
 *
 * Thread-safety: none; the caller serialises. A thread is not cancelled (pthread_cancel) inside a
 * call, but after it. The library keeps its state per process, never
 * exits, prints nothing; A2nGetNote() hands out what a report must say. Symbols are read when an
 * address first falls into a module.
 */
#ifndef A2N_H
#define A2N_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- return codes (the original's numbers) ------------------------------------------------- */
#define A2N_SUCCESS 0
#define A2N_NO_SYMBOL_FOUND 1 /* the module is known, no symbol covers the address */
#define A2N_NO_SYMBOLS 2      /* the module is known and has no symbols at all */
#define A2N_NO_MODULE 3
#define A2N_FLAKY_SYMBOL 4    /* a name, but an export's without size, taken to reach to the next */
#define A2N_ADD_MODULE_ERROR 11
#define A2N_CREATE_PROCESS_ERROR 10
#define A2N_NO_PROCESS 13
#define A2N_MEMORY_ERROR 16
#define A2N_NULL_SYMDATA 17
#define A2N_INVALID_ARGUMENT 40
#define A2N_FILE_NOT_FOUND 32
#define A2N_WRITE_ERROR 34
#define A2N_MSI_ERROR 35   /* not an MSI file, of another version, or it comes too late */
#define A2N_MSI_DAMAGED 36 /* what is good of the MSI file was taken */
#define A2N_RANGE_FILE_ERROR 44
#define A2N_JITTED_ERROR 27 /* a file that tells of jitted code cannot be used */
#define A2N_METHOD_LENGTH_ERROR 46
#define A2N_METHOD_NAME_ERROR 47
#define A2N_FORK_ERROR 31
#define A2N_CLONE_ERROR 30
#define A2N_INTERNAL_ERROR 49

/* The code's meaning, static storage, never null. */
const char *A2nRcToString(int rc);

/* major << 24 | minor << 16 | revision */
uint32_t A2nGetVersion(void);

/* Forgets everything: processes, modules, settings. Called before the first use it does nothing.
 * A2N_SUCCESS. */
int A2nInit(void);

/* What the last call that returned one of these has to say: a sentence without a final full stop, ""
 * when there is nothing more than the code. Calls that name this one fill it. Valid until the next of
 * them (our addition). */
const char *A2nGetErrorText(void);

/* ---- settings (before the first lookup) ---------------------------------------------------- */
#define A2N_NSF_NULL 1    /* no symbol: name is null */
#define A2N_NSF_NSF 2     /* "NoSymbolFound", "NoSymbols" */
#define A2N_NSF_SECTION 3 /* the section's name as "<<.text>>", else as NSF (default) */

void A2nSetNoSymbolFoundAction(int action);

/* C++ and Rust names are demangled (default off). */
void A2nSetDemangleCppNamesMode(int on);

#define A2N_QUALITY_ANY 1  /* where no symbol covers an address, the one before it in its section */
#define A2N_QUALITY_GOOD 2 /* default */

/* With A2N_QUALITY_ANY a lookup returns A2N_FLAKY_SYMBOL for such a symbol. */
void A2nSetSymbolQualityMode(int mode);

/* Whether a file has to be shown to be the traced one (by build-id, inode and not having changed)
 * before its symbols are used, default yes. With no, the file of the path is used, and a note says
 * where it is not shown. */
void A2nSetSymbolValidationMode(int on);

/* The same for the kernel's image, map or saved image: whether its symbols have to fit the trace's. */
void A2nSetValidateKernelMode(int on);

/* The second symbol of a name within a module, by address, becomes "name#2" and so on (default off). */
void A2nSetRenameDuplicateSymbolsMode(int on);

/* Symbols from first to last, both included and as nm names them, of a module (its path or the path's
 * last component) are reported as one of this name; null or "": "FIRST..LAST". An address that two
 * ranges cover belongs to the one told first. A note tells of a range whose symbols the module does
 * not have. A2N_INVALID_ARGUMENT. */
int A2nCollapseSymbolRange(const char *module, const char *first, const char *last, const char *name);

/* The same for the lines "MODULE FIRST LAST [NAME]" of a file; empty lines and those beginning with #
 * are comments. All or nothing: A2N_FILE_NOT_FOUND, A2N_RANGE_FILE_ERROR, see A2nGetErrorText(). */
int A2nSetRangeDescFilename(const char *name);

#define A2N_RANGE_NAME 0	/* default */
#define A2N_RANGE_NAME_SYMBOL 1 /* "RANGE.SYMBOL", at the symbol's address */
void A2nSetReturnRangeSymbolsMode(int mode);

/* Which notes A2nGetNote() hands out: 0 none, 1 errors, 2 warnings as well (default), 3 information on
 * where each module's symbols came from as well, 4 all. */
#define A2N_MESSAGES_NONE 0
#define A2N_MESSAGES_ERROR 1
#define A2N_MESSAGES_WARNING 2
#define A2N_MESSAGES_INFO 3
#define A2N_MESSAGES_ALL 4
void A2nSetErrorMessageMode(int mode);

/* Directories, separated by ':', in which files of a module's name (with the whole path below the
 * directory, or the last component alone) are looked for: first the module, then its separate debug
 * file. They come before the file's own path. Default: none. Null or "" resets. */
void A2nSetSymbolSearchPath(const char *path);

/* Text of /proc/kallsyms and of /proc/modules, at an offset of a file; size 0 means to its end.
 * A2N_FILE_NOT_FOUND, A2N_INVALID_ARGUMENT. Symbols are read at the first kernel lookup. The kernel
 * itself is module "vmlinux"; a kernel module has its name as in kallsyms, without brackets ("ext4",
 * also "bpf" and "__builtin__ftrace"). */
int A2nSetKallsymsFileLocation(const char *name, uint64_t offset, uint64_t size);
int A2nSetModulesFileLocation(const char *name, uint64_t offset, uint64_t size);

/* An uncompressed kernel image (vmlinux) to take the kernel's symbols from instead; it is used
 * only when its build-id (or, without one, its _stext) fits the trace's kallsyms, moved by the
 * KASLR offset. A2N_FILE_NOT_FOUND. */
int A2nSetKernelImageName(const char *name);

/* A symbol map of the kernel, in the form of nm -a (genmap, System.map), used where there is no image
 * or it does not fit. It is placed by its _stext and the one of the trace's kallsyms and has to fit
 * them as an image has. A2N_FILE_NOT_FOUND. */
int A2nSetKernelMapName(const char *name);

/* Build-id of a file as it was when traced: lower-case hex; "" for a file that had none; "?" when
 * it is not known because the file changed or vanished, "!" because it had not this path where the
 * recorder ran (chroot, container, private mount). A file of that path with another build-id is
 * not used for symbols, nor is one marked "?" or "!"; a separate debug file with the traced build-id is used
 * whatever became of the file itself. "[vdso]" and "vmlinux" may be told too (our addition).
 * A2N_INVALID_ARGUMENT. */
int A2nSetModuleBuildId(const char *path, const char *build_id);

/* The same for the file of that path that has this inode, where several files had the path (our
 * addition). */
int A2nSetFileBuildId(const char *path, uint64_t inode, const char *build_id);

/* ---- processes ------------------------------------------------------------------------------ */
/* The time of the calls below that take none (our addition). */
void A2nSetTime(uint64_t time);

/* pid exists from now on, with nothing mapped; an earlier image of that pid ends. */
int A2nCreateProcess(uint32_t pid);

/* forked starts at this time with a copy of forker's mappings and name; an earlier process of that
 * pid ends. An unknown forker is created. A2N_FORK_ERROR when both are the same. */
int A2nForkProcess(uint32_t forker, uint32_t forked);

/* cloned shares cloner's address space until it execs. A2N_CLONE_ERROR when both are the same. */
int A2nCloneProcess(uint32_t cloner, uint32_t cloned);

/* A new image begins in pid: its mappings end, its name stays until it is set (our addition). */
int A2nExecProcess(uint32_t pid);

int A2nSetProcessName(uint32_t pid, const char *name);

/* Name of pid at a time; null when the pid was not known then. Valid until A2nInit(). */
const char *A2nGetProcessName(uint32_t pid);
const char *A2nGetProcessNameAt(uint32_t pid, uint64_t time);

/* ---- modules -------------------------------------------------------------------------------- */
#define A2N_STAMP_ANON 0xfffffff1u
#define A2N_STAMP_VSYSCALL32 0xfffffff2u
#define A2N_STAMP_VSYSCALL64 0xfffffff4u
#define A2N_STAMP_VDSO 0xfffffff8u

/* While a process that mapped a file lives on this machine, the file can be had from it (/proc), also
 * when it was deleted, replaced, or lies in a mount namespace of its own. It is used when its build-id
 * is the traced one, after the search path and the path itself.
 */

/* An executable mapping of pid. name is the file's path, "//anon", "[vdso]", "[vsyscall]" or any
 * other label; stamp 0 or A2N_STAMP_*. The last parameter of the original is always null and left out.
 * An unknown pid is created. A2N_ADD_MODULE_ERROR for a length of 0 or one that wraps around,
 * A2N_INVALID_ARGUMENT without a name. */
int A2nAddModule(uint32_t pid, uint64_t base, uint64_t length, const char *name, uint32_t stamp,
		 uint32_t checksum);

/* The same with the mapping's offset in the file and its inode (0: not known) (our addition). */
int A2nAddModuleEx(uint32_t pid, uint64_t base, uint64_t length, const char *name, uint32_t stamp,
		   uint64_t offset, uint64_t inode);

/* ---- code made at run time ------------------------------------------------------------------ */
/* A method is told of when it is there already: it counts from the end of what it overlaps to its own
 * removal, or to when another is told of that overlaps it. It takes precedence over modules, but for
 * files that were mapped later. Its module is "JITCODE", that of dynamic code "GENERATED_CODE".
 */

#define A2N_LINES_JVMTI 2
typedef struct a2n_method_line {
	uint32_t offset; /* bytes from the method's address: from here on it is this line */
	uint32_t line;
} A2N_METHOD_LINE;

/* Code is at most so long, in bytes, to be kept. */
#define A2N_LONGEST_CODE ((uint64_t)1 << 28)

/* A jitted method of a process that exists; code: its bytes, or null. What is told again while it is
 * there changes nothing. A2N_METHOD_NAME_ERROR without a name, A2N_METHOD_LENGTH_ERROR for a length of
 * 0 or one that wraps around, A2N_NO_PROCESS. */
int A2nAddJittedMethod(uint32_t pid, const char *name, uint64_t address, uint64_t length,
		       const void *code);

/* The same with its source lines, of type A2N_LINES_JVMTI; also A2N_INVALID_ARGUMENT. */
int A2nAddJittedMethodEx(uint32_t pid, const char *name, uint64_t address, uint64_t length,
			 const void *code, int line_type, size_t lines, const A2N_METHOD_LINE *line);

/* Dynamic code: stubs, adapters, an interpreter. One may lie inside another. */
int A2nAddMMIMethod(uint32_t pid, const char *name, uint64_t address, uint64_t length);

/* The method at address is gone; if none is known there, nothing is known of the place's past (our
 * addition). A2N_NO_PROCESS. */
int A2nRemoveJittedMethod(uint32_t pid, uint64_t address);

/* Dynamic code is reported as one symbol of this name; null or "": each piece by its own. */
void A2nSetCollapseMMIRange(const char *name);

/* What a runtime wrote about its code, in one of these forms: */
#define A2N_JIT_LOG 1	   /* log-jita2n of JProf */
#define A2N_JIT_DUMP 2	   /* jitdump, as for perf inject */
#define A2N_JIT_PERF_MAP 3 /* perf-PID.map: no times. Used where nothing else knows an address */

/* The process as it sees itself, where that is another way; 0: it does not, or is not known. */
typedef struct a2n_jit_process {
	uint32_t inner_pid; /* its id in a pid namespace of its own */
	uint32_t pid_namespace; /* the namespace's inode */
} A2N_JIT_PROCESS;

/* Reads such a file of a process, which should have been told of (its birth must fit the file). process
 * may be null. A dump or map has to belong to the super-user, to who runs this program or, if that is
 * the super-user, to who runs the process, and be writable by nobody else. A symbolic link as the path's
 * last component is refused (A2N_JITTED_ERROR). What is wrong with a file that is used is a note (our addition). A2N_FILE_NOT_FOUND; A2N_JITTED_ERROR: nothing of it is used,
 * see A2nGetErrorText(); A2N_INVALID_ARGUMENT. */
int A2nLoadJittedMethods(uint32_t pid, int form, const char *path, const A2N_JIT_PROCESS *process);

/* Opens such a file for reading, with the checks of A2nLoadJittedMethods(): *fd, which the caller closes,
 * can be given to A2nLoadJittedMethodsFrom() and then be used for more, whatever has the path by then.
 * Return codes as there (our addition). */
int A2nOpenJittedMethods(uint32_t pid, int form, const char *path, int *fd);

/* The same of an open file, from its beginning, that the caller vouches for; name: what messages call
 * it. fd stays the caller's (our addition). */
int A2nLoadJittedMethodsFrom(uint32_t pid, int form, int fd, const char *name,
			     const A2N_JIT_PROCESS *process);

/* The first moment after time at which an address of pid gets another owner by what is known of code
 * made at run time, UINT64_MAX: never (our addition). */
uint64_t A2nGetNextCodeChange(uint32_t pid, uint64_t time);

/* Whether times of jitted code count, default yes. With no, from now on the method told of last has
 * an address, whenever it was (our addition). */
void A2nSetJittedTimesMode(int on);

/* Whether files of jitted code are read with the bytes of code (default off). */
void A2nSetCodeGatherMode(int on);

/* ---- lookup --------------------------------------------------------------------------------- */
#define A2N_FLAG_KERNEL 0x10000   /* ours: an address of the kernel or of a kernel module */
#define A2N_FLAG_MODULE_64 0x1	  /* the module's file is of 64 bits */
#define A2N_FLAG_MODULE_32 0x2	  /* ... of 32 bits; neither: not known */
#define A2N_FLAG_EXPORTS 0x4      /* the name comes from exported symbols only */
#define A2N_FLAG_JITTED 0x8	  /* the symbol is code made at run time */
#define A2N_FLAG_MMI 0x80	  /* ... and dynamic code, no method */
#define A2N_FLAG_TIMELESS 0x20000 /* ours: ... from what tells no times: the name may be wrong */
#define A2N_FLAG_RANGE 0x10	  /* the symbol belongs to a range, see A2nCollapseSymbolRange() */

/* All pointers stay valid, and equal names of equal modules keep equal pointers, until A2nInit(). */
typedef struct a2n_symdata {
	const char *owning_pid_name; /* null when the process has no name */
	uint32_t owning_pid;	 /* whose address space it is (the cloner of a clone) */
	uint32_t flags;
	const char *mod_name; /* "NoModule" when there is none */
	uint64_t mod_addr;
	uint64_t mod_length;
	const char *sym_name; /* see A2nSetNoSymbolFoundAction */
	uint64_t sym_addr;    /* address in the process, 0 without a module */
	uint64_t sym_length;
	const void *method; /* ours: tells jitted methods of one name and address apart; else null */
} SYMDATA;

/* The symbol at an address of pid: of the kernel when the address is in the kernel's half, whatever
 * the pid; "<plt>" in a procedure linkage table. Without a symbol, sym_addr and sym_length are the
 * section's (mode SECTION) or the module's.
 * A2N_SUCCESS, A2N_NO_SYMBOL_FOUND, A2N_NO_SYMBOLS, A2N_NO_MODULE, A2N_FLAKY_SYMBOL (all five fill
 * data), A2N_NULL_SYMDATA, A2N_MEMORY_ERROR. */
int A2nGetSymbol(uint32_t pid, uint64_t address, SYMDATA *data);
int A2nGetSymbolAt(uint32_t pid, uint64_t address, uint64_t time, SYMDATA *data);

/* One of the functions that an address belongs to. */
typedef struct a2n_frame {
	const char *name;
	const char *file; /* null when it is not known */
	uint32_t line; /* 0 when it is not known */
} A2N_FRAME;

/* A directory of the caller's own, which no other user may write to, for what was read out of debug
 * information, since reading it again is slow. What is kept is used for the very file only that it was
 * read from, and takes 1 GiB at most: what was used least recently is removed. The directory is made where
 * it is missing. Null or "", the default: nothing is kept (our addition). */
void A2nSetCacheDirectory(const char *path);

/* The functions at an address, each inlined into the next, the last one being the symbol that
 * A2nGetSymbolAt() names. count is how many there are, of which at most room are stored. All pointers
 * stay valid until A2nInit() (our addition). A2N_SUCCESS, A2N_NO_SYMBOL_FOUND (there are none),
 * A2N_NULL_SYMDATA. */
int A2nGetFramesAt(uint32_t pid, uint64_t address, uint64_t time, A2N_FRAME *frames, size_t room,
		   size_t *count);

/* The bytes of the symbol at an address of pid, as they were then: of code made at run time if its file
 * was read in code-gather mode, else from the mapped file. start is the address of the first one. They
 * stay valid until A2nInit() (our addition). A2N_SUCCESS, A2N_NO_SYMBOL_FOUND (there is no symbol, or
 * its bytes are not known), A2N_NULL_SYMDATA. */
int A2nGetCodeAt(uint32_t pid, uint64_t address, uint64_t time, const unsigned char **code,
		 uint64_t *start, size_t *length);

/* Copies bytes of code from an address of pid on, as they were then, as many as are known one behind
 * the other, room at most: of a mapped file also where it has no symbol, of the kernel from the image
 * that was set, which is not always what ran, since the kernel changes its code as it starts and runs (our
 * addition). A2N_SUCCESS, A2N_NO_SYMBOL_FOUND (none are known), A2N_NULL_SYMDATA. */
int A2nReadCodeAt(uint32_t pid, uint64_t address, uint64_t time, unsigned char *bytes, size_t room,
		  size_t *length);

/* ---- saved symbol information (MSI files) --------------------------------------------------- */
/* An MSI file holds what gathering from files gave: symbols, sections and build-ids of modules, so
 * that addresses can be named where the files are not. Its format is in genmsi(1). */

/* Gathers the symbols of every module that was added, and of the kernel's image or map if one was
 * set, and writes them to a new file, which appears under its name when it is complete. Modules of
 * which no file could be used are kept with the reason, which is also a note.
 * A2N_WRITE_ERROR, A2N_FILE_NOT_FOUND (the kernel's image), see A2nGetErrorText(). */
int A2nCreateMsiFile(const char *name);

/* From now on symbols of modules come from this file, and no files are looked at; a saved kernel image
 * takes the place of A2nSetKernelImageName()'s. A module is recognised by its build-id as traced,
 * under whatever path, and by its path only where the trace tells no build-id. Only before any module
 * is added. A2N_FILE_NOT_FOUND, A2N_MSI_ERROR, A2N_MSI_DAMAGED (what is good was taken), see
 * A2nGetErrorText(). */
int A2nLoadMsiFile(const char *name);

#define A2N_OS_LINUX 2
/* Of the file that was loaded: 64, 0, A2N_OS_LINUX. Null is allowed. A2N_MSI_ERROR when none was. */
int A2nGetMsiFileInformation(int *word_size, int *big_endian, int *os);

/* For an archive of one trace (our addition). Saves what was gathered by the lookups up to now, and the
 * kernel's symbols as they were used, to an open file, from its present place on; loading uses them
 * for the same trace again, the kernel's whatever else is known of it. fd stays the caller's and is
 * read from its beginning. As A2nCreateMsiFile() and A2nLoadMsiFile(). */
int A2nSaveTraceSymbols(int fd);
int A2nLoadTraceSymbols(int fd);

/* Path of the index-th file that symbols were read from, up to now, each once; null when there are no
 * more. Valid until A2nInit() (our addition). */
const char *A2nGetSymbolFile(size_t index);

/* Opens that very file for reading: *fd, which the caller closes. A2N_FILE_NOT_FOUND: it is gone, or was
 * replaced or changed after its symbols had been read, see A2nGetErrorText(); A2N_INVALID_ARGUMENT
 * (our addition). */
int A2nOpenSymbolFile(size_t index, int *fd);

/* ---- environment ------------------------------------------------------------------------------ */
/* Read when the library is first used and after A2nInit(), in upper or lower case; the function then
 * has no effect: A2N_SEARCH_PATH, A2N_SYMBOL_QUALITY=good|any, A2N_ERROR_MESSAGES=none|error|warn|
 * info|all, A2N_NSF_ACTION=null|nsf|section, A2N_RENAME_DUPLICATE_SYMBOLS, A2N_DONT_DEMANGLE,
 * A2N_DONT_VALIDATE, A2N_RETURN_RANGE_SYMBOLS (the last four by being set). Not in programs that run
 * with another user's rights. */

/* ---- notes (our addition) -------------------------------------------------------------------- */
/* The index-th thing a report must say: a file not used because its build-id differs or it changed,
 * a file that could not be read, kernel symbols withheld. Only of modules that were looked up; each
 * once; null when there are no more. Valid until A2nInit(). */
const char *A2nGetNote(size_t index);

/* A2N_MESSAGES_ERROR: a file that is used is damaged; A2N_MESSAGES_WARNING; A2N_MESSAGES_INFO;
 * A2N_MESSAGES_NONE when there is no such note. */
int A2nGetNoteLevel(size_t index);

/* Bytes of the damaged file that could not be used; 0 for notes of other levels. */
uint64_t A2nGetNoteBytes(size_t index);

#ifdef __cplusplus
}
#endif

#endif /* A2N_H */
