/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR MIT */
/*
 * The only encoders of trace records: values in, record bytes out. Used by the module, by
 * libperfutil's perf collector and by tests; the matching decoder is include/pi/decode.h.
 *
 * Every function fills pitrace_size_*() bytes that the caller has reserved; none of them
 * allocates, fails or reads anything but its arguments. time_lo is the low half of the
 * record's time.
 */
#ifndef PITRACE_ENCODE_H
#define PITRACE_ENCODE_H

#include <pitrace/abi.h>

#ifdef __KERNEL__
#include <linux/string.h>
#else
#include <string.h>
#endif

struct pitrace_module {
	__u32 pid;
	__u32 stamp; /* 0 or PITRACE_STAMP_* */
	__u64 address;
	__u64 size;
	__u64 offset; /* into the file, bytes */
	__u64 inode;
};

static inline __u32 pitrace_size_ints(__u32 ints)
{
	return (__u32)sizeof(struct pitrace_record) + 4 * ints;
}

/* ints and one string of length bytes */
static inline __u32 pitrace_size_string(__u32 ints, __u32 length)
{
	return (__u32)sizeof(struct pitrace_record) + 4 + 4 * ints + 4 + ((length + 3) & ~3u);
}

static inline __u32 *pitrace_put_header(void *space, __u32 type, __u32 size, __u32 major,
					__u32 minor, __u32 time_lo)
{
	struct pitrace_record *record = (struct pitrace_record *)space;

	record->type_length = (__u16)(size | type);
	record->major = (__u16)major;
	record->minor = minor;
	record->time_lo = time_lo;
	return (__u32 *)(record + 1);
}

static inline void pitrace_put_string(__u32 *data, const char *string, __u32 length)
{
	*data++ = length;
	if (length & 3)
		data[length / 4] = 0;
	if (length)
		memcpy(data, string, length);
}

static inline void pitrace_encode_time(void *space, __u64 time)
{
	*pitrace_put_header(space, PITRACE_TYPE_INTS, pitrace_size_ints(1), PITRACE_MAJOR_TIME,
			    PITRACE_TIME_HIGH, (__u32)time) = (__u32)(time >> 32);
}

#define PITRACE_TIME_SIZE 16

/* For a copy of a ring whose beginning has been overwritten. */
static inline void pitrace_encode_fake_time(void *space, __u64 time)
{
	*pitrace_put_header(space, PITRACE_TYPE_INTS, PITRACE_TIME_SIZE, PITRACE_MAJOR_TIME_FAKE,
			    PITRACE_TIME_HIGH, (__u32)time) = (__u32)(time >> 32);
}

#define PITRACE_LOST_SIZE 20

static inline void pitrace_encode_lost(void *space, __u32 time_lo, __u64 records)
{
	__u32 *data = pitrace_put_header(space, PITRACE_TYPE_INTS, PITRACE_LOST_SIZE,
					 PITRACE_MAJOR_SYSTEM, PITRACE_SYSTEM_LOST, time_lo);

	data[0] = (__u32)(records >> 32);
	data[1] = (__u32)records;
}

#define PITRACE_TPROF_SIZE 28

/* extra: ints of a stack, which the caller writes to the returned address. */
static inline __u32 *pitrace_encode_tprof(void *space, __u32 time_lo, int user, __u32 pid,
					  __u32 tid, __u64 address, __u32 extra)
{
	__u32 *data = pitrace_put_header(space, PITRACE_TYPE_INTS, PITRACE_TPROF_SIZE + 4 * extra,
					 PITRACE_MAJOR_TPROF,
					 user ? PITRACE_TPROF_USER : PITRACE_TPROF_KERNEL, time_lo);

	data[0] = pid;
	data[1] = tid;
	data[2] = (__u32)(address >> 32);
	data[3] = (__u32)address;
	return data + 4;
}

/* The stack at the end of a record: kernel frames first. */
static inline __u32 pitrace_stack_ints(__u32 flags, __u32 kernel_frames, __u32 user_frames)
{
	return 1 + 2 * (kernel_frames + user_frames) + (flags & PITRACE_STACK_USER_ID ? 1 : 0);
}

