/* SPDX-License-Identifier: MIT */
/*
 * A program that traces itself: it sets up a trace, writes records of its own among those of the
 * system, and writes the file. Usage: hooks FILE; then: post -r FILE -show
 *
 * It prints what it has written into the trace.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <perfutil.h>

/* Any major that the tools do not use themselves; the minor says which of our records it is. */
enum { MAJOR = 0x70, MINOR_STEP = 1, MINOR_NOTE = 2 };

/* What happened, and what to do about it, for all functions but hooks. */
static int failed(const char *what, int rc) {
  if (rc == PU_SUCCESS) return 0;
  fprintf(stderr, "hooks: %s: %s\n  %s\n", what, RcToString(rc), PiErrorText());
  return 1;
}

/* A hook tells by its code alone. A record that was lost is counted in the trace. */
static int hook_failed(int rc) {
  if (rc == PU_SUCCESS || rc == PU_ERROR_BUFFER_FULL) return 0;
  fprintf(stderr, "hooks: %s\n", RcToString(rc));
  return 1;
}

static int step(uint32_t number, uint32_t value) {
  printf("70/1 %" PRIu32 " %" PRIu32 "\n", number, value);
  return hook_failed(TraceHook(MAJOR, MINOR_STEP, 2, 0, number, value));
}

/* A string is its length and where it begins; ints come first. */
static int note(uint32_t number, const char *text) {
  printf("70/2 %" PRIu32 " %s\n", number, text);
  return hook_failed(TraceHook(MAJOR, MINOR_NOTE, 1, 1, number, (unsigned int)strlen(text), text));
}

static int work(void) {
  int bad = note(0, "begin");
  for (uint32_t i = 1; i <= 100 && !bad; i++) bad = step(i, i * i);
  return bad || note(101, "end");
}

/* The same with arrays, for records whose size is known only when they are made. */
static int summary(void) {
  const uint32_t ints[] = {102, 100, 10000};
  const struct pi_hook_string strings[] = {{"squares", 7}, {"done", 4}};
  printf("70/2 102 100 10000 squares done\n");
  return hook_failed(PiTraceHook(MAJOR, MINOR_NOTE, ints, 3, strings, 2));
}

/* What comes before the part that is of interest is thrown away; what is of none is left out. */
static int work_between_pauses(void) {
  if (hook_failed(TraceHook(MAJOR, MINOR_STEP, 2, 0, 0u, 0u))) return 1;
  if (failed("discard", TraceDiscard())) return 1;
  if (work()) return 1;
  if (failed("suspend", TraceSuspend())) return 1;
  /* Not stored, and no error: the program need not know. */
  int bad = hook_failed(TraceHook(MAJOR, MINOR_STEP, 2, 0, 0u, 0u));
  return failed("resume", TraceResume()) || bad || summary();
}

static int trace(const char *file) {
  int rc = TraceEnable(MAJOR);
  if (rc == PU_SUCCESS) rc = TraceEnable(PI_MAJORS_TPROF);
  if (failed("enable", rc) || failed("on", TraceOn())) return 1;
  const int bad = work_between_pauses();
  rc = TraceOff();
  /* The trace had ended by itself; what it holds can be written. */
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
  if (failed("init", TraceInit(PI_TRACE_BYTES_DEFAULT))) return 1;
  const int bad = trace(argv[1]);
  return failed("terminate", TraceTerminate()) || bad;
}
