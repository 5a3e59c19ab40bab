// SPDX-License-Identifier: GPL-2.0-only
/* The functions of compat.h that are not inline. */

#include <linux/string.h>
#include <linux/tracepoint.h>

#include "compat.h"

struct search {
	const char *name;
	struct tracepoint *found;
};

static void compat_compare_name(struct tracepoint *tracepoint, void *data)
{
	struct search *search = data;

	if (!strcmp(tracepoint->name, search->name))
		search->found = tracepoint;
}

struct tracepoint *pitrace_find_tracepoint(const char *name)
{
	struct search search = { .name = name };

	for_each_kernel_tracepoint(compat_compare_name, &search);
	return search.found;
}