/* Numbers of two ints, high half first; returns where the next int is written. */
static inline __u32 *pitrace_put_longs(__u32 *data, const __u64 *numbers, __u32 count)
{
	__u32 i;

	for (i = 0; i < count; i++) {
		*data++ = (__u32)(numbers[i] >> 32);
		*data++ = (__u32)numbers[i];
	}
	return data;
}

/* flags: PITRACE_STACK_*_BROKEN and _CUT, _USER_ID if there is an id, and frames found by tables << 24 */
static inline void pitrace_put_stack(__u32 *data, __u32 flags, const __u64 *kernel,
				     __u32 kernel_frames, const __u64 *user, __u32 user_frames,
				     __u32 id)
{
	*data++ = flags | user_frames << 8 | kernel_frames;
	data = pitrace_put_longs(data, kernel, kernel_frames);
	data = pitrace_put_longs(data, user, user_frames);
	if (flags & PITRACE_STACK_USER_ID)
		*data = id;
}

#define PITRACE_STACK_LONG_INTS 3 /* before the frames that are not counted */

/* As pitrace_stack_ints() and pitrace_put_stack(), for more than PITRACE_STACK_COUNTED_FRAMES of the
 * user. table_frames: the innermost ones, which unwind tables have found.
 */
static inline __u32 pitrace_long_stack_ints(__u32 kernel_frames, __u32 user_frames)
{
	return pitrace_stack_ints(0, kernel_frames, user_frames) + PITRACE_STACK_LONG_INTS;
}

static inline void pitrace_put_long_stack(__u32 *data, __u32 flags, const __u64 *kernel,
					  __u32 kernel_frames, const __u64 *user, __u32 user_frames,
					  __u32 table_frames)
{
	const __u32 counted = PITRACE_STACK_COUNTED_FRAMES;
	const __u32 first = (flags & ~PITRACE_STACK_USER_FLAGS) |
			    (flags & PITRACE_STACK_USER_TABLES) | PITRACE_STACK_USER_CUT |
			    PITRACE_STACK_USER_LONG |
			    (table_frames < counted ? table_frames : counted) << 24;

	pitrace_put_stack(data, first, kernel, kernel_frames, user, counted, 0);
	data += pitrace_stack_ints(first, kernel_frames, counted);
	*data++ = flags & PITRACE_STACK_USER_FLAGS;
	*data++ = user_frames;
	*data++ = table_frames;
	pitrace_put_longs(data, user + counted, user_frames - counted);
}

#define PITRACE_STACK_INTS 2 /* before the frames */

static inline __u32 pitrace_size_stack(__u32 frames)
{
	return pitrace_size_ints(PITRACE_STACK_INTS + 2 * frames);
}

/* The user's frames of the stack with that id; table_frames: the innermost of them. */
static inline void pitrace_encode_stack(void *space, __u32 time_lo, __u32 id, __u32 flags,
					const __u64 *frames, __u32 count, __u32 table_frames)
{
	__u32 *data = pitrace_put_header(space, PITRACE_TYPE_INTS, pitrace_size_stack(count),
					 PITRACE_MAJOR_STACK, id, time_lo);

	*data++ = flags;
	*data++ = table_frames;
	pitrace_put_longs(data, frames, count);
}

#define PITRACE_COPY_INTS (3 + 2 * PITRACE_STACK_REGISTERS) /* before the bytes */

/* How many bytes of a stack were copied, then of the one that a signal handler has interrupted: multiples of 4. */
struct pitrace_copied {
	__u32 bytes;
	__u32 interrupted_bytes; /* 0: there is none */
	__u64 interrupted; /* where it begins */
};

static inline __u32 pitrace_size_copy(const struct pitrace_copied *copied)
{
	const __u32 ints = PITRACE_COPY_INTS + (copied->interrupted_bytes ? 2 : 0);

	return pitrace_size_ints(ints) + copied->bytes + copied->interrupted_bytes;
}

