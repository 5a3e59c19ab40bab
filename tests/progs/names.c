// SPDX-License-Identifier: MIT
// Processes and threads that start, rename themselves and exec in every way, and log their names
// over time (truth.h). Usage: names CASE MILLISECONDS DIRECTORY; the directory contains links to
// this program, by whose names it executes itself.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "burn.h"
#include "truth.h"

extern char **environ;

static unsigned long milliseconds;
static const char *directory;

#define WORK(name)                                                                                \
	__attribute__((noipa)) void name(unsigned long rounds) { BURN(rounds); }
#define STAY(work, process, thread) stay(work, milliseconds, process, thread, #work, own_path())

WORK(vfork_work)
WORK(chain_work)
WORK(spawned_work)
WORK(before_exec_work)
WORK(threaded_work)
WORK(script_work)
WORK(main_renamed_work)
WORK(main_again_work)
WORK(self_named_work)
WORK(other_named_work)
WORK(inheriting_work)
WORK(forked_by_thread_work)
WORK(orphan_work)
WORK(middle_work)
WORK(inner_work)
WORK(inner_thread_work)
WORK(plain_work)

static _Noreturn void fail(const char *what)
{
	perror(what);
	_exit(1);
}

static const char *own_name(void)
{
	static char name[16];

	prctl(PR_GET_NAME, name);
	return name;
}

static void wait_for(pid_t child)
{
	int status;

	if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
		fail("child");
}

/* Executes this program under the name of a link to it. */
static void call(const char *link, const char *what)
{
	char path[256], time[16];

	snprintf(path, sizeof path, "%s/%s", directory, link);
	snprintf(time, sizeof time, "%lu", milliseconds);
	execl(path, path, what, time, directory, (char *)NULL);
	fail(path);
}

static void log_parent(unsigned int parent)
{
	unsigned int pid, tid;

	outer_ids(&pid, &tid);
	log_line("parent %x %x\n", pid, parent);
}

/* ---- exec ---- */

/* A vfork child burns in its parent's memory, and then executes three programs. */
static void do_vfork(void)
{
	const char *path = own_path(); /* evaluated here, so that the child does not cache it in its parent's memory */
	pid_t child = vfork();

	if (child == 0) {
		stay(vfork_work, milliseconds, "names", "names", "vfork_work", path);
		call("chain-one", "chain-one");
	}
	wait_for(child);
}

static void do_chain_one(void)
{
	STAY(chain_work, "chain-one", "chain-one");
	call("chain-two", "chain-two");
}

static void do_chain_two(void)
{
	STAY(chain_work, "chain-two", "chain-two");
	call("a-name-longer-than-the-kernel-keeps", "chain-three");
}

static void do_chain_three(void)
{
	STAY(chain_work, "a-name-longer-t", "a-name-longer-t");
}

static void do_spawn(void)
{
	char path[256], time[16];
	pid_t child;

	snprintf(path, sizeof path, "%s/spawned", directory);
	snprintf(time, sizeof time, "%lu", milliseconds);
	char *arguments[] = { path, "spawned", time, (char *)directory, NULL };

	if (posix_spawn(&child, path, NULL, NULL, arguments, environ) != 0)
		fail("posix_spawn");
	wait_for(child);
}

static void do_spawned(void)
{
	STAY(spawned_work, "spawned", "spawned");
}

/* exec in a thread: the process keeps its id, and all threads end. */
static void *idle_thread(void *unused)
{
	(void)unused;
	for (;;)
		pause();
	return NULL;
}

static void *exec_thread(void *unused)
{
	(void)unused;
	prctl(PR_SET_NAME, "executor");
	STAY(before_exec_work, "names", "executor");
	call("threaded", "threaded");
	return NULL;
}

static void do_exec_thread(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, idle_thread, NULL);
	pthread_create(&thread, NULL, exec_thread, NULL);
	pthread_join(thread, NULL);
}

static void do_threaded(void)
{
	STAY(threaded_work, "threaded", "threaded");
}

/* A #!names script: the process has the script's name, but the interpreter runs. */
static void do_script(void)
{
	STAY(script_work, own_name(), own_name());
}

/* ---- names ---- */

static atomic_int named;

static void *self_named_thread(void *unused)
{
	(void)unused;
	prctl(PR_SET_NAME, "worker a");
	prctl(PR_SET_NAME, "worker-a");
	STAY(self_named_work, "renamed", "worker-a");
	return NULL;
}

