/* SPDX-License-Identifier: GPL-2.0-only */
/* What the driver needs from the architecture; one file for each. */
#ifndef PITRACE_PLAT_H
#define PITRACE_PLAT_H

#include "plat_x86.h"

#endif /* PITRACE_PLAT_H */
