// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records of executable mappings: of all mappings of an address space, and of a new one.
 *
 * The probe that sees a new mapping runs with preemption off, where a path must not be looked up:
 * d_path() may wait for a rename, and on PREEMPT_RT waiting means sleeping. So the probe only notes
 * the address, and the thread itself writes the record on its return to user mode, before it can
 * run any code there. It looks up the mapping again under the mmap_lock: the record describes the
 * mapping of that time, and records of one address space are in the order of its changes.
 */

#include <linux/bitmap.h>
#include <linux/cred.h>
#include <linux/dcache.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/task_work.h>
#include <linux/uidgid.h>
#include <linux/wait.h>

#include "core/compat.h"
#include "core/record.h"
#include "core/table.h"
#include "sources.h"

/* One new mapping whose record is not written yet. */
struct note {
	struct callback_head work;
	unsigned long address;
	kuid_t uid; /* of the thread that took it last; it need not hold it any more */
};

/*
 * Notes cannot be allocated where they are needed. A thread holds a few of them, during one mmap or
 * exec: this number serves several hundred threads at once. If none is free, a lost record is counted.
 *
 * A user can make his threads hold many of them for any time: one mprotect of many mappings takes one for each, and a
 * thread that waits for a file system or a debugger before its return to user mode keeps them. So the threads of one
 * user get at most a quarter, and the mappings of other users are recorded.
 */
#define NOTES	       4096
#define NOTES_OF_A_USER (NOTES / 4)

static struct note *notes;
static DECLARE_BITMAP(notes_taken, NOTES);
static atomic_t notes_pending;
static DECLARE_WAIT_QUEUE_HEAD(notes_done);

static bool active;
static bool with_anonymous;

/* ---- one mapping ---- */

/* Mappings of the kernel's own: "[vdso]", "[uprobes]"; NULL for ordinary anonymous memory. */
static const char *maps_special_name(struct vm_area_struct *vma)
{
	if (!vma->vm_ops || !vma->vm_ops->name)
		return NULL;
	return vma->vm_ops->name(vma);
}

static const char *maps_name_without_file(struct vm_area_struct *vma, u32 *stamp)
{
	const char *name = maps_special_name(vma);

	if (!name) {
		*stamp = PITRACE_STAMP_ANON;
		return with_anonymous ? "//anon" : NULL;
	}
	if (!strcmp(name, "[vdso]"))
		*stamp = PITRACE_STAMP_VDSO;
	return name;
}

/* Relative to current's root directory; a deleted file has " (deleted)" after its name. */
static const char *maps_name_of_file(const struct path *path, char *buffer)
{
	const char *name = d_path(path, buffer, PATH_MAX);

	if (!IS_ERR(name) && strlen(name) <= PITRACE_MAX_STRING)
		return name;
	/* A truncated name could be that of another file. */
	pitrace_write_lost(PITRACE_BUFFER_MTE, PITRACE_LOST_TOO_LONG);
	return NULL;
}

/* The mmap_lock is held. buffer: PATH_MAX bytes. */
static void maps_write_mapping(u32 pid, struct vm_area_struct *vma, char *buffer)
{
	struct pitrace_module module = {
		.pid = pid,
		.address = vma->vm_start,
		.size = vma->vm_end - vma->vm_start,
	};
	const char *name;

	if (vma->vm_file) {
		const struct path *path = pitrace_file_path(vma->vm_file);

		name = maps_name_of_file(path, buffer);
		module.offset = (u64)vma->vm_pgoff << PAGE_SHIFT;
		module.inode = d_inode(path->dentry)->i_ino;
	} else {
		name = maps_name_without_file(vma, &module.stamp);
	}
	if (name)
		pitrace_write_module(&module, name, strlen(name));
}

/* ---- unmapping ---- */

static void maps_write_unmap(u32 pid, u64 address, u64 size)
{
	const u32 ints[] = { pid, address >> 32, (u32)address, size >> 32, (u32)size };

	pitrace_write_ints(PITRACE_BUFFER_MTE, PITRACE_MAJOR_MTE, PITRACE_MTE_UNMAP, ints,
			   ARRAY_SIZE(ints));
}

/* Maximum number of mappings examined, because preemption is off; the rest of the range is one record. */
#define UNMAPPED_AT_ONCE 256

/* The whole range is unmapped, so a record that includes non-executable parts is harmless. */
void pitrace_maps_unmapping(struct mm_struct *mm, unsigned long start, unsigned long end)
{
	VMA_ITERATOR(iterator, mm, start);
	struct vm_area_struct *vma;
	unsigned int looked_at = 0;

	if (!READ_ONCE(active))
		return;
	for_each_vma_range(iterator, vma, end) {
		const unsigned long from = max(start, vma->vm_start);

		if (looked_at++ == UNMAPPED_AT_ONCE)
			return maps_write_unmap(current->tgid, from, end - from);
		if (!(vma->vm_flags & VM_EXEC))
			continue;
		if (with_anonymous || !vma_is_anonymous(vma))
			maps_write_unmap(current->tgid, from, min(end, vma->vm_end) - from);
	}
}

