// SPDX-License-Identifier: MIT
// Uses a share of one CPU's time. Usage: duty CPU PERCENT SECONDS; prints the percentage of time on
// the CPU, by getrusage. Bursts vary in length, so that they do not get in phase with the kernel's
// clock tick.
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "burn.h"

#define ROUNDS 2000ul

static double used_seconds(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

/* Burns until the CPU time is used, whatever the machine's speed and load. */
static void burn_until_used(double seconds)
{
	while (used_seconds() < seconds)
		BURN(ROUNDS);
}

int main(int argc, char **argv)
{
	if (argc != 4)
		return 255;
	cpu_set_t cpus;
	const double share = atof(argv[2]) / 100, seconds = atof(argv[3]);

	CPU_ZERO(&cpus);
	CPU_SET(atoi(argv[1]), &cpus);
	if (sched_setaffinity(0, sizeof cpus, &cpus) != 0) {
		perror("sched_setaffinity");
		return 1;
	}
	const double start = now_seconds(), used_at_start = used_seconds();

	for (double now = start; now < start + seconds; now = now_seconds()) {
		const double period = 0.013 + 0.02 * (double)rand() / RAND_MAX;
		const double pause = period * (1 - share);
		const struct timespec sleep = {0, (long)(pause * 1e9)};

		burn_until_used(used_at_start + share * (now - start + period));
		nanosleep(&sleep, NULL);
	}
	printf("%.2f\n", 100 * (used_seconds() - used_at_start) / (now_seconds() - start));
	return 0;
}
