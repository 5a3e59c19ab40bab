// SPDX-License-Identifier: MIT
// For LD_PRELOAD: one allocation by a library fails. FAIL_MALLOC_IN is a part of the library's name, FAIL_MALLOC the allocation's
// number, from 1; with 0 none fails, and their number is written to the file FAIL_MALLOC_COUNT at the end.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);

static atomic_long made;
static long failing;
static const char *library;

__attribute__((constructor)) static void begin(void)
{
	const char *number = getenv("FAIL_MALLOC");

	library = getenv("FAIL_MALLOC_IN");
	failing = number ? atol(number) : 0;
	made = 0;
}

__attribute__((destructor)) static void end(void)
{
	const char *name = getenv("FAIL_MALLOC_COUNT");
	const long count = made;
	FILE *file = name && !failing ? fopen(name, "w") : NULL;

	if (file) {
		fprintf(file, "%ld\n", count);
		fclose(file);
	}
}

static int fails(const void *caller)
{
	Dl_info info;

	if (!library || !dladdr(caller, &info) || !info.dli_fname || !strstr(info.dli_fname, library))
		return 0;
	if (atomic_fetch_add(&made, 1) + 1 != failing)
		return 0;
	errno = ENOMEM;
	return 1;
}

void *malloc(size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(old, size);
}
