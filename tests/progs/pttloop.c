// SPDX-License-Identifier: MIT
// Counts a loop of known length with libperfutil's PTT. Usage: pttloop METRIC ROUNDS
// Prints "loop INSTRUCTIONS counted COUNT read WAY source SOURCE", with PI_PTT_READ_ and
// PI_PTT_SOURCE_ numbers.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "burn.h"
#include "perfutil_ptt.h"

int main(int argc, char **argv)
{
	const char *const metric = argc > 1 ? argv[1] : "INSTR";
	const unsigned long rounds = argc > 2 ? strtoul(argv[2], NULL, 0) : 1;
	struct pi_ptt_state state = {.size = sizeof state};
	uint64_t before[MAX_PTT_METRICS], after[MAX_PTT_METRICS];
	pi_ptt_reader read;

	if (PiPttInit(1, &metric, PI_PRIV_USER, NULL) != PU_SUCCESS || PttInitThread(0) != PU_SUCCESS ||
	    PttGetState(&state) != PU_SUCCESS) {
		fprintf(stderr, "pttloop: %s\n", PiErrorText());
		return 1;
	}
	read = PttReturnGetCurrentThreadDataFunctionPtr();
	/* The first use causes page faults. */
	if (read(before) != PU_SUCCESS || read(after) != PU_SUCCESS)
		return 1;
	(void)read(before);
	BURN(rounds);
	(void)read(after);
	printf("loop %lu counted %" PRIu64 " read %d source %d\n", 2 * rounds, after[0] - before[0], state.read,
	       state.source);
	return 0;
}
