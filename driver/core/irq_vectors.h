/* SPDX-License-Identifier: GPL-2.0-only */
/* Tracepoints of the processor's own interrupt vectors; one file for each architecture. */
#ifndef PITRACE_IRQ_VECTORS_H
#define PITRACE_IRQ_VECTORS_H

#include "irq_vectors_x86.h"

#endif /* PITRACE_IRQ_VECTORS_H */
