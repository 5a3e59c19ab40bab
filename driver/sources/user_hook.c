// SPDX-License-Identifier: GPL-2.0-only
/* User hooks: records that programs write themselves, and the page that shows which majors are enabled. */

#include <linux/bitmap.h>
#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <pitrace/user_hook.h>

#include "core/compat.h"
#include "core/record.h"
#include "sources.h"

static_assert(PAGE_SIZE == PITRACE_HOOK_PAGE_BYTES);

/* Most records are shorter, and fit on the stack. */
#define SHORT_BYTES 256

static struct page *page;
static struct pitrace_hook_page *published; /* contents of page */

int pitrace_user_hook_init(void)
{
	page = alloc_page(GFP_KERNEL | __GFP_ZERO);
	if (!page)
		return -ENOMEM;
	published = page_address(page);
	return 0;
}

/* A mapping of the page holds the module, so there is no mapping any more. */
void pitrace_user_hook_exit(void)
{
	__free_page(page);
}

void pitrace_user_hook_publish(bool owned, u32 interval_id, const unsigned long *enabled)
{
	u32 major;

	for (major = 0; major <= PITRACE_MAJOR_MAX; major++)
		WRITE_ONCE(published->enabled[major],
			   enabled && pitrace_hook_major_possible(major) &&
				   test_bit(major, enabled));
	WRITE_ONCE(published->interval_id, interval_id);
	WRITE_ONCE(published->owner, owned);
}

int pitrace_user_hook_mmap(struct vm_area_struct *vma)
{
	const int error = pitrace_map_read_only(vma);

	/* -ENXIO when the mapping is longer than the page. */
	return error ?: vm_map_pages_zero(vma, &page, 1);
}

/* The record is complete, and no other thread can change it. */
static int user_hook_store(const struct pitrace_record *record, u32 length)
{
	struct pitrace_record *place;
	int error = 0;
	u64 time;

	preempt_disable_notrace();
	place = pitrace_begin(PITRACE_BUFFER_TRACE, length, &time);
	if (place) {
		memcpy(place, record, length);
		place->time_lo = (u32)time;
		pitrace_end(PITRACE_BUFFER_TRACE);
	} else if (pitrace_is_recording(PITRACE_BUFFER_TRACE)) {
		error = -ENOBUFS;
	}
	preempt_enable_notrace();
	return error;
}

/* Copies the rest of the record, whose header is here already, and checks it. */
static int user_hook_fetch(struct pitrace_record *record, const void __user *user, u32 length)
{
	const u32 header = sizeof(*record);
	int error;

	if (copy_from_user(record + 1, user + header, length - header))
		return -EFAULT;
	error = pitrace_check_hook(record, length);
	if (!error)
		pitrace_hook_sign(record, task_tgid_nr(current));
	return error;
}

static int user_hook_store_long(const struct pitrace_record *header, const void __user *user,
				u32 length)
{
	struct pitrace_record *record = kmalloc(length, GFP_KERNEL | __GFP_NOWARN);
	int error;

	if (!record)
		return -ENOMEM;
	*record = *header;
	error = user_hook_fetch(record, user, length);
	if (!error)
		error = user_hook_store(record, length);
	kfree(record);
	return error;
}

/*
 * User memory is read, which may fault or sleep, before space is reserved in the ring. The page is
 * checked for the major although programs should have checked it, as they may not have.
 */
int pitrace_user_hook(const void __user *user)
{
	struct {
		struct pitrace_record header;
		u8 rest[SHORT_BYTES - sizeof(struct pitrace_record)];
	} record;
	u32 length, major;
	int error;

	if (!READ_ONCE(published->owner))
		return -ENXIO;
	if (copy_from_user(&record.header, user, sizeof(record.header)))
		return -EFAULT;
	length = record.header.type_length & PITRACE_LENGTH_MASK;
	if (length > PITRACE_MAX_RECORD)
		return -EMSGSIZE;
	if (length < sizeof(record.header) ||
	    !pitrace_hook_allowed(record.header.major, record.header.minor))
		return -EINVAL;
	major = array_index_nospec(record.header.major, PITRACE_MAJOR_MAX + 1);
	if (!READ_ONCE(published->enabled[major]))
		return 0;
	if (length > sizeof(record))
		return user_hook_store_long(&record.header, user, length);
	error = user_hook_fetch(&record.header, user, length);
	return error ? error : user_hook_store(&record.header, length);
}
