// SPDX-License-Identifier: MIT
// What the parts of drivertool offer each other.
#ifndef DRIVERTOOL_H
#define DRIVERTOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pitrace/abi.h>

#define MAX_CPUS 1024

// One buffer of one CPU, mapped; head is NULL where there is none.
struct view {
  const struct pitrace_buffer_head* head;
  const uint8_t* data;
};

struct views {
  struct view of[PITRACE_BUFFERS][MAX_CPUS];
  unsigned int cpus;  // numbers are below this
};

// Ends the program with a message and errno's text.
void fail(const char* what) __attribute__((noreturn));

int device_open(void);
void device_call(int fd, unsigned long command, void* argument, const char* what);
void device_alloc(int fd, uint64_t trace_bytes, uint64_t mte_bytes, uint32_t flags);
struct pitrace_info device_info(int fd);
void views_map(struct views* views, int fd);

// Walks every buffer and prints one "check NAME ok|FAILED ..." line per invariant; false if one
// failed. Prints every record first, merged by time, when dump is set.
bool walk_check(const struct views* views, bool dump);

// Options of a trace: "WHICH:DEPTH"; "TYPE:CONFIG:PERIOD[:FLAGS[:CONFIG1[:CONFIG2]]]"; numbers.
void sample_stacks(const char* text);
void sample_event(const char* text);
// Tells the module.
void sample_set(int fd);

// Workloads and misuse, by name; -1: there is none of that name.
int load_main(int argc, char** argv);
int events_main(int argc, char** argv);
int misuse_main(int argc, char** argv);
int sample_main(int argc, char** argv);

#endif