/* stack: all bytes, without a gap */
static inline void pitrace_encode_copy(void *space, __u32 time_lo, __u32 id, __u32 pid, __u32 tid,
				       const __u64 *registers, const void *stack,
				       const struct pitrace_copied *copied)
{
	__u32 *data = pitrace_put_header(space, PITRACE_TYPE_INTS, pitrace_size_copy(copied),
					 PITRACE_MAJOR_STACK_COPY, id, time_lo);

	*data++ = pid;
	*data++ = tid;
	data = pitrace_put_longs(data, registers, PITRACE_STACK_REGISTERS);
	*data++ = copied->bytes;
	memcpy(data, stack, copied->bytes);
	if (!copied->interrupted_bytes)
		return;
	data = pitrace_put_longs(data + copied->bytes / 4, &copied->interrupted, 1);
	memcpy(data, (const char *)stack + copied->bytes, copied->interrupted_bytes);
}

#define PITRACE_DISPATCH_SIZE 20

/* pid, tid: next thread; state: of the previous thread. extra: ints of a stack, which the caller
 * writes to the returned address.
 */
static inline __u32 *pitrace_encode_dispatch(void *space, __u32 time_lo, __u32 pid, __u32 tid,
					     __u32 state, __u32 extra)
{
	__u32 *data = pitrace_put_header(space, PITRACE_TYPE_INTS,
					 PITRACE_DISPATCH_SIZE + 4 * extra,
					 PITRACE_MAJOR_DISPATCH, pid, time_lo);

	data[0] = tid;
	data[1] = state;
	return data + 2;
}

/* A record of ints only: start-up information, links, creation and end of processes. */
static inline void pitrace_encode_ints(void *space, __u32 time_lo, __u32 major, __u32 minor,
				       const __u32 *ints, __u32 count)
{
	__u32 *data = pitrace_put_header(space, PITRACE_TYPE_INTS, pitrace_size_ints(count), major,
					 minor, time_lo);

	/* memcpy() from NULL is undefined even for 0 bytes. */
	if (count)
		memcpy(data, ints, 4 * count);
}

/* A record of ints and one string: names. */
static inline void pitrace_encode_string(void *space, __u32 time_lo, __u32 major, __u32 minor,
					 const __u32 *ints, __u32 count, const char *string,
					 __u32 length)
{
	__u32 *data = pitrace_put_header(space, PITRACE_TYPE_STRINGS,
					 pitrace_size_string(count, length), major, minor, time_lo);

	*data++ = count;
	if (count)
		memcpy(data, ints, 4 * count);
	pitrace_put_string(data + count, string, length);
}

struct pitrace_string {
	const void *data;
	__u32 length; /* bytes */
};

/*
 * The size of a user hook. The counts are at most PITRACE_MAX_INTS and PITRACE_MAX_STRINGS; the sum
 * may exceed PITRACE_MAX_RECORD, but no string is so long that it overflows.
 */
static inline __u64 pitrace_size_hook(__u32 ints, const struct pitrace_string *strings,
				      __u32 string_count)
{
	__u64 size = pitrace_size_ints(ints);
	__u32 i;

	if (string_count)
		size += 4;
	for (i = 0; i < string_count; i++)
		size += 4 + (((__u64)strings[i].length + 3) & ~3ull);
	return size;
}

/* A user hook of size bytes: ints, and where there are any, strings. */
static inline void pitrace_encode_hook(void *space, __u32 size, __u32 time_lo, __u32 major,
				       __u32 minor, const __u32 *ints, __u32 int_count,
				       const struct pitrace_string *strings, __u32 string_count)
{
	__u32 *data = pitrace_put_header(space,
					 string_count ? PITRACE_TYPE_STRINGS : PITRACE_TYPE_INTS,
					 size, major, minor, time_lo);
	__u32 i;

	if (string_count)
		*data++ = int_count;
	if (int_count)
		memcpy(data, ints, 4 * int_count);
	data += int_count;
	for (i = 0; i < string_count; i++) {
		pitrace_put_string(data, (const char *)strings[i].data, strings[i].length);
		data += 1 + (strings[i].length + 3) / 4;
	}
}

