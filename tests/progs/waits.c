// SPDX-License-Identifier: MIT
// Threads that sleep, wait for a lock and wait for a pipe, and report the durations. Usage: waits
// [ROUNDS]; prints for each waiting thread "truth THREAD TID BLOCKED RUNNABLE", in nanoseconds of
// clock_gettime: from before the call to the moment at which the wait was due to end, and from then
// to the call's end. A thread waits in the function with its name, called through another one, as
// the C library keeps no frame pointers and so hides one caller.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "burn.h"
#include "frames.h"

#define SLEEP_NS 20000000ll
#define HOLD_NS  15000000ll
#define SPIN_NS  20000000ll
#define WRITE_NS 10000000ll

struct wait {
	long tid;
	int64_t blocked, runnable;
};

static unsigned int rounds = 10;
static struct wait sleeper_wait, locker_wait, reader_wait;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t held;
static _Atomic int64_t unlocked_at;
static int numbers[2]; /* a pipe */

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void sleep_until(int64_t when)
{
	const struct timespec t = {.tv_sec = when / 1000000000, .tv_nsec = when % 1000000000};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
		;
}

static void spin_until(int64_t when)
{
	while (now_ns() < when)
		BURN(1000);
}

static void die(const char *what)
{
	perror(what);
	exit(1);
}

/* from: before the call; due: when the wait should end, possibly before from. */
static void add(struct wait *wait, int64_t from, int64_t due)
{
	const int64_t to = now_ns();

	if (due < from)
		due = from;
	wait->blocked += due - from;
	wait->runnable += to - due;
}

static void begin(const char *name, int policy)
{
	const struct sched_param none = {0};

	prctl(PR_SET_NAME, name);
	/* No timer slack: the kernel must not delay timers to coalesce them. */
	prctl(PR_SET_TIMERSLACK, 1);
	if (policy != SCHED_OTHER && sched_setscheduler(0, policy, &none) != 0)
		die("sched_setscheduler");
}

static void on_cpu(int cpu)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	if (sched_setaffinity(0, sizeof cpus, &cpus) != 0)
		die("sched_setaffinity");
}

static int first_cpu(void)
{
	cpu_set_t cpus;
	int cpu = 0;

	if (sched_getaffinity(0, sizeof cpus, &cpus) != 0)
		die("sched_getaffinity");
	while (!CPU_ISSET(cpu, &cpus))
		cpu++;
	return cpu;
}

/* ---- sleeping ---- */

__attribute__((noipa)) void sleeper_inner(void)
{
	HAS_FRAME();
	const int64_t from = now_ns(), due = from + SLEEP_NS;

	sleep_until(due);
	add(&sleeper_wait, from, due);
}

__attribute__((noipa)) void sleeper(void)
{
	sleeper_inner();
	NOT_LAST();
}

static void *sleeps(void *unused)
{
	begin("sleeper", SCHED_OTHER);
	sleeper_wait.tid = syscall(SYS_gettid);
	for (unsigned int i = 0; i < rounds; i++)
		sleeper();
	return unused;
}

/* ---- a lock: its holder continues on the same CPU, so the waiter also waits for the CPU ---- */

__attribute__((noipa)) void locker_inner(void)
{
	HAS_FRAME();
	const int64_t from = now_ns();

	pthread_mutex_lock(&lock);
	add(&locker_wait, from, unlocked_at);
}

__attribute__((noipa)) void locker(void)
{
	locker_inner();
	NOT_LAST();
}

static void *locks(void *unused)
{
	on_cpu(first_cpu());
	begin("locker", SCHED_IDLE);
	locker_wait.tid = syscall(SYS_gettid);
	for (unsigned int i = 0; i < rounds; i++) {
		pthread_barrier_wait(&held);
		locker();
		pthread_mutex_unlock(&lock);
		pthread_barrier_wait(&held);
	}
	return unused;
}

static void *holds(void *unused)
{
	on_cpu(first_cpu());
	begin("holder", SCHED_OTHER);
	for (unsigned int i = 0; i < rounds; i++) {
		pthread_mutex_lock(&lock);
		pthread_barrier_wait(&held);
		sleep_until(now_ns() + HOLD_NS);
		unlocked_at = now_ns();
		pthread_mutex_unlock(&lock);
		spin_until(unlocked_at + SPIN_NS);
		pthread_barrier_wait(&held);
	}
	return unused;
}

/* ---- a pipe ---- */

__attribute__((noipa)) void reader_inner(void)
{
	HAS_FRAME();
	const int64_t from = now_ns();
	int64_t written_at;

	if (read(numbers[0], &written_at, sizeof written_at) != (ssize_t)sizeof written_at)
		die("read");
	add(&reader_wait, from, written_at);
}

__attribute__((noipa)) void reader(void)
{
	reader_inner();
	NOT_LAST();
}

static void *reads(void *unused)
{
	begin("reader", SCHED_OTHER);
	reader_wait.tid = syscall(SYS_gettid);
	for (unsigned int i = 0; i < rounds; i++)
		reader();
	return unused;
}

static void *writes(void *unused)
{
	begin("writer", SCHED_OTHER);
	for (unsigned int i = 0; i < rounds; i++) {
		sleep_until(now_ns() + WRITE_NS);
		const int64_t time = now_ns();

		if (write(numbers[1], &time, sizeof time) != (ssize_t)sizeof time)
			die("write");
	}
	return unused;
}

static void print(const char *name, const struct wait *wait)
{
	printf("truth %s %ld %lld %lld\n", name, wait->tid, (long long)wait->blocked, (long long)wait->runnable);
}

int main(int argc, char **argv)
{
	void *(*const roles[])(void *) = {sleeps, locks, holds, reads, writes};
	pthread_t threads[sizeof roles / sizeof *roles];

	if (argc > 1)
		rounds = (unsigned int)strtoul(argv[1], NULL, 10);
	if (pipe(numbers) != 0 || pthread_barrier_init(&held, NULL, 2) != 0)
		die("waits");
	for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
		if (pthread_create(&threads[i], NULL, roles[i], NULL) != 0)
			die("pthread_create");
	for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
		pthread_join(threads[i], NULL);
	print("sleeper", &sleeper_wait);
	print("locker", &locker_wait);
	print("reader", &reader_wait);
	return 0;
}
