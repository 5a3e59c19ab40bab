// SPDX-License-Identifier: MIT
// A process that imitates a Java virtual machine and attacks attaching programs. Usage: hostile_jvm
// CASE DIRECTORY [PATH]; prints its process id when it is ready. It maps DIRECTORY/libjvm.so; PATH
// is the target of links. hostile_jvm serve DIRECTORY PID listens in place of process PID.
// hostile_jvm hangs ..., started as root in its own mount namespace, mounts a file system at /tmp
// that never answers, and becomes the user nobody.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static const char *attack, *path;
static char log_name[512], spare_name[512];

static int is(const char *name) { return strcmp(attack, name) == 0; }

static void need(int good, const char *what)
{
	if (good)
		return;
	perror(what);
	exit(1);
}

static void on_quit(int signal) { (void)signal; }

/* The handler only makes the signal appear as caught; the signal stays blocked until sigwait. */
static void wait_for_quit(void)
{
	sigset_t quit;
	int signal;

	sigemptyset(&quit);
	sigaddset(&quit, SIGQUIT);
	sigwait(&quit, &signal);
}

static void map_libjvm(const char *directory)
{
	char name[512];
	int fd;

	snprintf(name, sizeof(name), "%s/libjvm.so", directory);
	fd = open(name, O_RDWR | O_CREAT, 0755);
	need(fd >= 0 && ftruncate(fd, 4096) == 0, name);
	need(mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) != MAP_FAILED, "mmap");
	close(fd);
}

static int listen_at(int pid)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "/tmp/.java_pid%d", pid);
	unlink(address.sun_path);
	need(fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0, "bind");
	chmod(address.sun_path, 0666);
	need(listen(fd, is("backlog") ? 0 : 5) == 0, "listen");
	/* Connections are not accepted, so this one fills the queue. */
	if (is("backlog"))
		need(connect(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&address, sizeof(address)) == 0, "connect");
	return fd;
}

/* Reads the five words of a request; the last one is the agent's options. */
static char *read_request(int peer, char *request, size_t size)
{
	size_t got = 0, words = 0;
	char *last = request;

	while (words < 5 && got + 1 < size && read(peer, request + got, 1) == 1)
		if (request[got++] == '\0' && ++words == 4)
			last = request + got;
	request[got] = '\0';
	return last;
}

static int write_log(const char *name, int pid, const char *more)
{
	struct stat namespace;
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	/* The test may remove the directory while logs are swapped in it. */
	if (fd < 0 && is("swap-log"))
		return -1;
	need(fd >= 0 && stat("/proc/self/ns/pid", &namespace) == 0, name);
	dprintf(fd, " JitA2N\n BINARY DATA IN PRINTABLE HEX\n Linux x86_64\n Process_Number_ID=%d\n", pid);
	dprintf(fd, "# head version=1 agent=0 clock=CLOCK_MONOTONIC offset=0 pid=%d pidns=%lu%s attached=late jvm=x\n",
		pid, (unsigned long)namespace.st_ino, more);
	return fd;
}

/* Makes the log alternate between a file, a link to a file that the target may not read, and a
 * FIFO. */
static void *swap_log(void *unused)
{
	char link_name[600];

	snprintf(link_name, sizeof(link_name), "%s.link", log_name);
	for (;;) {
		if (symlink(path, link_name) == 0)
			rename(link_name, log_name);
		if (mkfifo(link_name, 0666) == 0)
			rename(link_name, log_name);
		close(write_log(spare_name, getpid(), ""));
		rename(spare_name, log_name);
	}
	return unused;
}

static void make_deep(const char *directory)
{
	need(chdir(directory) == 0, directory);
	for (int i = 0; i < 300; i++)
		if (mkdir("d", 0700) != 0 || chdir("d") != 0)
			break;
}

static void make_logs(const char *directory)
{
	static pthread_t thread;
	char other[512];

	snprintf(log_name, sizeof(log_name), "%s/log-jita2n_%d", directory, getpid());
	snprintf(spare_name, sizeof(spare_name), "%s/spare", directory);
	snprintf(other, sizeof(other), "%s/log-jita2n_%d", directory, 4242);
	if (is("fifo-log"))
		need(mkfifo(log_name, 0666) == 0, log_name);
	else if (is("link-log"))
		need(symlink(path, log_name) == 0, log_name);
	else if (is("stranger-log"))
		close(write_log(log_name, 4242, ""));
	else if (is("two-faced-log"))
		close(write_log(log_name, getpid(), " pid=4242"));
	else if (is("sparse-log"))
		need(truncate(log_name, 0) == 0 || errno == ENOENT, log_name);
	else
		close(write_log(log_name, getpid(), ""));
	if (is("sparse-log")) {
		int fd = write_log(log_name, getpid(), "");

		need(ftruncate(fd, 900L << 20) == 0, log_name);
		close(fd);
	}
	if (is("plants"))
		close(write_log(other, 4242, ""));
	if (is("deep"))
		make_deep(directory);
	if (is("swap-log") && !thread)
		need(pthread_create(&thread, NULL, swap_log, NULL) == 0, "thread");
}