/* ---- all mappings of an address space ---- */

/* The mmap_lock is held. */
int pitrace_maps_describe(u32 pid, struct mm_struct *mm)
{
	VMA_ITERATOR(iterator, mm, 0);
	struct vm_area_struct *vma;
	char *buffer;

	buffer = kmalloc(PATH_MAX, GFP_KERNEL);
	if (!buffer)
		return -ENOMEM;
	for_each_vma(iterator, vma) {
		if (vma->vm_flags & VM_EXEC)
			maps_write_mapping(pid, vma, buffer);
	}
	kfree(buffer);
	return 0;
}

/* ---- new mappings ---- */

/* A note that another CPU takes or frees meanwhile may be counted or not, so each CPU may take one beyond the limit. */
static bool maps_user_has_too_many(kuid_t uid)
{
	unsigned int count = 0;
	unsigned long slot;

	/* A note is free before it is no longer pending. */
	if (atomic_read(&notes_pending) < NOTES_OF_A_USER)
		return false;
	for_each_set_bit(slot, notes_taken, NOTES) {
		if (uid_eq(READ_ONCE(notes[slot].uid), uid) && ++count == NOTES_OF_A_USER)
			return true;
	}
	return false;
}

static struct note *maps_take_note(void)
{
	const kuid_t uid = current_uid();
	unsigned long slot;

	if (maps_user_has_too_many(uid))
		return NULL;
	do {
		slot = find_first_zero_bit(notes_taken, NOTES);
		if (slot == NOTES)
			return NULL;
	} while (test_and_set_bit(slot, notes_taken));
	WRITE_ONCE(notes[slot].uid, uid);
	return &notes[slot];
}

static void maps_put_note(struct note *note)
{
	/* Release: the note has been read before another thread can take it. */
	clear_bit_unlock(note - notes, notes_taken);
}

static void maps_write_mapping_at(struct mm_struct *mm, unsigned long address)
{
	struct vm_area_struct *vma;
	char *buffer;

	buffer = kmalloc(PATH_MAX, GFP_KERNEL);
	if (!buffer) {
		pitrace_write_lost(PITRACE_BUFFER_MTE, PITRACE_LOST_SOURCE);
		return;
	}
	/* Fails only for a thread that is being killed, which will not run code there. */
	if (!mmap_read_lock_killable(mm)) {
		/* It may have been merged into a larger mapping, or unmapped. */
		vma = find_vma(mm, address);
		if (vma && vma->vm_start <= address && (vma->vm_flags & VM_EXEC))
			maps_write_mapping(current->tgid, vma, buffer);
		mmap_read_unlock(mm);
	}
	kfree(buffer);
}

/* Each note holds a reference to the module until its thread gets here, however long that takes. */
static void maps_write_note(struct callback_head *work)
{
	struct note *note = container_of(work, struct note, work);
	const unsigned long address = note->address;

	maps_put_note(note);
	/* An exiting thread has no address space any more. */
	if (READ_ONCE(active) && current->mm)
		maps_write_mapping_at(current->mm, address);

	/* pitrace_maps_drain() waits for the end of this section, pitrace_maps_exit() for ours. */
	rcu_read_lock();
	if (atomic_dec_and_test(&notes_pending))
		wake_up(&notes_done);
	module_put(THIS_MODULE);
	rcu_read_unlock();
}

void pitrace_maps_mapped(unsigned long address)
{
	struct note *note;

	/* Kernel threads that use an address space temporarily do not return to user mode. */
	if (!READ_ONCE(active) || (current->flags & PF_KTHREAD))
		return;
	note = maps_take_note();
	if (!note) {
		pitrace_write_lost(PITRACE_BUFFER_MTE, PITRACE_LOST_SOURCE);
		return;
	}
	note->address = address;
	init_task_work(&note->work, maps_write_note);
	/* The trace is on, so its owner's open file holds a reference already. */
	__module_get(THIS_MODULE);
	atomic_inc(&notes_pending);
	/* Fails only for a thread that will not return to user mode. */
	if (task_work_add(current, &note->work, TWA_RESUME)) {
		atomic_dec(&notes_pending);
		module_put(THIS_MODULE);
		maps_put_note(note);
	}
}

void pitrace_maps_start(bool anon)
{
	with_anonymous = anon;
	WRITE_ONCE(active, true);
}

void pitrace_maps_stop(void)
{
	WRITE_ONCE(active, false);
}

/*
 * Lets the module be unloaded as soon as its device is closed. Does not wait for a thread that a
 * debugger keeps stopped in mmap: its note holds the module until it continues.
 */
void pitrace_maps_drain(void)
{
	wait_event_timeout(notes_done, !atomic_read(&notes_pending), HZ);
	synchronize_rcu();
}

int pitrace_maps_init(void)
{
	notes = pitrace_table_alloc(NOTES, sizeof(*notes));
	return notes ? 0 : -ENOMEM;
}

void pitrace_maps_exit(void)
{
	/* A thread may still be in the last instructions of maps_write_note(), without a reference. */
	synchronize_rcu_tasks();
	kvfree(notes);
}
