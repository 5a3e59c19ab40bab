/* SPDX-License-Identifier: MIT */
/* A program as it was built with an earlier perfutil.h: prints what it is told, or what went wrong. */
#include "earlier_perfutil.h"

#include <stdio.h>
#include <string.h>

/* Bytes of the program's own right behind what the library fills. */
static const char own[8] = "its own";

int main(void)
{
	struct {
		struct pi_event event;
		char behind[sizeof own];
	} one = {.event.size = sizeof one.event};
	struct {
		struct pi_trace_status status;
		char behind[sizeof own];
	} two = {.status.size = sizeof two.status};

	memcpy(one.behind, own, sizeof own);
	memcpy(two.behind, own, sizeof own);
	if (PiEvent(0, &one.event) != PU_SUCCESS)
		return fprintf(stderr, "PiEvent: %s\n", PiErrorText()), 1;
	printf("event %s of %s\n", one.event.name, one.event.group);
	PiSetSource(PI_SOURCE_PERF);
	if (TraceInit(1) != PU_SUCCESS)
		return fprintf(stderr, "TraceInit: %s\n", PiErrorText()), 77;
	if (PiTraceStatus(&two.status) != PU_SUCCESS)
		return fprintf(stderr, "PiTraceStatus: %s\n", PiErrorText()), 1;
	printf("rate %u, buffers of %llu bytes\n", two.status.rate,
	       (unsigned long long)two.status.trace_bytes);
	if (memcmp(one.behind, own, sizeof own) != 0 || memcmp(two.behind, own, sizeof own) != 0)
		return fprintf(stderr, "bytes behind a structure were overwritten\n"), 1;
	return TraceTerminate();
}
