// SPDX-License-Identifier: GPL-2.0-only
/*
 * Attaches and detaches probes, and checks whether they work and how many hits they missed.
 *
 * Registered function probes may not work: debugfs kprobes/enabled and the sysctl ftrace_enabled turn
 * all of them off, and no interface reports this to a module. So one function of this module, the
 * canary, is probed too, and called: if its probe does not fire, the others do not either.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/kdebug.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/printk.h>
#include <linux/slab.h>
#include <linux/tracepoint.h>

#include "compat.h"
#include "probes.h"

/* ---- one hook ---- */

static int probes_register_tracepoint(struct pitrace_hook *hook)
{
	hook->tracepoint = pitrace_find_tracepoint(hook->name);
	if (!hook->tracepoint)
		return -ENOENT;
	return tracepoint_probe_register(hook->tracepoint, hook->probe, NULL);
}

static int probes_register_function_named(struct pitrace_hook *hook, u32 flags)
{
	struct kretprobe *function;
	int error;

	function = kzalloc(sizeof(*function), GFP_KERNEL);
	if (!function)
		return -ENOMEM;
	function->kp.symbol_name = hook->name;
	function->kp.addr = hook->address;
	function->kp.flags = flags;
	if (hook->type == PITRACE_HOOK_ENTRY) {
		function->kp.pre_handler = hook->on_entry;
		error = register_kprobe(&function->kp);
	} else {
		function->handler = hook->on_return;
		error = register_kretprobe(function);
	}
	if (error)
		kfree(function);
	else
		hook->function = function;
	return error;
}

static void probes_swap_functions(struct pitrace_hook *hook)
{
	swap(hook->name, hook->other_name);
	swap(hook->type, hook->other_type);
}

/* flags: 0, or KPROBE_FLAG_DISABLED to register without changing any code. */
static int probes_register_function(struct pitrace_hook *hook, u32 flags)
{
	int error = probes_register_function_named(hook, flags);

	if (!error || !hook->other_name)
		return error;
	probes_swap_functions(hook);
	if (!probes_register_function_named(hook, flags))
		return 0;
	probes_swap_functions(hook);
	return error;
}

/*
 * To remove a probe from the code the kernel may have to allocate memory. If that fails, it clears
 * the address, and the inactive structure remains in its list. The structure must then never be
 * freed, which is why it is allocated and not part of this module.
 */
static void probes_unregister_function(struct pitrace_hook *hook)
{
	struct kretprobe *function = hook->function;

	if (hook->type == PITRACE_HOOK_ENTRY)
		unregister_kprobe(&function->kp);
	else
		unregister_kretprobe(function);
	if (function->kp.addr)
		kfree(function);
	else
		pr_warn_once("no memory to remove a probe; until the next boot it is left as it is\n");
	hook->function = NULL;
}

static bool probes_is_function(const struct pitrace_hook *hook)
{
	return hook->type == PITRACE_HOOK_ENTRY || hook->type == PITRACE_HOOK_RETURN;
}

static int probes_register_hook(struct pitrace_hook *hook)
{
	switch (hook->type) {
	case PITRACE_HOOK_TRACEPOINT:
		return probes_register_tracepoint(hook);
	case PITRACE_HOOK_DIE:
		return register_die_notifier(hook->on_die);
	default:
		return probes_register_function(hook, 0);
	}
}

static void probes_unregister_hook(struct pitrace_hook *hook)
{
	switch (hook->type) {
	case PITRACE_HOOK_TRACEPOINT:
		tracepoint_probe_unregister(hook->tracepoint, hook->probe, NULL);
		break;
	case PITRACE_HOOK_DIE:
		unregister_die_notifier(hook->on_die);
		break;
	default:
		probes_unregister_function(hook);
	}
}

