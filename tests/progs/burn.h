/* SPDX-License-Identifier: MIT */
/* Work whose cost is known: n rounds of a two-instruction loop that is the same, aligned, everywhere. */
#ifndef PITRACE_TESTS_BURN_H
#define PITRACE_TESTS_BURN_H

#include <time.h>

/* The loop stands in the function that uses it, so that ticks fall into that function's symbol. */
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
 * From half of unit to one and a half, another each time. A loop that takes equally long each time it
 * runs falls into step with a sampling clock, which then sees the same places of it again and again.
 */
static inline unsigned long out_of_step(unsigned long unit)
{
	static unsigned long at;

	at = (at + 618) % 1000; /* the golden section: any few in a row are spread evenly */
	return unit / 2 + unit * at / 1000;
}

#endif
