// SPDX-License-Identifier: MIT
/*
 * swap_files FILE OTHER... : exchanges FILE with each OTHER in turn, atomically, so that FILE
 * always exists, until SIGTERM. Then prints how often each OTHER that is neither a regular file nor
 * a link was opened, even briefly. Examining a file (O_PATH, stat) does not count as opening it.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

static volatile sig_atomic_t over;

static void on_term(int number)
{
	(void)number;
	over = 1;
}

static void need(int good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "swap_files: %s: %s\n", what, strerror(errno));
	exit(1);
}

static long count_events(int watcher)
{
	char bytes[16384] __attribute__((aligned(__alignof__(struct inotify_event))));
	long count = 0;
	ssize_t got;

	while ((got = read(watcher, bytes, sizeof bytes)) > 0) {
		for (ssize_t at = 0; at < got;) {
			const struct inotify_event *event = (const void *)(bytes + at);

			count += (event->mask & (IN_OPEN | IN_Q_OVERFLOW)) != 0;
			at += (ssize_t)(sizeof *event + event->len);
		}
	}
	return count;
}

int main(int argc, char **argv)
{
	int watcher = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	struct sigaction action = {.sa_handler = on_term};

	need(argc >= 3 && watcher >= 0, "needs FILE and OTHER");
	for (int i = 2; i < argc; i++) {
		struct stat status;

		need(lstat(argv[i], &status) == 0, argv[i]);
		if (!S_ISREG(status.st_mode) && !S_ISLNK(status.st_mode))
			need(inotify_add_watch(watcher, argv[i], IN_OPEN | IN_DONT_FOLLOW) >= 0, argv[i]);
	}
	sigaction(SIGTERM, &action, NULL);
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	while (!over)
		for (int i = 2; i < argc; i++)
			for (int back = 0; back < 2; back++) {
				need(renameat2(AT_FDCWD, argv[1], AT_FDCWD, argv[i], RENAME_EXCHANGE) == 0, argv[i]);
				usleep(100); /* the program under attack needs the processor, too */
			}
	printf("opened %ld\n", count_events(watcher));
	return 0;
}