static inline __u32 pitrace_size_module(__u32 length)
{
	return pitrace_size_string(PITRACE_MODULE_INTS, length);
}

static inline void pitrace_encode_module(void *space, __u32 time_lo,
					 const struct pitrace_module *module, const char *name,
					 __u32 length)
{
	__u32 ints[PITRACE_MODULE_INTS];

	ints[PITRACE_MODULE_PID] = module->pid;
	ints[PITRACE_MODULE_SIZE] = (__u32)module->size;
	ints[PITRACE_MODULE_STAMP] = module->stamp;
	ints[PITRACE_MODULE_CHECKSUM] = 0;
	ints[PITRACE_MODULE_ADDR_HI] = (__u32)(module->address >> 32);
	ints[PITRACE_MODULE_ADDR_LO] = (__u32)module->address;
	ints[PITRACE_MODULE_SIZE_HI] = (__u32)(module->size >> 32);
	ints[PITRACE_MODULE_OFFSET_HI] = (__u32)(module->offset >> 32);
	ints[PITRACE_MODULE_OFFSET_LO] = (__u32)module->offset;
	ints[PITRACE_MODULE_INODE_HI] = (__u32)(module->inode >> 32);
	ints[PITRACE_MODULE_INODE_LO] = (__u32)module->inode;
	pitrace_encode_string(space, time_lo, PITRACE_MAJOR_MTE, PITRACE_MTE_MODULE, ints,
			      PITRACE_MODULE_INTS, name, length);
}

/* ---- ITrace ---- */

/* counted: with a count at the end. */
static inline __u32 pitrace_size_branch(int counted)
{
	return pitrace_size_ints(counted ? 4 : 3);
}

static inline void pitrace_encode_branch(void *space, __u32 time_lo, int user, __u64 from, __u64 to,
					 int counted, __u32 count)
{
	__u32 *data = pitrace_put_header(space, PITRACE_TYPE_INTS, pitrace_size_branch(counted),
					 user ? PITRACE_MAJOR_BRANCH_USER :
						PITRACE_MAJOR_BRANCH_KERNEL,
					 (__u32)from, time_lo);

	data[0] = (__u32)(from >> 32);
	data[1] = (__u32)to;
	data[2] = (__u32)(to >> 32);
	if (counted)
		data[3] = count;
}

#define PITRACE_CUT_INTS 3
static inline void pitrace_put_cut(__u32 *ints, __u32 count, __u64 from)
{
	ints[0] = count;
	ints[1] = (__u32)from;
	ints[2] = (__u32)(from >> 32);
}

#define PITRACE_GAP_INTS 5
static inline void pitrace_put_gap(__u32 *ints, __u32 count, __u32 missing, __u32 nanoseconds,
				   __u64 to)
{
	ints[0] = count;
	ints[1] = missing;
	ints[2] = nanoseconds;
	ints[3] = (__u32)to;
	ints[4] = (__u32)(to >> 32);
}

#define PITRACE_ITRACE_START_INTS 7
static inline void pitrace_put_itrace_start(__u32 *ints, __u32 pid, __u32 tid, __u32 flags,
					    __u64 address)
{
	ints[0] = ints[2] = pid;
	ints[1] = ints[3] = tid;
	ints[4] = flags;
	ints[5] = (__u32)address;
	ints[6] = (__u32)(address >> 32);
}

#define PITRACE_ITRACE_STOP_INTS 6
static inline void pitrace_put_itrace_stop(__u32 *ints, __u32 cpu, __u32 branches, __u32 tid,
					   __u32 count, __u64 address)
{
	ints[0] = cpu;
	ints[1] = branches;
	ints[2] = tid;
	ints[3] = count;
	ints[4] = (__u32)address;
	ints[5] = (__u32)(address >> 32);
}

#endif /* PITRACE_ENCODE_H */
