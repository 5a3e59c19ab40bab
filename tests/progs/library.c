// SPDX-License-Identifier: MIT
// A library that burns time; built twice under two names for reuse.c.
#include "burn.h"

void library_work(unsigned long rounds);
void library_work(unsigned long rounds) { BURN(rounds); }
