// SPDX-License-Identifier: MIT
// Starts another kernel, without a shutdown. Usage: kexec KERNEL COMMAND-LINE
#include <fcntl.h>
#include <linux/kexec.h>
#include <linux/reboot.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char** argv) {
  const int kernel = argc == 3 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
  if (kernel < 0 || syscall(SYS_kexec_file_load, kernel, -1, strlen(argv[2]) + 1, argv[2],
                            (unsigned long)KEXEC_FILE_NO_INITRAMFS) != 0) {
    perror("kexec");
    return 1;
  }
  syscall(SYS_reboot, LINUX_REBOOT_MAGIC1, LINUX_REBOOT_MAGIC2, LINUX_REBOOT_CMD_KEXEC, NULL);
  perror("kexec: reboot");
  return 1;
}
