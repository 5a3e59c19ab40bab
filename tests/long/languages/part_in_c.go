// SPDX-License-Identifier: MIT
// A part of tree.go in C: the linker puts C's .eh_frame beside Go's .debug_frame. It runs before
// main(), for a fifth of a second.
package main

// #include <time.h>
// static volatile unsigned long rounds;
// __attribute__((noipa)) static void leaf_in_c(void) { for (rounds = 0; rounds < 100000; rounds++) { } }
// __attribute__((noipa)) static void part_in_c(void) {
//   struct timespec used;
//   do {
//     leaf_in_c();
//     clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
//   } while (used.tv_sec == 0 && used.tv_nsec < 200000000);
// }
import "C"

func init() { C.part_in_c() }
