// SPDX-License-Identifier: MIT
// Stacks of a C program with different ends: in main(), in a thread function, and of a signal
// handler above the interrupted code. Usage: starts SECONDS of CPU time, in each of two threads. With
// "alternate" as second argument the handler runs for long, on a stack of its own, whose end is not
// aligned; with "leave" the first thread ends at once.
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "burn.h"
#include "frames.h"

static double seconds;
static int rounds_of_handler = 1;

__attribute__((noipa)) static void in_handler(void)
{
	HAS_FRAME();
	BURN(3000000ul);
}

static void on_alarm(int number)
{
	(void)number;
	for (int i = 0; i < rounds_of_handler; i++)
		in_handler();
	/* The next alarm is set only now: with an interval timer a slow machine would run
	 * nothing else. */
	ualarm(50000, 0);
}

/* The interrupted code had an older context in its vector registers, as after copying one. */
static void on_alarm_with_context(int number, siginfo_t *info, void *context)
{
	ucontext_t *interrupted = context, older = *interrupted;
	struct _libc_fpstate *vectors = interrupted->uc_mcontext.fpregs;
	const struct _libc_fpstate kept = *vectors;

	(void)info;
	older.uc_mcontext.gregs[REG_RSP] -= 4096;
	memcpy(vectors->_xmm, &older, sizeof vectors->_xmm);
	on_alarm(number);
	*vectors = kept;
}

__attribute__((noipa)) static void in_thread(void)
{
	HAS_FRAME();
	BURN(10000000ul);
}

__attribute__((noipa)) static void *thread(void *argument)
{
	struct timespec used;

	do {
		in_thread();
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	} while ((double)used.tv_sec + (double)used.tv_nsec * 1e-9 < seconds);
	return argument;
}

static void run_handler_on_own_stack(void)
{
	static char stack[1 << 16];
	const stack_t own = { .ss_sp = stack, .ss_size = sizeof stack - 3 };
	const struct sigaction action = { .sa_sigaction = on_alarm_with_context,
					  .sa_flags = SA_ONSTACK | SA_SIGINFO };

	rounds_of_handler = 100;
	sigaltstack(&own, NULL);
	sigaction(SIGALRM, &action, NULL);
}

int main(int argc, char **argv)
{
	pthread_t other;

	seconds = argc > 1 ? atof(argv[1]) : 1;
	signal(SIGALRM, on_alarm);
	if (argc > 2 && strcmp(argv[2], "alternate") == 0)
		run_handler_on_own_stack();
	if (pthread_create(&other, NULL, thread, NULL) != 0)
		return 1;
	if (argc > 2 && strcmp(argv[2], "leave") == 0)
		pthread_exit(NULL);
	ualarm(50000, 0);
	thread(NULL);
	ualarm(0, 0);
	pthread_join(other, NULL);
	return 0;
}
