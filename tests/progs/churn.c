// SPDX-License-Identifier: MIT
// Starts many short-lived processes, half of which exec, and prints how many it started.
// Usage: churn [COUNT] [ROUNDS]; a child that execs runs "churn --child ROUNDS".
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "burn.h"

__attribute__((noipa)) void forked_work(unsigned long rounds) { BURN(rounds); }
__attribute__((noipa)) void execed_work(unsigned long rounds) { BURN(rounds); }

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 1000;
	const char *rounds = argc > 2 ? argv[2] : "2000000";

	if (argc > 2 && strcmp(argv[1], "--child") == 0) {
		execed_work(strtoul(rounds, NULL, 10));
		return 0;
	}
	for (int i = 0; i < count; i++) {
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
		int status;

		if (waitpid(child, &status, 0) != child || status != 0) {
			fprintf(stderr, "child %d ended with status %d\n", i, status);
			return 1;
		}
	}
	printf("%d\n", count);
	return 0;
}
