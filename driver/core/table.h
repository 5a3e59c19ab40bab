/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory of tables. */
#ifndef PITRACE_CORE_TABLE_H
#define PITRACE_CORE_TABLE_H

#include <linux/mm.h>
#include <linux/slab.h>

/*
 * Zeroed memory for count elements, or NULL; freed with kvfree(). The count follows from a request: if there is too little
 * memory, the caller reports it, and the kernel log gets no warning.
 */
static inline void *pitrace_table_alloc(size_t count, size_t element)
{
	return kvcalloc(count, element, GFP_KERNEL | __GFP_NOWARN);
}

#endif
