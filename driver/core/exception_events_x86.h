/* SPDX-License-Identifier: GPL-2.0-only */
/* The tracepoints of page faults, whose header moved in 6.16. */
#ifndef PITRACE_CORE_EXCEPTION_EVENTS_X86_H
#define PITRACE_CORE_EXCEPTION_EVENTS_X86_H

#ifdef PITRACE_HAS_EXCEPTION_EVENTS
#include <trace/events/exceptions.h>
#else
#include <asm/trace/exceptions.h>
#endif

#endif /* PITRACE_CORE_EXCEPTION_EVENTS_X86_H */
