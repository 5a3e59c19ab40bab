/* SPDX-License-Identifier: MIT */
/*
 * A process whose code is in a file that no one can read: hanging_file DIR
 * Mounts a FUSE file system on DIR, whose file DIR/code.so has attributes, but whose data never arrives: a read() waits until
 * this process ends. Maps the file as code, prints "ready", and uses the processor. Needs root.
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

/* Answers all requests but those for data. */
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
			body = sizeof(reply.open);
			break;
		case FUSE_READ:
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

int main(int argc, char **argv)
{
	char options[100], path[4096];
	int fd = open("/dev/fuse", O_RDWR);

	need(argc == 2 && fd >= 0, "/dev/fuse");
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0", fd);
	need(mount("hang", argv[1], "fuse", 0, options) == 0, "mount");
	if (fork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		serve(fd);
		_exit(0);
	}
	close(fd);
	snprintf(path, sizeof(path), "%s/code.so", argv[1]);
	fd = open(path, O_RDONLY);
	need(fd >= 0, path);
	puts("ready");
	fflush(stdout);
	getchar();
	need(mmap(NULL, SIZE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) != MAP_FAILED, "mmap");
	puts("mapped");
	fflush(stdout);
	for (;;)
		;
}
