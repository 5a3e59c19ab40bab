// SPDX-License-Identifier: MIT
// Runs code from every kind of memory and logs its address (truth.h). Usage: places CASE
// MILLISECONDS LIBRARY [OTHER]; each library has one function, library_work or replacement_work.
// After the last stay it writes "done" and, if LINGER is in the environment, stays alive until it
// is killed.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "burn.h"
#include "truth.h"

#define PAGE 4096ul

static unsigned long milliseconds;
static const char *library, *other;

static _Noreturn void fail(const char *what)
{
	perror(what);
	_exit(1);
}

static void *load(const char *path)
{
	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (!handle) {
		fprintf(stderr, "%s\n", dlerror());
		_exit(1);
	}
	return handle;
}

static void stay_in(void *handle, const char *symbol, const char *module)
{
	work_function *work = (work_function *)dlsym(handle, symbol);

	if (!work)
		fail(symbol);
	stay(work, milliseconds, "places", "places", symbol, module);
}

static void copy(int from, int to)
{
	char bytes[65536];
	ssize_t got;

	while ((got = read(from, bytes, sizeof bytes)) > 0)
		if (write(to, bytes, (size_t)got) != got)
			fail("write");
	if (got < 0)
		fail("read");
}

/* An ordinary file, at any path. */
static void do_plain(void)
{
	stay_in(load(library), "library_work", library);
}

/* A file without a path; another memfd with the same name has other code. */
static void run_memfd(const char *file, const char *symbol)
{
	int from = open(file, O_RDONLY | O_CLOEXEC);
	int memory = memfd_create("code", MFD_CLOEXEC);
	char path[64];

	if (from < 0 || memory < 0)
		fail(file);
	copy(from, memory);
	snprintf(path, sizeof path, "/proc/self/fd/%d", memory);
	stay_in(load(path), symbol, "/memfd:code (deleted)");
}

static void do_memfd(void)
{
	run_memfd(library, "library_work");
	if (other)
		run_memfd(other, "replacement_work");
}

static void do_deleted(void)
{
	void *handle = load(library);

	if (unlink(library) != 0)
		fail(library);
	stay_in(handle, "library_work", library);
}

/* Another file is renamed to the path; the old one continues to run. Then the new one runs as
 * well. */
static void do_replaced(void)
{
	void *handle = load(library);

	if (rename(other, library) != 0)
		fail(other);
	stay_in(handle, "library_work", library);
}

static void do_both(void)
{
	char path[512];

	do_replaced();
	/* The loader already knows the path: a different spelling makes it compare the files. */
	snprintf(path, sizeof path, "/.%s", library);
	stay_in(load(path), "replacement_work", library);
}

/* The machine code of burn.h's loop: the compiler cannot know its address. */
static void *put_code(void *place)
{
	static const unsigned char code[] = {
		0x48, 0xff, 0xcf, /* dec %rdi */
		0x75, 0xfb,	  /* jnz */
		0xc3,		  /* ret */
	};

	return memcpy(place, code, sizeof code);
}

static void *map(size_t size, int protection)
{
	void *memory = mmap(NULL, size, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		fail("mmap");
	return memory;
}

static void stay_at(void *place, const char *symbol, const char *module)
{
	stay((work_function *)put_code(place), milliseconds, "places", "places", symbol, module);
}

static void do_anon(void)
{
	stay_at(map(PAGE, PROT_READ | PROT_WRITE | PROT_EXEC), "NoSymbols", "//anon");
}

/*
 * mremap enlarges an executable file mapping at its address, then moves it. The code is a library's
 * text, mapped without the loader: the second page is added by the growth.
 */
static void do_grow(void)
{
	/* Free address space after the mapping, so that it can grow in place. */
	char *room = map(8 * PAGE, PROT_NONE);
	int file = open(library, O_RDONLY | O_CLOEXEC);
	struct stat facts;

	if (file < 0 || fstat(file, &facts) != 0 || facts.st_size < 2 * (off_t)PAGE)
		fail(library);
	munmap(room, 8 * PAGE);
	if (mmap(room, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, file, 0) != room)
		fail("mmap");
	if (mremap(room, PAGE, 2 * PAGE, 0) != room)
		fail("mremap");
	/* The address of the function in the file, as mapped from offset 0. */
	void *handle = load(library);
	Dl_info where;
	void *work = dlsym(handle, "library_work");

	if (!work || dladdr(work, &where) == 0)
		fail("library_work");
	size_t offset = (size_t)((char *)work - (char *)where.dli_fbase);

	if (offset < PAGE || offset >= 2 * PAGE) {
		fprintf(stderr, "library_work is at %zx, not in the second page\n", offset);
		_exit(1);
	}
	stay((work_function *)(void *)(room + offset), milliseconds, "places", "places",
	     "library_work", library);
	char *moved = mremap(room, 2 * PAGE, 2 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED,
			     map(2 * PAGE, PROT_NONE));

	if (moved == MAP_FAILED)
		fail("mremap");
	stay((work_function *)(void *)(moved + offset), milliseconds, "places", "places",
	     "library_work", library);
}

/* Logs "unmapped PID ADDRESS SIZE". */
static void do_unmap(void)
{
	char *memory = map(4 * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC);
	unsigned int pid, tid;

	stay_at(memory, "NoSymbols", "//anon");
	outer_ids(&pid, &tid);
	/* Unmaps the second page, the first one, and the last two. */
	munmap(memory + PAGE, PAGE);
	log_line("unmapped %x %lx %lx\n", pid, (unsigned long)memory + PAGE, PAGE);
	munmap(memory, PAGE);
	log_line("unmapped %x %lx %lx\n", pid, (unsigned long)memory, PAGE);
	munmap(memory + 2 * PAGE, 2 * PAGE);
	log_line("unmapped %x %lx %lx\n", pid, (unsigned long)memory + 2 * PAGE, 2 * PAGE);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} cases[] = {
		{ "plain", do_plain },	     { "memfd", do_memfd }, { "deleted", do_deleted },
		{ "replaced", do_replaced }, { "both", do_both },   { "anon", do_anon },
		{ "grow", do_grow },	     { "unmap", do_unmap },
	};

	if (argc < 4)
		return 2;
	milliseconds = strtoul(argv[2], NULL, 10);
	library = argv[3];
	other = argc > 4 ? argv[4] : NULL;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		if (strcmp(argv[1], cases[i].name) != 0)
			continue;
		cases[i].run();
		log_line("done\n");
		while (getenv("LINGER"))
			pause();
		return 0;
	}
	return 2;
}
