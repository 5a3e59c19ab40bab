// SPDX-License-Identifier: MIT
// Starts a login shell on its own terminal and repeatedly asks it for the sum of two numbers.
// "terminal SECONDS" prints the number of answers, and the slowest and the median time of an answer
// in seconds.
#include <errno.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_ANSWERS 100000

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void fail(const char* what) {
  fprintf(stderr, "terminal: %s: %s\n", what, strerror(errno));
  exit(1);
}

// Reads until the text arrives or the time is over; returns 0 without it.
static int comes(int terminal, const char* text, double end) {
  static char output[65536];
  size_t length = 0;
  for (double left = end - now(); left > 0; left = end - now()) {
    struct pollfd waiting = {terminal, POLLIN, 0};
    if (poll(&waiting, 1, (int)(left * 1000) + 1) <= 0) continue;
    const ssize_t count = read(terminal, output + length, sizeof output - 1 - length);
    if (count <= 0) return 0;
    length += (size_t)count;
    output[length] = 0;
    if (strstr(output, text)) return 1;
    if (length > sizeof output / 2) length = 0;
  }
  return 0;
}

static int by_size(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

int main(int argc, char** argv) {
  if (argc != 2) {
    fputs("Usage: terminal SECONDS\n", stderr);
    return 2;
  }
  static double took[MAX_ANSWERS];
  const double begin = now(), end = begin + atof(argv[1]);
  const double patience = 600;
  int terminal, answers = 0;
  const pid_t shell = forkpty(&terminal, NULL, NULL, NULL);
  if (shell < 0) fail("forkpty");
  if (shell == 0) {
    setenv("PS1", "", 1);
    execl("/bin/bash", "-bash", "--noprofile", "--norc", (char*)NULL);
    _exit(127);
  }
  double asked = begin;
  while (asked < end && answers < MAX_ANSWERS) {
    char question[64], answer[32];
    // The terminal echoes the question, which must differ from the answer.
    snprintf(question, sizeof question, "echo sum-$((%d + 1000000))\n", answers);
    snprintf(answer, sizeof answer, "sum-%d", answers + 1000000);
    if (write(terminal, question, strlen(question)) < 0) fail("write to the shell");
    if (!comes(terminal, answer, asked + patience)) {
      printf("terminal: no answer within %.0f s, %d answers before\n", patience, answers);
      kill(shell, SIGKILL);
      return 1;
    }
    took[answers++] = now() - asked;
    usleep(200000);
    asked = now();
  }
  kill(shell, SIGKILL);
  waitpid(shell, NULL, 0);
  qsort(took, (size_t)answers, sizeof took[0], by_size);
  printf("terminal answers %d seconds %.1f median %.3f longest %.3f\n", answers, now() - begin,
         took[answers / 2], took[answers - 1]);
  return 0;
}
