// SPDX-License-Identifier: MIT
// What the parts of ptttool offer each other.
#ifndef PTTTOOL_H
#define PTTTOOL_H

#include <stdint.h>

#include <pitrace/ptt_abi.h>

#include "perfutil_ptt.h"

// Ends the program with a message and errno's text.
void fail(const char* what) __attribute__((noreturn));

int control_open(void);

// The caller's own slots.
struct slots {
  int fd;
  const uint8_t* base;
};
struct slots slots_open(void);
// NULL and errno when the calling thread gets none.
const struct pitrace_ptt_slot* slot_attach(const struct slots* slots);

// 2 count instructions: a jump costs one, as everything does in the lab that counts instructions.
static inline void known_loop(uint64_t count) {
  __asm__ volatile("1: dec %0\n\tjnz 1b" : "+r"(count) : : "cc");
}

static inline uint64_t cycles_of(const struct pitrace_ptt_slot* slot) {
  uint64_t value = 0;
  return PiPttReadCycles(slot, &value) ? value : 0;
}

// By name; -1: there is none of that name.
int sums_main(int argc, char** argv);
int work_main(int argc, char** argv);
int crowd_main(int argc, char** argv);
int kernel_main(int argc, char** argv);
int misuse_main(int argc, char** argv);
int rights_main(int argc, char** argv);

#endif
