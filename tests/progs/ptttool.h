// SPDX-License-Identifier: MIT
// Shared declarations of ptttool's parts.
#ifndef PTTTOOL_H
#define PTTTOOL_H

#include <stdint.h>

#include <pitrace/ptt_abi.h>

#include "perfutil_ptt.h"

// Exits with a message and errno's text.
void fail(const char* what) __attribute__((noreturn));

int control_open(void);

// The caller's mapping of slots.
struct slots {
  int fd;
  const uint8_t* base;
};
struct slots slots_open(void);
// Returns NULL and sets errno if the calling thread gets no slot.
const struct pitrace_ptt_slot* slot_attach(const struct slots* slots);

// Executes 2 * count instructions: in the instruction-count lab each one counts as one.
static inline void known_loop(uint64_t count) {
  __asm__ volatile("1: dec %0\n\tjnz 1b" : "+r"(count) : : "cc");
}

static inline uint64_t cycles_of(const struct pitrace_ptt_slot* slot) {
  uint64_t value = 0;
  return PiPttReadCycles(slot, &value) ? value : 0;
}

// Commands by name. Return -1 for an unknown name.
int sums_main(int argc, char** argv);
int work_main(int argc, char** argv);
int crowd_main(int argc, char** argv);
int kernel_main(int argc, char** argv);
int misuse_main(int argc, char** argv);
int rights_main(int argc, char** argv);

#endif
