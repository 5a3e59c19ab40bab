/* SPDX-License-Identifier: GPL-2.0-only */
/* Processes that wait for data in streaming buffers; does not access buffers or rings. */
#ifndef PITRACE_CORE_READER_H
#define PITRACE_CORE_READER_H

#include <linux/fs.h>
#include <linux/poll.h>

void pitrace_reader_poll_wait(struct file *file, poll_table *table);
/* The rarely taken half of pitrace_end(). Any context. */
void pitrace_wake_reader(void);
void pitrace_reader_init(void);
/* The device can no longer be opened. Waits for pending irq_work. */
void pitrace_reader_exit(void);

#endif /* PITRACE_CORE_READER_H */
