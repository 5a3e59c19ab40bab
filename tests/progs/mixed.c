// SPDX-License-Identifier: MIT
// A program that spends its time in user code, libc and the kernel, for comparing two profilers on
// one run. Usage: mixed [SECONDS]
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "burn.h"

static char from[1 << 20], to[1 << 20];

__attribute__((noipa)) void user_work(void) { BURN(400000ul); }

__attribute__((noipa)) void copy_work(void)
{
	for (int i = 0; i < 4; i++)
		memcpy(to, from, sizeof to);
}

__attribute__((noipa)) int sort_order(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

__attribute__((noipa)) void sort_work(void)
{
	int values[1024];

	for (int i = 0; i < 1024; i++)
		values[i] = (i * 7919) % 1024;
	qsort(values, 1024, sizeof values[0], sort_order);
}

__attribute__((noipa)) void kernel_work(int zero)
{
	for (int i = 0; i < 2; i++)
		if (read(zero, to, sizeof to) != (ssize_t)sizeof to)
			_exit(1);
	for (int i = 0; i < 300; i++)
		(void)!getppid();
}

/* Uniformly distributed in 0 .. less_than - 1; the same sequence in each run. */
static int some(int less_than)
{
	static unsigned state = 1;

	state = state * 1103515245u + 12345u;
	return (int)(state >> 16) % less_than;
}

int main(int argc, char **argv)
{
	double end = now_seconds() + (argc > 1 ? atof(argv[1]) : 12);
	int zero = open("/dev/zero", O_RDONLY);

	if (zero < 0)
		return 1;
	/* Rounds vary in length, so that no sampling period is in phase with them. */
	while (now_seconds() < end) {
		for (int times = some(3); times > 0; times--)
			user_work();
		for (int times = some(3); times > 0; times--)
			copy_work();
		for (int times = some(3); times > 0; times--)
			sort_work();
		for (int times = some(3); times > 0; times--)
			kernel_work(zero);
	}
	return 0;
}
