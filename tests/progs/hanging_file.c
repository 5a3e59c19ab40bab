/* SPDX-License-Identifier: MIT */
/*
 * A process whose code is in a file that no one can read: hanging_file DIR [open|close]
 * Mounts a FUSE file system on DIR, whose file DIR/code.so has attributes, but whose data never arrives: a read() waits until
 * this process ends. open: so does each open() but the process's own. close: so does each close(), and the data arrives.
 * A child maps the file as code, prints "ready", and uses the processor, with "close" in that code. Needs root.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <signal.h>
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_NODE = 2, SIZE = 8192 };

static int opens_hang, closes_hang, opened;

static void need(int good, const char *what)
{
	if (good)
		return;
	perror(what);
	exit(1);
}

static struct fuse_attr attributes(uint64_t node)
{
	struct fuse_attr attr = {.ino = node, .mode = S_IFDIR | 0755, .nlink = 1, .blksize = 4096};

	if (node == FILE_NODE) {
		attr.mode = S_IFREG | 0755;
		attr.size = SIZE;
	}
	return attr;
}

/* A loop without end: jumps to themselves. */
static void reply_with_code(int fd, uint64_t unique, size_t size)
{
	static struct {
		struct fuse_out_header head;
		unsigned char code[SIZE];
	} reply;

	size = size < SIZE ? size : SIZE;
	for (size_t i = 0; i < SIZE; i++)
		reply.code[i] = i % 2 ? 0xfe : 0xeb;
	reply.head.len = (uint32_t)(sizeof(reply.head) + size);
	reply.head.unique = unique;
	(void)!write(fd, &reply, reply.head.len);
}

/* Answers all requests but those that shall hang. */
static void serve(int fd)
{
	static char request[1 << 20];
	const struct fuse_in_header *in = (const void *)request;
	struct {
		struct fuse_out_header head;
		union {
			struct fuse_init_out init;
			struct fuse_entry_out entry;
			struct fuse_attr_out attr;
			struct fuse_open_out open;
		};
	} reply;
	size_t body;

	while (read(fd, request, sizeof(request)) > 0) {
		memset(&reply, 0, sizeof(reply));
		body = 0;
		switch (in->opcode) {
		case FUSE_INIT:
			reply.init = (struct fuse_init_out){.major = 7, .minor = 31, .max_write = 4096};
			body = sizeof(reply.init);
			break;
		case FUSE_LOOKUP:
			if (strcmp(request + sizeof(*in), "code.so") == 0) {
				reply.entry = (struct fuse_entry_out){
					.nodeid = FILE_NODE, .entry_valid = 3600, .attr_valid = 3600, .attr = attributes(FILE_NODE)};
				body = sizeof(reply.entry);
			} else {
				reply.head.error = -ENOENT;
			}
			break;
		case FUSE_GETATTR:
			reply.attr = (struct fuse_attr_out){.attr_valid = 3600, .attr = attributes(in->nodeid)};
			body = sizeof(reply.attr);
			break;
		case FUSE_OPEN:
			if (opens_hang && opened++)
				continue;
			body = sizeof(reply.open);
			break;
		case FUSE_READ:
			if (!closes_hang)
				continue;
			reply_with_code(fd, in->unique, ((const struct fuse_read_in *)(in + 1))->size);
			continue;
		case FUSE_FLUSH:
			if (closes_hang)
				continue;
			reply.head.error = -ENOSYS;
			break;
		case FUSE_FORGET:
		case FUSE_INTERRUPT:
			continue;
		case FUSE_RELEASE:
			break;
		default:
			reply.head.error = -ENOSYS;
		}
		reply.head.len = (uint32_t)(sizeof(reply.head) + body);
		reply.head.unique = in->unique;
		(void)!write(fd, &reply, reply.head.len);
	}
}

static void ended(int signal)
{
	(void)signal;
	_exit(1);
}

static void run(const char *directory)
{
	char path[4096];
	void *code;
	int fd;

	snprintf(path, sizeof(path), "%s/code.so", directory);
	fd = open(path, O_RDONLY);
	need(fd >= 0, path);
	puts("ready");
	fflush(stdout);
	getchar();
	code = mmap(NULL, SIZE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	need(code != MAP_FAILED, "mmap");
	puts("mapped");
	fflush(stdout);
	if (closes_hang)
		((void (*)(void))code)();
	for (;;)
		;
}

int main(int argc, char **argv)
{
	char options[100];
	int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);

	need((argc == 2 || argc == 3) && fd >= 0, "/dev/fuse");
	opens_hang = argc == 3 && strcmp(argv[2], "open") == 0;
	closes_hang = argc == 3 && strcmp(argv[2], "close") == 0;
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0", fd);
	need(mount("hang", argv[1], "fuse", 0, options) == 0, "mount");
	signal(SIGCHLD, ended);
	/* The child ends when the file system has: a process that ends closes its files. */
	if (fork() == 0) {
		close(fd);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		run(argv[1]);
	}
	serve(fd);
	return 1;
}
