// SPDX-License-Identifier: MIT
// A call tree of known shares: ten 10 %, twenty 20 %, thirty 30 %, forty 40 % of the program's
// time. Usage: shares [SECONDS [MORE]]; ten takes MORE percent of the original total in addition.
#include <stdlib.h>

#include "burn.h"

static unsigned long unit; /* rounds for one percent; small, so that the machine's drift affects all alike */
static unsigned long slower;

__attribute__((noipa)) void ten(void) { BURN((10 + slower) * unit); }
__attribute__((noipa)) void twenty(void) { BURN(20 * unit); }
__attribute__((noipa)) void forty(void) { BURN(40 * unit); }

__attribute__((noipa)) void thirty(void)
{
	ten();
	BURN(30 * unit);
}

int main(int argc, char **argv)
{
	double end = now_seconds() + (argc > 1 ? atof(argv[1]) : 12);

	if (argc > 2)
		slower = strtoul(argv[2], NULL, 10);
	while (now_seconds() < end) {
		unit = out_of_step(20000);
		twenty();
		thirty();
		forty();
	}
	return 0;
}
