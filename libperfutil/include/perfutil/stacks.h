/* SPDX-License-Identifier: MIT */
/* libperfutil: unwinding of user stacks by the application. Include perfutil.h. */
#ifndef PERFUTIL_STACKS_H
#define PERFUTIL_STACKS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Our addition. The kernel can copy the registers and the top of the stack of a thread at each of
 * its ticks and dispatches. An application that can unwind stacks of
 * code without frame pointers gets these copies, and the changes of processes that it needs for
 * them; the trace gets the frames that it finds. The copies are dropped then.
 */

/* The registers of x86-64, by their DWARF numbers: rax, rdx, rcx, rbx, rsi, rdi, rbp, rsp, r8 to
 * r15 and the instruction pointer.
 */
#define PI_STACK_REGISTERS 17

struct pi_stack_copy {
  uint64_t time; /* of the trace's clock */
  uint32_t pid;
  uint32_t tid;
  uint64_t registers[PI_STACK_REGISTERS];
  const void* bytes; /* from the stack pointer on; valid during the call */
  size_t length;     /* bytes */
  uint64_t id;       /* of no other copy of this trace */
  /* Of the stack that a signal handler on a stack of its own has interrupted, as it was then. NULL:
   * the source has not copied it.
   */
  const void* interrupted;
  size_t interrupted_length; /* bytes */
  uint64_t interrupted_at;   /* the address of the first one */
};

/* Instead of an address, a frame can be named by the application: that of an interpreter by what it
 * interprets. Numbers count from 1 in each trace; frame_name() has their names. PI_FRAME_OWN can only
 * be the first one: it names the place where the thread itself is, in place of its address.
 */
#define PI_FRAME_NAMED(number) (0x4000000000000080ull | (uint64_t)(number) << 8)
#define PI_FRAME_OWN(number) (0x4100000000000080ull | (uint64_t)(number) << 8)

#define PI_STACK_UNKNOWN 0 /* the caller of the last frame is not known */
#define PI_STACK_WHOLE 1   /* the last frame has no caller */
#define PI_STACK_CUT 2     /* the copy, or the space for frames, is too small */

struct pi_stack_frames {
  uint32_t frames;   /* return addresses that were written, from the innermost */
  uint32_t by_table; /* of these, the innermost ones, which are no guesses */
  int end;           /* PI_STACK_* */
};

#define PI_PROCESS_MAPPED 1   /* executable memory */
#define PI_PROCESS_FORKED 2   /* it has the memory of parent */
#define PI_PROCESS_EXECUTED 3 /* it has no memory of before */
#define PI_PROCESS_ENDED 4

struct pi_process_change {
  int kind; /* PI_PROCESS_* */
  uint32_t pid;
  uint64_t time; /* of the trace's clock */
  uint32_t parent;
  uint64_t address;
  uint64_t bytes;
  uint64_t offset;  /* in the file */
  uint64_t inode;   /* of the file; 0: none, or not known */
  const char* path; /* as in /proc/PID/maps; valid during the call */
  uint32_t device_major, device_minor; /* of the file system; 0 and 0: not known */
};

/* Called by threads of the library, one call at a time, between TraceOn() and the end of
 * TraceOff(); they must not call this library.
 */
struct pi_stack_resolver {
  size_t size;   /* set to sizeof(struct pi_stack_resolver) by the caller */
  void* context; /* for the functions below */
  /* The trace is turned on: nothing is known of any process. */
  void (*begin)(void* context);
  /* As soon as the change is known, which may be before ticks with an earlier time. */
  void (*change)(void* context, const struct pi_process_change* change);
  /* Copies come in the order of their times. Fills frames, and returns 1; or 0: ask again
   * later. Unless last is 0, it is not asked again. With drop, later copies come meanwhile;
   * without, they wait, too.
   */
  int (*resolve)(void* context, const struct pi_stack_copy* copy, int last, uint64_t* addresses,
                 uint32_t space, struct pi_stack_frames* frames);
  /* One sentence on the index-th fact that users of the trace should know, null when there are
   * no more; valid until the next call.
   */
  const char* (*note)(void* context, unsigned int index);
  /* It is not asked again for this copy, for which it has returned 0. Or null. */
  void (*drop)(void* context, uint64_t id);
  /* The name of the frames with that number, in UTF-8, null when no frame had it yet; valid until
   * the next call. Or null: no frames are named. Also called after the end of TraceOff().
   */
  const char* (*frame_name)(void* context, uint32_t number);
};

/* The bytes of each copy, unless the application knows better: with fewer, more stacks are cut. */
#define PI_STACK_BYTES_DEFAULT 32768
#define PI_STACK_BYTES_MIN 512
#define PI_STACK_BYTES_MAX 61440

/* Has user stacks resolved from the next TraceOn() on, if TraceSetStacks() asks for user stacks. The
 * driver copies only stacks of processes that this user may debug, or all with CAP_PERFMON. bytes:
 * of each copy, a multiple of 8. resolver null: they follow frame pointers, as after TraceInit(). The resolver is copied.
 * PU_ERROR_INVALID_PARAMETER (bytes, the resolver's size, a null function), PU_ERROR_NOT_SUPPORTED
 * (a module older than this library), PU_ERROR_NOT_ENOUGH_MEMORY, PU_ERROR_NOT_INITIALIZED,
 * PU_ERROR_INCORRECT_STATE while on.
 */
int PiSetStackResolver(const struct pi_stack_resolver* resolver, uint32_t bytes);

#ifdef __cplusplus
}
#endif

#endif /* PERFUTIL_STACKS_H */
