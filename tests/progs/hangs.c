/* SPDX-License-Identifier: MIT */
/*
 * A process that waits in the kernel as long as the test likes: hangs vfork|fault|main
 * Reads a byte, waits in vfork() or in a page fault until it can read another byte, and exits with 7.
 * fault: by userfaultfd, as every user may; exits with 77 if the system refuses that. main: the main
 * thread ends, and another one waits.
 */
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif

#define PAGE 4096

static int uffd;
static char *page;

static void next_byte(void)
{
	char byte;

	while (read(0, &byte, 1) < 0)
		;
}

static void *serve(void *unused)
{
	struct pollfd faults = { uffd, POLLIN, 0 };
	struct uffdio_zeropage zero = { { (unsigned long)page, PAGE }, 0, 0 };

	while (poll(&faults, 1, -1) != 1)
		;
	next_byte();
	ioctl(uffd, UFFDIO_ZEROPAGE, &zero);
	return unused;
}

static void *wait_alone(void *unused)
{
	next_byte();
	_exit(7);
	return unused;
}

static int make_page(void)
{
	struct uffdio_api api = { UFFD_API, 0, 0 };
	struct uffdio_register area = { { 0, PAGE }, UFFDIO_REGISTER_MODE_MISSING, 0 };
	pthread_t thread;

	page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uffd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY);
	area.range.start = (unsigned long)page;
	return page != MAP_FAILED && uffd >= 0 && ioctl(uffd, UFFDIO_API, &api) == 0 &&
	       ioctl(uffd, UFFDIO_REGISTER, &area) == 0 && pthread_create(&thread, NULL, serve, NULL) == 0;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	const int in_vfork = strcmp(mode, "vfork") == 0, ends = strcmp(mode, "main") == 0;
	pthread_t thread;

	if (!in_vfork && !ends && !make_page())
		return 77;
	puts("ready");
	fflush(stdout);
	next_byte();
	if (ends && pthread_create(&thread, NULL, wait_alone, NULL) == 0) {
		syscall(SYS_exit, 0); /* pthread_exit() executes many instructions */
	} else if (in_vfork) {
		if (vfork() == 0) {
			next_byte();
			_exit(0);
		}
	} else {
		*(volatile char *)page = 1;
	}
	return 7;
}
