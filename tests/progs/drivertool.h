// SPDX-License-Identifier: MIT
// Shared declarations of drivertool's parts.
#ifndef DRIVERTOOL_H
#define DRIVERTOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pitrace/abi.h>

#define MAX_CPUS 1024

// The mapped buffer of one kind and CPU; head is NULL if there is none.
struct view {
  const struct pitrace_buffer_head* head;
  const uint8_t* data;
};

struct views {
  struct view of[PITRACE_BUFFERS_ALL][MAX_CPUS];
  unsigned int cpus;  // CPU numbers are below this
};

// Exits with a message and errno's text.
void fail(const char* what) __attribute__((noreturn));

int device_open(void);
void device_call(int fd, unsigned long command, void* argument, const char* what);
void device_alloc(int fd, uint64_t trace_bytes, uint64_t mte_bytes, uint32_t flags);
struct pitrace_info device_info(int fd);
void views_map(struct views* views, int fd);

// Walks every buffer and prints one "check NAME ok|FAILED ..." line for each invariant; returns
// false if one failed. If dump is set, first prints every record, merged by time.
bool walk_check(const struct views* views, bool dump);

// Parses options of a trace: stacks "WHICH:DEPTH"; event
// "TYPE:CONFIG:PERIOD[:FLAGS[:CONFIG1[:CONFIG2]]]"; all are numbers.
void sample_stacks(const char* text);
void sample_copies(const char* text);  // "BYTES:BUFFER-KB"
uint64_t sample_copies_bytes(void);    // of the buffer of a CPU; 0: there is none
void sample_event(const char* text);
// Passes the options to the module.
void sample_set(int fd);

// Workloads and misuse, by name. Return -1 for an unknown name.
int load_main(int argc, char** argv);
int events_main(int argc, char** argv);
int misuse_main(int argc, char** argv);
int sample_main(int argc, char** argv);

#endif
