// SPDX-License-Identifier: MIT
// Stacks that begin in each way that a C program has: in main(), in a thread's function, and a signal handler's
// above what it interrupted. Usage: starts SECONDS.
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "burn.h"
#include "frames.h"

static int seconds;

__attribute__((noipa)) static void in_handler(void)
{
	HAS_FRAME();
	BURN(2000000ul);
}

static void on_alarm(int number)
{
	(void)number;
	in_handler();
	NOT_LAST();
}

__attribute__((noipa)) static void in_thread(void)
{
	HAS_FRAME();
	BURN(1000000ul);
}

static void *thread(void *argument)
{
	const time_t end = time(NULL) + seconds;

	while (time(NULL) < end)
		in_thread();
	return argument;
}

int main(int argc, char **argv)
{
	pthread_t other;

	seconds = argc > 1 ? atoi(argv[1]) : 1;
	signal(SIGALRM, on_alarm);
	if (pthread_create(&other, NULL, thread, NULL) != 0)
		return 1;
	ualarm(100000, 100000);
	thread(NULL);
	ualarm(0, 0);
	pthread_join(other, NULL);
	return 0;
}
