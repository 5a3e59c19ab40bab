/* SPDX-License-Identifier: MIT */
/*
 * A program that traces itself: it starts a trace, writes its own records into it, and writes the
 * trace file. Usage: hooks FILE; then: post -r FILE -show
 *
 * It prints the records that it writes.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <perfutil.h>

/* Any major that the tools do not use; the minor is the kind of our record. */
enum { MAJOR = 0x70, MINOR_STEP = 1, MINOR_NOTE = 2 };

/* Prints the error and the advice, for all functions except hooks. */
static int failed(const char *what, int rc) {
  if (rc == PU_SUCCESS) return 0;
  fprintf(stderr, "hooks: %s: %s\n  %s\n", what, RcToString(rc), PiErrorText());
  return 1;
}

/* A hook only returns a code, without an error text. A lost record is counted in the trace. */
static int hook_failed(int rc) {
  if (rc == PU_SUCCESS || rc == PU_ERROR_BUFFER_FULL) return 0;
  fprintf(stderr, "hooks: %s\n", RcToString(rc));
  return 1;
}

static int step(uint32_t number, uint32_t value) {
  printf("70/1 %" PRIu32 " %" PRIu32 "\n", number, value);
  return hook_failed(TraceHook(MAJOR, MINOR_STEP, 2, 0, number, value));
}

/* A string is passed as its length and its address; ints come first. */
static int note(uint32_t number, const char *text) {
  printf("70/2 %" PRIu32 " %s\n", number, text);
  return hook_failed(TraceHook(MAJOR, MINOR_NOTE, 1, 1, number, (unsigned int)strlen(text), text));
}

static int work(void) {
  int bad = note(0, "begin");
  for (uint32_t i = 1; i <= 100 && !bad; i++) bad = step(i, i * i);
  return bad || note(101, "end");
}

/* The same with arrays, for records whose size is known only at run time. */
static int summary(void) {
  const uint32_t ints[] = {102, 100, 10000};
  const struct pi_hook_string strings[] = {{"squares", 7}, {"done", 4}};
  printf("70/2 102 100 10000 squares done\n");
  return hook_failed(PiTraceHook(MAJOR, MINOR_NOTE, ints, 3, strings, 2));
}

/* Discards the records before the interesting part, and suspends recording after it. */
static int work_between_pauses(void) {
  if (hook_failed(TraceHook(MAJOR, MINOR_STEP, 2, 0, 0u, 0u))) return 1;
  if (failed("discard", TraceDiscard())) return 1;
  if (work()) return 1;
  if (failed("suspend", TraceSuspend())) return 1;
  /* Ignored without an error while the trace is suspended: the program need not check. */
  int bad = hook_failed(TraceHook(MAJOR, MINOR_STEP, 2, 0, 0u, 0u));
  return failed("resume", TraceResume()) || bad || summary();
}

static int trace(const char *file) {
  int rc = TraceEnable(MAJOR);
  if (rc == PU_SUCCESS) rc = TraceEnable(PI_MAJORS_TPROF);
  if (failed("enable", rc) || failed("on", TraceOn())) return 1;
  const int bad = work_between_pauses();
  rc = TraceOff();
  /* The trace had ended because a buffer is full; its records can be written. */
  if (rc == PU_ERROR_BUFFER_FULL)
    fprintf(stderr, "hooks: warning: %s\n", PiErrorText());
  else if (failed("off", rc))
    return 1;
  fprintf(stderr, "hooks: interval %" PRIu32 "\n", TraceGetIntervalId());
  return bad || failed("write", TraceWriteBufferToFile(file));
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fputs("Usage: hooks FILE\n", stderr);
    return 255;
  }
  /* Ticks of the whole system where this user may sample it, else of this process. */
  if (failed("scope", TraceSetScope(PI_SCOPE_AUTO, getpid()))) return 1;
  if (failed("init", TraceInit(PI_TRACE_BYTES_DEFAULT))) return 1;
  const int bad = trace(argv[1]);
  return failed("terminate", TraceTerminate()) || bad;
}
