/* SPDX-License-Identifier: MIT */
/* Work of known cost: n rounds of a two-instruction loop that is equal and aligned everywhere. */
#ifndef PITRACE_TESTS_BURN_H
#define PITRACE_TESTS_BURN_H

#include <time.h>

/* The loop is expanded inline, so that ticks are in the symbol of the calling function. */
#define BURN(rounds)                                                                              \
	do {                                                                                      \
		unsigned long n_ = (rounds);                                                      \
		__asm__ volatile(".p2align 6\n1:\tdec %0\n\tjnz 1b" : "+r"(n_) : : "cc");         \
	} while (0)

/* Seconds of CLOCK_MONOTONIC. */
static inline double now_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/*
 * Returns a different value at each call, between half of unit and one and a half. A loop that
 * always takes equally long gets in phase with a sampling clock, which then always hits the same
 * addresses.
 */
static inline unsigned long out_of_step(unsigned long unit)
{
	static unsigned long at;

	at = (at + 618) % 1000; /* golden ratio: any few successive values are evenly spread */
	return unit / 2 + unit * at / 1000;
}

#endif
