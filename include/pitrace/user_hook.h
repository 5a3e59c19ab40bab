/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR MIT */
/*
 * Validates records that programs write themselves (user hooks). The same rule is used by the module,
 * which copies the record from user memory, by the recorder, which reads it from memory shared with
 * the program, and by libperfutil, which refuses at once what they would refuse.
 */
#ifndef PITRACE_USER_HOOK_H
#define PITRACE_USER_HOOK_H

#include <pitrace/abi.h>

#ifdef __KERNEL__
#include <linux/errno.h>
#include <linux/string.h>
#include <linux/types.h>
#else
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#endif

/*
 * May a program write records of this major? Performance Inspector allowed every major. Here the
 * majors are refused that a reader needs to interpret other records, as one false record would falsify
 * those: the time (its high half, its metrics, and the form used in wrapped files), start-up
 * information, names of code and processes, ticks, which are counted, their stacks, and events of the kernel:
 * dispatches, interrupts, system calls, exceptions.
 */
static inline bool pitrace_hook_major_allowed(__u32 major)
{
	switch (major) {
	case 0x01: /* Performance Inspector's high half of the cycles */
	case PITRACE_MAJOR_EXCEPTION:
	case PITRACE_MAJOR_INTERRUPT:
	case PITRACE_MAJOR_SYSCALL:
	case PITRACE_MAJOR_TIME:
	case 0x09: /* metrics that belong to the time */
	case PITRACE_MAJOR_TPROF:
	case PITRACE_MAJOR_SYSTEM:
	case PITRACE_MAJOR_DISPATCH:
	case PITRACE_MAJOR_SWITCH:
	case PITRACE_MAJOR_MTE:
	case PITRACE_MAJOR_STACK:
	case PITRACE_MAJOR_STACK_COPY:
	case PITRACE_MAJOR_BRANCH_KERNEL:
	case PITRACE_MAJOR_BRANCH_USER:
	case PITRACE_MAJOR_CUT_KERNEL:
	case PITRACE_MAJOR_CUT_USER:
	case PITRACE_MAJOR_ITRACE_GAP:
	case PITRACE_MAJOR_ITRACE_THREAD:
	case PITRACE_MAJOR_ITRACE_START:
	case PITRACE_MAJOR_ITRACE_STOP:
	case PITRACE_MAJOR_TIME_FAKE:
		return false;
	default:
		return major >= 1 && major <= PITRACE_MAJOR_MAX;
	}
}

/*
 * Records of two minors of MTE: they contain no more about a process than its own logs, and do not
 * affect the names of other processes.
 */
static inline bool pitrace_hook_is_java(__u32 major, __u32 minor)
{
	return major == PITRACE_MAJOR_MTE &&
	       (minor == PITRACE_MTE_JITTED || minor == PITRACE_MTE_JAVA_THREAD);
}

/* May a program write records of this major and minor? */
static inline bool pitrace_hook_allowed(__u32 major, __u32 minor)
{
	return pitrace_hook_major_allowed(major) || pitrace_hook_is_java(major, minor);
}

/* Can a program write any record of this major? */
static inline bool pitrace_hook_major_possible(__u32 major)
{
	return pitrace_hook_major_allowed(major) || major == PITRACE_MAJOR_MTE;
}

static inline __u32 pitrace_hook_word(const void *record, __u32 offset)
{
	__u32 word;

	memcpy(&word, (const __u8 *)record + offset, sizeof(word));
	return word;
}

/* Do the ints and strings of a record of strings end exactly at its length? */
static inline bool pitrace_hook_strings_fit(const void *record, __u32 length)
{
	__u32 at = sizeof(struct pitrace_record), count = 0, size;

	if (length < at + 4)
		return false;
	size = pitrace_hook_word(record, at);
	if (size > PITRACE_MAX_INTS || 4 * size > length - at - 4)
		return false;
	at += 4 + 4 * size;
	while (at < length) {
		/* length is a multiple of 4, and so is at: there is one more word. */
		size = pitrace_hook_word(record, at);
		at += 4;
		if (size > PITRACE_MAX_STRING || ((size + 3) & ~3u) > length - at)
			return false;
		at += (size + 3) & ~3u;
		if (++count > PITRACE_MAX_STRINGS)
			return false;
	}
	return true;
}

/* For a complete record that pitrace_hook_is_java() accepts: does it have its minor's layout? */
static inline bool pitrace_hook_java_fits(const void *record, __u32 type, __u32 minor, __u32 length)
{
	const __u32 header = sizeof(struct pitrace_record);
	const __u32 name = header + 4 + 4 * PITRACE_JAVA_THREAD_INTS; /* its length */

	if (minor == PITRACE_MTE_JITTED)
		return type == PITRACE_TYPE_INTS && length == header + 4 * PITRACE_JITTED_INTS;
	return type == PITRACE_TYPE_STRINGS && length >= name + 4 &&
	       pitrace_hook_word(record, header) == PITRACE_JAVA_THREAD_INTS &&
	       name + 4 + ((pitrace_hook_word(record, name) + 3) & ~3u) == length;
}

/*
 * Sets the pid in a record that pitrace_check_hook() has accepted. Called where the record is stored,
 * as the program itself must not choose it.
 */
static inline void pitrace_hook_sign(void *record, __u32 pid)
{
	struct pitrace_record header;
	__u32 at = sizeof(header) + 4 * PITRACE_JITTED_PID;

	memcpy(&header, record, sizeof(header));
	if (!pitrace_hook_is_java(header.major, header.minor))
		return;
	if (header.minor == PITRACE_MTE_JAVA_THREAD)
		at = sizeof(header) + 4 + 4 * PITRACE_JAVA_THREAD_PID;
	memcpy((__u8 *)record + at, &pid, sizeof(pid));
}

/*
 * Returns 0, or -EINVAL when the length bytes are not one complete record that a program may write.
 * Reads nothing beyond them, and every byte that matters once; they must not change meanwhile.
 */
static inline int pitrace_check_hook(const void *record, __u32 length)
{
	struct pitrace_record header;
	__u32 type;

	if (length < sizeof(header) || length > PITRACE_MAX_RECORD)
		return -EINVAL;
	memcpy(&header, record, sizeof(header));
	if ((header.type_length & PITRACE_LENGTH_MASK) != length ||
	    !pitrace_hook_allowed(header.major, header.minor))
		return -EINVAL;
	type = header.type_length & PITRACE_TYPE_MASK;
	if (type == PITRACE_TYPE_INTS) {
		if (length > sizeof(header) + 4 * PITRACE_MAX_INTS)
			return -EINVAL;
	} else if (type != PITRACE_TYPE_STRINGS || !pitrace_hook_strings_fit(record, length)) {
		return -EINVAL;
	}
	if (pitrace_hook_is_java(header.major, header.minor) &&
	    !pitrace_hook_java_fits(record, type, header.minor, length))
		return -EINVAL;
	return 0;
}

#endif /* PITRACE_USER_HOOK_H */