static void *other_named_thread(void *unused)
{
	(void)unused;
	while (!atomic_load(&named))
		sched_yield();
	STAY(other_named_work, "renamed", "worker-b");
	return NULL;
}

/* A thread starts with its creator's name at that time; later renames of the creator do not
 * change it. */
static void *inheriting_thread(void *unused)
{
	(void)unused;
	while (atomic_load(&named) < 2)
		sched_yield();
	STAY(inheriting_work, "again", "renamed");
	return NULL;
}

/* The same for the child of a thread: a process with the thread's name. */
static void *forking_thread(void *unused)
{
	(void)unused;
	prctl(PR_SET_NAME, "forker");
	pid_t child = fork();

	if (child == 0) {
		STAY(forked_by_thread_work, "forker", "forker");
		_exit(0);
	}
	wait_for(child);
	return NULL;
}

static void do_rename(void)
{
	pthread_t thread;

	prctl(PR_SET_NAME, "renamed");
	STAY(main_renamed_work, "renamed", "renamed");
	pthread_create(&thread, NULL, self_named_thread, NULL);
	pthread_join(thread, NULL);
	pthread_create(&thread, NULL, other_named_thread, NULL);
	pthread_setname_np(thread, "worker-b");
	atomic_store(&named, 1);
	pthread_join(thread, NULL);
	pthread_create(&thread, NULL, forking_thread, NULL);
	pthread_join(thread, NULL);

	pthread_create(&thread, NULL, inheriting_thread, NULL);
	prctl(PR_SET_NAME, "again");
	atomic_store(&named, 2);
	STAY(main_again_work, "again", "again");
	pthread_join(thread, NULL);
}

/* ---- parents ---- */

/* The child burns after its parent has exited. */
static void do_orphan(void)
{
	unsigned int top, middle, tid;
	int ends[2];
	char byte;

	outer_ids(&top, &tid);
	if (pipe(ends) != 0)
		fail("pipe");
	pid_t child = fork();

	if (child == 0) {
		outer_ids(&middle, &tid);
		log_parent(top);
		STAY(middle_work, "names", "names");
		if (fork() != 0)
			_exit(0);
		while ((unsigned int)getppid() == middle)
			usleep(1000);
		log_parent(middle);
		STAY(orphan_work, "names", "names");
		_exit(0); /* closes the pipe */
	}
	wait_for(child);
	close(ends[1]);
	if (read(ends[0], &byte, 1) != 0)
		fail("pipe");
}

/* ---- namespaces ---- */

/* Logs "inner PID TID INNER-PID INNER-TID". */
static void log_inner(void)
{
	unsigned int pid, tid;

	outer_ids(&pid, &tid);
	log_line("inner %x %x %x %x\n", pid, tid, (unsigned int)getpid(), (unsigned int)gettid());
}

static void *inner_thread(void *unused)
{
	(void)unused;
	prctl(PR_SET_NAME, "inner-thread");
	log_inner();
	STAY(inner_thread_work, "names", "inner-thread");
	return NULL;
}

/* Runs as the first process in the namespace, and starts a thread and a child. */
static void do_inner(void)
{
	pthread_t thread;

	log_inner();
	STAY(inner_work, "names", "names");
	pthread_create(&thread, NULL, inner_thread, NULL);
	pthread_join(thread, NULL);
	pid_t child = fork();

	if (child == 0) {
		log_inner();
		STAY(inner_work, "names", "names");
		_exit(0);
	}
	wait_for(child);
}

static void do_plain(void)
{
	STAY(plain_work, own_name(), own_name());
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} cases[] = {
		{ "vfork", do_vfork },		 { "chain-one", do_chain_one },
		{ "chain-two", do_chain_two },	 { "chain-three", do_chain_three },
		{ "spawn", do_spawn },		 { "spawned", do_spawned },
		{ "exec-thread", do_exec_thread }, { "threaded", do_threaded },
		{ "script", do_script },	 { "rename", do_rename },
		{ "orphan", do_orphan },	 { "inner", do_inner },
		{ "plain", do_plain },
	};

	if (argc < 4)
		return 2;
	const char *what = argv[1];

	/* For a script, the kernel inserts the script's path. */
	if (strcmp(what, "script") == 0 && argc > 4)
		argv++;
	milliseconds = strtoul(argv[2], NULL, 10);
	directory = argv[3];
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		if (strcmp(what, cases[i].name) == 0) {
			cases[i].run();
			return 0;
		}
	}
	return 2;
}
