/* SPDX-License-Identifier: GPL-2.0-only */
/* PTT's functions for the device; ptt.h has the declarations that its own files share. */
#ifndef PITRACE_PTT_PTT_CALLS_H
#define PITRACE_PTT_PTT_CALLS_H

#include <linux/fs.h>
#include <linux/types.h>

struct pitrace_ptt_init;
struct pitrace_ptt_info;
struct pitrace_ptt_residue;

int pitrace_ptt_init(void);
void pitrace_ptt_exit(void);
/* The errors are documented in ptt_abi.h. */
int pitrace_ptt_ioctl_init(struct file *file, const struct pitrace_ptt_init *init);
int pitrace_ptt_ioctl_term(void);
int pitrace_ptt_ioctl_ints(u32 ints);
int pitrace_ptt_ioctl_residue(const struct pitrace_ptt_residue *residue);
/* sees: enum pitrace_ptt_sees; privileged: called on /dev/pitrace, not on /dev/pitrace-ptt */
int pitrace_ptt_ioctl_info(struct pitrace_ptt_info *info, bool privileged, int sees);
long pitrace_ptt_ioctl_dump(void __user *user);
/* The last reference to an open file was released. */
void pitrace_ptt_release(struct file *file);

#endif /* PITRACE_PTT_PTT_CALLS_H */
