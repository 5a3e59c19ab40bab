/* SPDX-License-Identifier: MIT */
/* A program built with an earlier perfutil.h: prints the results of calls, or the first error. */
#include "earlier_perfutil.h"

#include <stdio.h>
#include <string.h>

/* Bytes of the program directly after a structure that the library fills. */
static const char own[8] = "its own";

#define WITH_OWN_BYTES(type, name)                         \
	struct {                                           \
		struct type it;                            \
		char after[sizeof own];                   \
	} name = {.it.size = sizeof name.it, .after = "its own"}

static int failed(const char *call)
{
	fprintf(stderr, "%s: %s\n", call, PiErrorText());
	return 1;
}

/* Calls that need no trace. */
static int ask(void)
{
	static const char *const metric[] = {"CYCLES"};
	const struct pi_ptt_options options = {.size = sizeof options};
	WITH_OWN_BYTES(pi_event, event);
	WITH_OWN_BYTES(pi_ptt_state, ptt);

	if (PiEvent(0, &event.it) != PU_SUCCESS)
		return failed("PiEvent");
	printf("event %s of %s\n", event.it.name, event.it.group);
	if (PiCounterEvent(0, &event.it) != PU_SUCCESS)
		return failed("PiCounterEvent");
	if (PiPttInit(1, metric, PI_PRIV_BOTH, &options) != PU_SUCCESS)
		return failed("PiPttInit");
	if (PttGetState(&ptt.it) != PU_SUCCESS)
		return failed("PttGetState");
	printf("PTT counts %s\n", ptt.it.name[0]);
	if (memcmp(event.after, own, sizeof own) != 0 || memcmp(ptt.after, own, sizeof own) != 0)
		return fprintf(stderr, "bytes after a structure were overwritten\n"), 1;
	return PttTerminate();
}

static int trace(void)
{
	WITH_OWN_BYTES(pi_trace_status, status);
	WITH_OWN_BYTES(pi_itrace_status, itrace);

	PiSetSource(PI_SOURCE_PERF);
	if (TraceInit(1) != PU_SUCCESS)
		return failed("TraceInit"), 77;
	if (PiTraceStatus(&status.it) != PU_SUCCESS)
		return failed("PiTraceStatus");
	printf("rate %u, buffers of %llu bytes\n", status.it.rate, (unsigned long long)status.it.trace_bytes);
	if (PiITraceStatus(&itrace.it) != PU_SUCCESS)
		return failed("PiITraceStatus");
	printf("ITrace installed: %d\n", itrace.it.installed);
	if (memcmp(status.after, own, sizeof own) != 0 || memcmp(itrace.after, own, sizeof own) != 0)
		return fprintf(stderr, "bytes after a structure were overwritten\n"), 1;
	return TraceTerminate();
}

int main(void)
{
	const int rc = ask();

	return rc != 0 ? rc : trace();
}
