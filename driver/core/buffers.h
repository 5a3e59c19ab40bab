/* SPDX-License-Identifier: GPL-2.0-only */
/* The pages behind the rings. */
#ifndef PITRACE_CORE_BUFFERS_H
#define PITRACE_CORE_BUFFERS_H

#include <linux/mm_types.h>
#include <linux/poll.h>
#include <linux/types.h>

#include <pitrace/abi.h>

int pitrace_buffers_init(void);
void pitrace_buffers_exit(void);
/*
 * Bytes are multiples of the page size; section: bytes, of streaming buffers. 0, -ENOMEM or -EINTR
 * (then nothing is allocated).
 */
int pitrace_buffers_alloc(const u64 bytes[PITRACE_BUFFERS], u32 mode, u64 section);
/*
 * While no source runs: the buffers of stacks, in place of earlier ones. spare: bytes of memory behind each
 * (pitrace_ring_spare()), of which a reset of the buffer clears the first page. Both are multiples of the page size; bytes
 * 0: none. 0, -ENOMEM or -EINTR (then there are none).
 */
int pitrace_buffers_alloc_stacks(u64 bytes, u64 spare);
/* Bytes per CPU, both buffers together, that could be allocated now. */
u64 pitrace_buffers_largest(void);
/* The gates are closed. Pages that are still mapped live until they are unmapped. */
void pitrace_buffers_free(void);
/* The gate of that kind is closed. The buffers of stacks are reset with those of the trace. */
void pitrace_buffers_reset(u32 kind);
u32 pitrace_buffers_cpus_failed(void);
int pitrace_buffers_mmap(struct vm_area_struct *vma);
/* Readable: a streaming buffer contains a whole section. */
__poll_t pitrace_buffers_poll(struct file *file, poll_table *table);
/* -EINVAL, -ENXIO when the CPU has no buffers */
int pitrace_buffers_consumed(const struct pitrace_consumed *consumed);

#endif /* PITRACE_CORE_BUFFERS_H */
