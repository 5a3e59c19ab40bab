/* SPDX-License-Identifier: GPL-2.0-only */
/* Whose processes a user may read as a debugger, decided where the kernel cannot be asked. */
#ifndef PITRACE_CORE_RIGHTS_H
#define PITRACE_CORE_RIGHTS_H

#include <linux/types.h>

struct cred;

/* In any context. Allows no more than the kernel allows a debugger of the same user. */
bool pitrace_may_read_current(const struct cred *by);

#endif /* PITRACE_CORE_RIGHTS_H */