static bool probes_exists(struct pitrace_hook *hook)
{
	if (hook->type == PITRACE_HOOK_TRACEPOINT)
		return pitrace_find_tracepoint(hook->name);
	if (hook->type == PITRACE_HOOK_DIE)
		return true;
	if (probes_register_function(hook, KPROBE_FLAG_DISABLED))
		return false;
	probes_unregister_function(hook);
	return true;
}

/* The kernel counts hits while a probe was running already, or while all return slots were in use. */
static u64 probes_missed_by(const struct pitrace_hook *hook)
{
	if (!probes_is_function(hook))
		return 0;
	return (u64)hook->function->kp.nmissed + hook->function->nmissed;
}

/* ---- do function probes work? ---- */

static atomic_t canary_hits;

static noinline void probes_canary(void)
{
	/* Prevents inlining, cloning and removal. */
	asm volatile("" ::: "memory");
}

static int probes_on_canary(struct kprobe *kprobe, struct pt_regs *regs)
{
	atomic_inc(&canary_hits);
	return 0;
}

static struct pitrace_hook canary_hook = {
	.type = PITRACE_HOOK_ENTRY,
	.address = probes_canary,
	.on_entry = probes_on_canary,
};

static DEFINE_MUTEX(canary_lock);
static unsigned int canary_users; /* attached sets of hooks that contain function probes */

static bool probes_canary_fires(void)
{
	bool fires = false;
	int before;

	mutex_lock(&canary_lock);
	if (canary_hook.registered) {
		before = atomic_read(&canary_hits);
		probes_canary();
		fires = atomic_read(&canary_hits) != before;
	}
	mutex_unlock(&canary_lock);
	return fires;
}

static void probes_get_canary(void)
{
	mutex_lock(&canary_lock);
	if (!canary_users++)
		canary_hook.registered = !probes_register_hook(&canary_hook);
	mutex_unlock(&canary_lock);
}

static void probes_put_canary(void)
{
	mutex_lock(&canary_lock);
	if (!--canary_users && canary_hook.registered) {
		probes_unregister_hook(&canary_hook);
		canary_hook.registered = false;
	}
	mutex_unlock(&canary_lock);
}

/* ---- all hooks ---- */

static bool probes_has_functions(const struct pitrace_hook *hooks, unsigned int count)
{
	const struct pitrace_hook *hook;

	for (hook = hooks; hook < hooks + count; hook++) {
		if (hook->registered && probes_is_function(hook))
			return true;
	}
	return false;
}

void pitrace_hooks_refresh(struct pitrace_hook *hooks, unsigned int count)
{
	const bool works = probes_has_functions(hooks, count) && probes_canary_fires();
	struct pitrace_hook *hook;

	for (hook = hooks; hook < hooks + count; hook++) {
		if (!hook->registered)
			continue;
		hook->missed = probes_missed_by(hook);
		/* Not set again if it works later: records of this trace are missing. */
		if (probes_is_function(hook) && (!works || kprobe_disabled(&hook->function->kp)))
			hook->attached = false;
	}
}

void pitrace_hooks_attach(struct pitrace_hook *hooks, unsigned int count)
{
	struct pitrace_hook *hook;

	for (hook = hooks; hook < hooks + count; hook++) {
		hook->registered = !probes_register_hook(hook);
		hook->attached = hook->registered;
		hook->missed = 0;
	}
	if (probes_has_functions(hooks, count))
		probes_get_canary();
	pitrace_hooks_refresh(hooks, count);
}

void pitrace_hooks_detach(struct pitrace_hook *hooks, unsigned int count)
{
	pitrace_hooks_refresh(hooks, count);
	if (probes_has_functions(hooks, count))
		probes_put_canary();
	while (count--) {
		if (hooks[count].registered)
			probes_unregister_hook(&hooks[count]);
		hooks[count].registered = false;
	}
	tracepoint_synchronize_unregister();
}

void pitrace_hooks_resolve(struct pitrace_hook *hooks, unsigned int count)
{
	struct pitrace_hook *hook;

	for (hook = hooks; hook < hooks + count; hook++)
		hook->attached = probes_exists(hook);
}
