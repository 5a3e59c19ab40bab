/* SPDX-License-Identifier: MIT */
/*
 * A program's log of its own names and functions while it burns, for check_names in
 * tests/support/profile.bash. One line for each stay, written by one write(), since several
 * processes write to the same file. Functions here neither allocate nor lock: they also run in a
 * vfork child.
 */
#ifndef PITRACE_TESTS_TRUTH_H
#define PITRACE_TESTS_TRUTH_H

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A burning function is shorter than this; the next function may begin directly after it. */
#define WORK_BYTES 96
#define WORK_CHUNK 100000ul

typedef void work_function(unsigned long rounds);

static inline unsigned long long now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (unsigned long long)t.tv_sec * 1000000000ull + (unsigned long long)t.tv_nsec;
}

/*
 * Returns the caller's ids as seen by the mounted /proc; in a new PID namespace getpid() and
 * gettid() return others.
 */
static inline void outer_ids(unsigned int *pid, unsigned int *tid)
{
	char link[64] = "";

	*pid = *tid = 0;
	if (readlink("/proc/thread-self", link, sizeof link - 1) <= 0 ||
	    sscanf(link, "%u/task/%u", pid, tid) != 2)
		perror("/proc/thread-self");
}

__attribute__((format(printf, 1, 2))) static inline void log_line(const char *format, ...)
{
	char line[512];
	va_list arguments;

	va_start(arguments, format);
	int length = vsnprintf(line, sizeof line, format, arguments);
	va_end(arguments);
	if (write(STDOUT_FILENO, line, (size_t)length) != length)
		_exit(3);
}

/* Writes "stay BEGIN END PID TID START END PROCESS THREAD SYMBOL MODULE": times are decimal, ids
 * and addresses hex. */
static inline void log_stay(unsigned long long begin, const void *start, const char *process,
			    const char *thread, const char *symbol, const char *module)
{
	unsigned long long end = now_ns();
	unsigned int pid, tid;

	outer_ids(&pid, &tid);
	log_line("stay %llu %llu %x %x %lx %lx %s %s %s %s\n", begin, end, pid, tid,
		 (unsigned long)start, (unsigned long)start + WORK_BYTES, process, thread, symbol,
		 module);
}

/* Burns for milliseconds in work, and logs it with the given names. */
static inline void stay(work_function *work, unsigned long milliseconds, const char *process,
			const char *thread, const char *symbol, const char *module)
{
	unsigned long long begin = now_ns();

	while (now_ns() < begin + milliseconds * 1000000ull)
		work(WORK_CHUNK);
	log_stay(begin, (const void *)(unsigned long)work, process, thread, symbol, module);
}

/* Returns the path of this program as the kernel maps it. */
static inline const char *own_path(void)
{
	static char path[256];

	if (!path[0] && readlink("/proc/self/exe", path, sizeof path - 1) < 0)
		perror("/proc/self/exe");
	return path;
}

#endif
