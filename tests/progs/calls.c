// SPDX-License-Identifier: MIT
// A call tree of known shares, and a recursion of four levels: alpha 10 %, beta 20 %, shared 30 %
// (one third called by alpha, two thirds by beta), recurse 40 %, equally in each level. Usage:
// calls SECONDS of CPU time, so that a busy machine gives as many ticks as an idle one. With REST
// defined, main() uses time of its own between the calls of work().
#include <stdlib.h>

#include "burn.h"
#include "frames.h"

#define UNIT 20000ul /* rounds for one percent; small, so that drift of the machine affects all functions equally */

__attribute__((noipa)) void shared(unsigned long percent)
{
	HAS_FRAME();
	BURN(percent * UNIT);
}

__attribute__((noipa)) void alpha(void)
{
	shared(10);
	BURN(10 * UNIT);
}

__attribute__((noipa)) void beta(void)
{
	BURN(20 * UNIT);
	shared(20);
	NOT_LAST();
}

__attribute__((noipa)) void recurse(unsigned int levels)
{
	HAS_FRAME();
	BURN(10 * UNIT);
	if (levels > 1)
		recurse(levels - 1);
	NOT_LAST();
}

__attribute__((noipa)) void work(void)
{
	alpha();
	beta();
	recurse(4);
	NOT_LAST();
}

/* At most as long as work(), and never the same: the clock of the ticks keeps no step with the rounds. */
static void rest(void)
{
#ifdef REST
	static unsigned long random = 1;

	random = random * 6364136223846793005ul + 1442695040888963407ul;
	BURN(1 + (random >> 33) % (100 * UNIT));
#endif
}

int main(int argc, char **argv)
{
	const double seconds = argc > 1 ? atof(argv[1]) : 1;
	struct timespec used;

	do {
		work();
		rest();
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	} while ((double)used.tv_sec + (double)used.tv_nsec * 1e-9 < seconds);
	return 0;
}
