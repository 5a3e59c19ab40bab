/* SPDX-License-Identifier: GPL-2.0-only */
/* Processes that wait until a buffer holds a section. */
#ifndef PITRACE_CORE_READER_H
#define PITRACE_CORE_READER_H

#include <linux/fs.h>
#include <linux/poll.h>

__poll_t pitrace_reader_poll(struct file *file, poll_table *table);
void pitrace_reader_init(void);
/* Nobody can open the device any more. Waits for what is under way. */
void pitrace_reader_exit(void);

#endif /* PITRACE_CORE_READER_H */
