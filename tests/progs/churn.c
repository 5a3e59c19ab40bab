// SPDX-License-Identifier: MIT
// Starts many short-lived processes, half of which exec, and prints how many it started. Usage:
// churn [COUNT] [ROUNDS [RATE]]. Without RATE one process after the other; with RATE that many a
// second, several at the same time, or as many as the machine can start in that time. A child that
// execs runs "churn --child ROUNDS".
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "burn.h"

#define AT_A_TIME 8

__attribute__((noipa)) void forked_work(unsigned long rounds) { BURN(rounds); }
__attribute__((noipa)) void execed_work(unsigned long rounds) { BURN(rounds); }

// Sleeps until the start time of the i-th child.
static void wait_for_turn(const struct timespec *began, int i, int rate)
{
	struct timespec turn = *began;

	turn.tv_sec += i / rate;
	turn.tv_nsec += i % rate * (1000000000L / rate);
	if (turn.tv_nsec >= 1000000000L) {
		turn.tv_nsec -= 1000000000L;
		turn.tv_sec++;
	}
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &turn, NULL);
}

// Waits until at max_left that many children are left; returns 0 if all ended children succeeded.
static int reap(int *children, int max_left)
{
	int status;

	while (*children > 0) {
		pid_t child = waitpid(-1, &status, *children > max_left ? 0 : WNOHANG);

		if (child == 0)
			return 0;
		if (child < 0 || status != 0) {
			fprintf(stderr, "child %d ended with status %d\n", (int)child, status);
			return 1;
		}
		--*children;
	}
	return 0;
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 1000;
	const char *rounds = argc > 2 ? argv[2] : "2000000";
	int rate = argc > 3 ? atoi(argv[3]) : 0;
	struct timespec began;

	if (argc > 2 && strcmp(argv[1], "--child") == 0) {
		execed_work(strtoul(rounds, NULL, 10));
		return 0;
	}
	clock_gettime(CLOCK_MONOTONIC, &began);
	int children = 0, i;

	for (i = 0; i < count; i++) {
		if (rate > 0) {
			struct timespec now;

			wait_for_turn(&began, i, rate);
			clock_gettime(CLOCK_MONOTONIC, &now);
			if (now.tv_sec - began.tv_sec > count / rate)
				break;
		}
		pid_t child = fork();

		if (child < 0) {
			perror("fork");
			return 1;
		}
		if (child == 0) {
			if (i % 2)
				execl(argv[0], argv[0], "--child", rounds, (char *)NULL);
			else
				forked_work(strtoul(rounds, NULL, 10));
			_exit(i % 2);
		}
		children++;
		if (reap(&children, rate > 0 ? AT_A_TIME : 0) != 0)
			return 1;
	}
	if (reap(&children, 0) != 0)
		return 1;
	printf("%d\n", i);
	return 0;
}
