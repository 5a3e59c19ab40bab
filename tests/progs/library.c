// SPDX-License-Identifier: MIT
// A library that burns time; built under several names for reuse.c and places.c.
#include "burn.h"

void library_work(unsigned long rounds);
void library_work(unsigned long rounds) { BURN(rounds); }
