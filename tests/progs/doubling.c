// SPDX-License-Identifier: MIT
// Six functions with doubling times: One to ThirtyTwo, 1:2:4:8:16:32. Usage: doubling [SECONDS]
#include <stdlib.h>

#include "burn.h"

static unsigned long unit;

#define WORKER(name, units)                                                                       \
	__attribute__((noipa)) void name(void) { BURN((units) * unit); }
WORKER(One, 1)
WORKER(Two, 2)
WORKER(Four, 4)
WORKER(Eight, 8)
WORKER(Sixteen, 16)
WORKER(ThirtyTwo, 32)

int main(int argc, char **argv)
{
	double end = now_seconds() + (argc > 1 ? atof(argv[1]) : 12);

	while (now_seconds() < end) {
		unit = out_of_step(30000);
		One();
		Two();
		Four();
		Eight();
		Sixteen();
		ThirtyTwo();
	}
	return 0;
}
