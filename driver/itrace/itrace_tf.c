// SPDX-License-Identifier: GPL-2.0-only
/* The changes between the states of a thread's trap flag. */

#include "itrace_tf.h"

#define TO(state) BIT(ITRACE_TF_##state)

const u16 itrace_tf_next[ITRACE_TF_STATES] = {
	/* User code is entered; a hook begins to step the kernel; two CPUs clean the user's registers. */
	[ITRACE_TF_NONE] = TO(USER) | TO(MODULE) | TO(NONE),
	/* It is begun, or ended. */
	[ITRACE_TF_NEW] = TO(NONE),
	/* Dispatched, or ended; stepped by a hook where ITrace was off when it was dispatched. */
	[ITRACE_TF_PARKED] = TO(ARRIVING) | TO(MODULE) | TO(NONE),
	/* The kernel is entered, or it ends. */
	[ITRACE_TF_USER] = TO(SYSRET) | TO(NONE),
	[ITRACE_TF_SYSRET] = TO(USER) | TO(NONE),
	/* The first trap after the context switch. */
	[ITRACE_TF_ARRIVING] = TO(KERNEL) | TO(NONE),
	/* The module is left; a switch or fault before that. */
	[ITRACE_TF_MODULE] = TO(KERNEL) | TO(PARKED) | TO(MODULE) | TO(NONE),
	/* Return to user mode, switch, fault; no more steps. */
	[ITRACE_TF_KERNEL] = TO(USER) | TO(PARKED) | TO(MODULE) | TO(NONE),
};
