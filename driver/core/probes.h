/* SPDX-License-Identifier: GPL-2.0-only */
/* Hooks into the kernel: tracepoints and function probes behind one interface. */
#ifndef PITRACE_PROBES_H
#define PITRACE_PROBES_H

#include <linux/kprobes.h>
#include <linux/types.h>

struct notifier_block;
struct tracepoint;

enum pitrace_hook_type {
	PITRACE_HOOK_TRACEPOINT,
	PITRACE_HOOK_ENTRY, /* of a function */
	PITRACE_HOOK_RETURN,
	PITRACE_HOOK_DIE, /* the kernel's die notifiers */
};

/* The first group of fields is the user's, the second belongs to probes.c. */
struct pitrace_hook {
	const char *name; /* of the tracepoint or function; of a notifier what users are told */
	const char *other_name; /* NULL, or of the function in other kernels; they change places */
	void *address; /* of the function, where it has no name to the kernel */
	enum pitrace_hook_type type;
	void *probe; /* tracepoint: its probe function, data first */
	kprobe_pre_handler_t on_entry;
	kretprobe_handler_t on_return;
	struct notifier_block *on_die;

	struct tracepoint *tracepoint;
	struct kretprobe *function; /* of an entry hook only its kp is in use */
	bool registered;
	bool attached; /* what PITRACE_IOC_PROBE tells */
	u64 missed; /* since it was attached last */
};

#define PITRACE_TRACEPOINT(tracepoint, function) \
	{ .name = tracepoint, .type = PITRACE_HOOK_TRACEPOINT, .probe = function }

/* For PITRACE_ARCH_VECTORS: those around a vector's handler, with the file's on_vector_entry() and on_vector_exit(). */
#define PITRACE_VECTOR_HOOKS(vector)                           \
	PITRACE_TRACEPOINT(#vector "_entry", on_vector_entry), \
	PITRACE_TRACEPOINT(#vector "_exit", on_vector_exit),

/* All hooks of one source. */
struct pitrace_hook_set {
	struct pitrace_hook *hooks;
	unsigned int count;
};

/* Finds out which of the hooks this kernel has, without changing any of its code. */
void pitrace_hooks_resolve(struct pitrace_hook *hooks, unsigned int count);
/* Attaches, in order, those that can be; a hook that cannot is not an error, attached tells. */
void pitrace_hooks_attach(struct pitrace_hook *hooks, unsigned int count);
/*
 * In the reverse order. On return no probe runs any more. May sleep; harmless when nothing is
 * attached.
 */
void pitrace_hooks_detach(struct pitrace_hook *hooks, unsigned int count);
/* Brings attached and missed up to date. */
void pitrace_hooks_refresh(struct pitrace_hook *hooks, unsigned int count);

#endif /* PITRACE_PROBES_H */
