// SPDX-License-Identifier: MIT
// Starts another kernel: "kexec load KERNEL INITRD ARGUMENTS" makes it ready, "kexec now" jumps to it.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/reboot.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int failed(const char* what) {
  fprintf(stderr, "kexec: %s: %s\n", what, strerror(errno));
  return 1;
}

static int load(const char* kernel, const char* initrd, const char* arguments) {
  const int kernel_fd = open(kernel, O_RDONLY);
  const int initrd_fd = open(initrd, O_RDONLY);
  if (kernel_fd < 0 || initrd_fd < 0) return failed("open");
  if (syscall(SYS_kexec_file_load, kernel_fd, initrd_fd, strlen(arguments) + 1, arguments, 0ul) != 0)
    return failed("kexec_file_load");
  return 0;
}

int main(int argc, char** argv) {
  if (argc == 5 && !strcmp(argv[1], "load")) return load(argv[2], argv[3], argv[4]);
  if (argc == 2 && !strcmp(argv[1], "now")) {
    syscall(SYS_reboot, LINUX_REBOOT_MAGIC1, LINUX_REBOOT_MAGIC2, LINUX_REBOOT_CMD_KEXEC, NULL);
    return failed("reboot");
  }
  fputs("Usage: kexec load KERNEL INITRD ARGUMENTS | kexec now\n", stderr);
  return 255;
}
