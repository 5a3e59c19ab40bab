/* SPDX-License-Identifier: MIT */
/* A library that Natives.java loads and unloads: its function NAME uses the processor until the thread's clock says so. */
#include <stdint.h>
#include <time.h>

static volatile uint64_t sink;

static __attribute__((noinline)) void NAME(uint64_t end) {
	struct timespec time;

	do {
		for (int i = 0; i < 5000; i++)
			sink = sink * 31 + (sink >> 7);
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	} while ((uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec < end);
}

__attribute__((visibility("default"))) void take(uint64_t end) {
	NAME(end);
	sink++;
}
