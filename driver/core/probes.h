/* SPDX-License-Identifier: GPL-2.0-only */
/* Hooks, probes in the kernel: tracepoint probes, kprobes and die notifiers behind one interface. */
#ifndef PITRACE_PROBES_H
#define PITRACE_PROBES_H

#include <linux/kprobes.h>
#include <linux/types.h>

struct notifier_block;
struct tracepoint;

enum pitrace_hook_type {
	PITRACE_HOOK_TRACEPOINT,
	PITRACE_HOOK_ENTRY, /* kprobe on a function */
	PITRACE_HOOK_RETURN, /* kretprobe */
	PITRACE_HOOK_DIE, /* the kernel's die notifiers */
};

/* The first group of fields is the user's, the second belongs to probes.c. */
struct pitrace_hook {
	const char *name; /* of the tracepoint or function; for a notifier, the name shown to users */
	const char *other_name; /* NULL, or a function in kernels without the first; swapped with name if that exists */
	void *address; /* of the function, if the kernel does not know its name */
	enum pitrace_hook_type type;
	enum pitrace_hook_type other_type; /* of the probe on other_name; swapped with type */
	void *probe; /* tracepoint: its probe function, data first */
	kprobe_pre_handler_t on_entry;
	kretprobe_handler_t on_return;
	struct notifier_block *on_die;

	struct tracepoint *tracepoint;
	struct kretprobe *function; /* entry hooks use only its kp */
	bool registered;
	bool attached; /* reported by PITRACE_IOC_PROBE */
	u64 missed; /* since it was attached last */
};

#define PITRACE_TRACEPOINT(tracepoint, function) \
	{ .name = tracepoint, .type = PITRACE_HOOK_TRACEPOINT, .probe = function }

/* For PITRACE_ARCH_VECTORS: both hooks of a vector, with the file's on_vector_entry() and on_vector_exit(). */
#define PITRACE_VECTOR_HOOKS(vector)                           \
	PITRACE_TRACEPOINT(#vector "_entry", on_vector_entry), \
	PITRACE_TRACEPOINT(#vector "_exit", on_vector_exit),

/* All hooks of one source. */
struct pitrace_hook_set {
	struct pitrace_hook *hooks;
	unsigned int count;
};

/* Sets attached for the hooks that this kernel has, without changing any of its code. */
void pitrace_hooks_resolve(struct pitrace_hook *hooks, unsigned int count);
/* Attaches, in order, and sets attached. A hook that cannot be attached is not an error. */
void pitrace_hooks_attach(struct pitrace_hook *hooks, unsigned int count);
/*
 * Detaches in reverse order. On return no probe runs any more. May sleep; harmless when nothing is
 * attached.
 */
void pitrace_hooks_detach(struct pitrace_hook *hooks, unsigned int count);
/* Updates attached and missed. */
void pitrace_hooks_refresh(struct pitrace_hook *hooks, unsigned int count);

#endif /* PITRACE_PROBES_H */