/* Sends a signal to the process that acts with our user id. */
static void signal_helper(int signal)
{
	DIR *all = opendir("/proc");
	struct dirent *entry;
	char name[300], words[400];

	while (all && (entry = readdir(all))) {
		size_t got = 0;
		int fd;

		snprintf(name, sizeof(name), "/proc/%s/comm", entry->d_name);
		fd = open(name, O_RDONLY);
		if (fd >= 0)
			got = (size_t)read(fd, words, sizeof(words) - 1);
		close(fd);
		if (got < 14 || got > 100 || strncmp(words, "pitrace-attach", 14) != 0)
			continue;
		if (kill(atoi(entry->d_name), signal) == 0)
			fprintf(stderr, "signalled %s\n", entry->d_name);
	}
}

static void answer(int peer, const char *options)
{
	static const char good[] = "0\nreturn code: 0\n";
	const char *directory = strstr(options, "logpath=");

	if (is("mute"))
		pause();
	if (is("dies"))
		_exit(0);
	if (directory)
		make_logs(directory + strlen("logpath="));
	if (is("kills"))
		signal_helper(SIGKILL);
	if (is("stops"))
		signal_helper(SIGSTOP);
	if (is("controls"))
		dprintf(peer, "1\n\033]0;owned\007\033[2J\x9b" "31m\n");
	while (is("flood") && write(peer, "\033[2Jmore", 8) > 0)
		;
	while (is("drip") && write(peer, "0", 1) > 0)
		usleep(100000);
	(void)!write(peer, good, strlen(good));
}

static void serve(int pid)
{
	char request[4096];
	int listener = listen_at(pid);

	for (;;) {
		int peer = is("backlog") ? (pause(), -1) : accept(listener, NULL, NULL);

		if (peer < 0)
			continue;
		answer(peer, read_request(peer, request, sizeof(request)));
		close(peer);
	}
}

/* Serves requests but answers only the first, so that not even a fatal signal ends the wait. */
static void serve_fuse(int fd)
{
	static char request[1 << 20];
	const struct fuse_in_header *in = (const void *)request;
	struct {
		struct fuse_out_header head;
		struct fuse_init_out body;
	} reply = {.head = {.len = sizeof(reply)}, .body = {.major = 7, .minor = 31, .max_write = 4096}};

	while (read(fd, request, sizeof(request)) > 0) {
		if (in->opcode != FUSE_INIT)
			continue;
		reply.head.unique = in->unique;
		(void)!write(fd, &reply, sizeof(reply));
	}
}

static void mount_hanging_tmp(void)
{
	char options[100];
	int fd = open("/dev/fuse", O_RDWR);

	need(fd >= 0, "/dev/fuse");
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=65534,group_id=65534", fd);
	need(mount("hang", "/tmp", "fuse", MS_NODEV | MS_NOSUID, options) == 0, "mount");
	if (fork() == 0) {
		serve_fuse(fd);
		_exit(0);
	}
	close(fd);
	need(setresgid(65534, 65534, 65534) == 0 && setresuid(65534, 65534, 65534) == 0, "become nobody");
}

static void set_traps(void)
{
	char name[100];

	snprintf(name, sizeof(name), "/tmp/.java_pid%d", getpid());
	if (is("fifo-socket"))
		need(mkfifo(name, 0666) == 0, name);
	if (is("link-socket"))
		need(symlink(path, name) == 0, name);
	snprintf(name, sizeof(name), "/tmp/.attach_pid%d", getpid());
	if (is("fifo-attach"))
		need(mkfifo(name, 0666) == 0 && mkfifo(strrchr(name, '/') + 1, 0666) == 0, name);
}

int main(int argc, char **argv)
{
	struct sigaction quit = {.sa_handler = on_quit};

	if (argc < 3)
		return 1;
	attack = argv[1];
	path = argc > 3 ? argv[3] : "/";
	signal(SIGPIPE, SIG_IGN);
	if (!is("no-handler")) {
		sigset_t blocked;

		sigemptyset(&blocked);
		sigaddset(&blocked, SIGQUIT);
		sigprocmask(SIG_BLOCK, &blocked, NULL);
		sigaction(SIGQUIT, &quit, NULL);
	}
	map_libjvm(argv[2]);
	if (is("hangs"))
		mount_hanging_tmp();
	else
		set_traps();
	printf("%d\n", getpid());
	fflush(stdout);
	if (is("serve"))
		serve(atoi(path));
	if (!is("no-handler"))
		wait_for_quit();
	if (is("quiet") || is("hangs") || is("no-handler") || is("fifo-socket") || is("link-socket"))
		for (;;)
			pause();
	serve(getpid());
}
