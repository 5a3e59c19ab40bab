// SPDX-License-Identifier: GPL-2.0-only
/*
 * Slots of threads, and their device: any user may open it, for the threads of the opening process.
 *
 * Each open file has an area, whose pages are allocated as threads are attached. It can be mapped only
 * read-only, and only by that process; access to a page that is not allocated yet raises SIGBUS, as
 * beyond the end of a file. Hooks write to slots with interrupts off, which is an RCU read-side section.
 */

#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/gfp.h>
#include <linux/hashtable.h>
#include <linux/list.h>
#include <linux/llist.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/overflow.h>
#include <linux/rcupdate.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/uidgid.h>
#include <linux/xarray.h>

#include "core/compat.h"
#include "ptt.h"
#include "ptt_calls.h"

#define PAGE_SLOTS ((u32)(PAGE_SIZE / sizeof(struct pitrace_ptt_slot)))
#define AREA_PAGES ((u32)(PITRACE_PTT_AREA_BYTES / PAGE_SIZE))

/* Maximum pages, in all areas together, of one user without CAP_PERFMON. */
static unsigned int ptt_pages = 4096;
module_param(ptt_pages, uint, 0644);
MODULE_PARM_DESC(ptt_pages, "pages that PTT may use for the threads of one unprivileged user");

/* Totals of the areas of one user; under the PTT lock. */
struct owner {
	struct hlist_node link;
	kuid_t uid;
	u32 areas;
	u32 pages;
};

/* One page of slots. */
struct chunk {
	struct page *page;
	struct pitrace_ptt_bound bound[];
};

/* All but mm, owner and free under the PTT lock; chunks are added only. */
struct area {
	struct list_head link;
	struct mm_struct *mm; /* only compared: the process that may use the area */
	struct owner *owner;
	enum pitrace_ptt_sees sees; /* rights at open(), as for a perf event */
	u32 chunks;
	u32 most; /* chunks: limit by the length of its mapping */
	struct llist_head free; /* free slots; hooks add to it, the PTT lock is held to take from it */
	struct xarray chunk; /* by number; page faults read it at any time */
};

static LIST_HEAD(areas);
static DEFINE_HASHTABLE(owners, 8);

/* ---- users, under the lock ---- */

static struct owner *ptt_area_find_owner(kuid_t uid)
{
	struct owner *owner;

	hash_for_each_possible(owners, owner, link, __kuid_val(uid)) {
		if (uid_eq(owner->uid, uid))
			return owner;
	}
	return NULL;
}

/* NULL: no memory. */
static struct owner *ptt_area_get_owner(kuid_t uid)
{
	struct owner *owner = ptt_area_find_owner(uid);

	if (!owner) {
		owner = kzalloc(sizeof(*owner), GFP_KERNEL_ACCOUNT);
		if (!owner)
			return NULL;
		owner->uid = uid;
		hash_add(owners, &owner->link, __kuid_val(uid));
	}
	owner->areas++;
	return owner;
}

static void ptt_area_put_owner(struct area *area)
{
	struct owner *owner = area->owner;

	owner->pages -= area->chunks;
	if (--owner->areas)
		return;
	hash_del(&owner->link);
	kfree(owner);
}

/* ---- slots, under the lock ---- */

static void ptt_area_free_chunk(struct chunk *chunk)
{
	if (chunk->page)
		__free_page(chunk->page);
	kfree(chunk);
}

/* NULL: no memory. */
static struct chunk *ptt_area_new_chunk(struct area *area)
{
	struct pitrace_ptt_slot *slot;
	struct chunk *chunk;
	u32 i;

	chunk = kzalloc(struct_size(chunk, bound, PAGE_SLOTS), GFP_KERNEL_ACCOUNT);
	if (!chunk)
		return NULL;
	chunk->page = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	if (!chunk->page) {
		kfree(chunk);
		return NULL;
	}
	slot = page_address(chunk->page);
	for (i = 0; i < PAGE_SLOTS; i++) {
		chunk->bound[i].slot = slot + i;
		chunk->bound[i].number = area->chunks * PAGE_SLOTS + i;
		chunk->bound[i].free = &area->free;
	}
	return chunk;
}

static int ptt_area_add_chunk(struct area *area)
{
	struct chunk *chunk;
	int error;
	u32 i;

	if (area->chunks >= READ_ONCE(area->most))
		return -ENOSPC;
	if (area->owner->pages >= READ_ONCE(ptt_pages) && !perfmon_capable())
		return -EDQUOT;
	chunk = ptt_area_new_chunk(area);
	if (!chunk)
		return -ENOMEM;
	error = xa_err(xa_store(&area->chunk, area->chunks, chunk, GFP_KERNEL_ACCOUNT));
	if (error) {
		ptt_area_free_chunk(chunk);
		return error;
	}
	area->chunks++;
	area->owner->pages++;
	/* The first one is taken first. */
	for (i = PAGE_SLOTS; i--;)
		llist_add(&chunk->bound[i].link, &area->free);
	return 0;
}

/* NULL and an error: there is none. */
static struct pitrace_ptt_bound *ptt_area_take_slot(struct area *area, int *error)
{
	struct llist_node *node = llist_del_first(&area->free);

	if (!node) {
		*error = ptt_area_add_chunk(area);
		if (*error)
			return NULL;
		node = llist_del_first(&area->free);
	}
	return llist_entry(node, struct pitrace_ptt_bound, link);
}

static int ptt_area_attach(struct area *area, u64 *offset)
{
	struct pitrace_ptt_bound *bound;
	int error;

	bound = ptt_area_take_slot(area, &error);
	if (!bound)
		return error;
	if (bound->cred)
		put_cred(bound->cred);
	bound->cred = get_cred(current_real_cred());
	error = pitrace_ptt_bind(bound, area->sees);
	if (error) {
		llist_add(&bound->link, &area->free);
		return error;
	}
	*offset = (u64)bound->number * sizeof(struct pitrace_ptt_slot);
	return 0;
}

static void ptt_area_for_each_bound(struct area *area, void (*what)(struct pitrace_ptt_bound *))
{
	unsigned long number;
	struct chunk *chunk;
	u32 i;

	xa_for_each(&area->chunk, number, chunk) {
		for (i = 0; i < PAGE_SLOTS; i++)
			what(&chunk->bound[i]);
		cond_resched();
	}
}

/* A thread that ends meanwhile does the same; the first of the two unbinds it. */
static void ptt_area_unbind(struct pitrace_ptt_bound *bound)
{
	struct pitrace_ptt_account *account = bound->account;

	if (account)
		cmpxchg(&account->bound, bound, NULL);
	bound->account = NULL;
}

static void ptt_area_deactivate(struct pitrace_ptt_bound *bound)
{
	WRITE_ONCE(bound->slot->active, 0);
}

/* No hook runs, and the list was emptied before: so each slot is added to it once. */
static void ptt_area_release_slot(struct pitrace_ptt_bound *bound)
{
	bound->account = NULL;
	llist_add(&bound->link, bound->free);
}

static void ptt_area_put_cred(struct pitrace_ptt_bound *bound)
{
	if (bound->cred)
		put_cred(bound->cred);
}

void pitrace_ptt_areas_deactivate(void)
{
	struct area *area;

	list_for_each_entry(area, &areas, link)
		ptt_area_for_each_bound(area, ptt_area_deactivate);
}

void pitrace_ptt_areas_release_slots(void)
{
	struct area *area;

	list_for_each_entry(area, &areas, link) {
		init_llist_head(&area->free);
		ptt_area_for_each_bound(area, ptt_area_release_slot);
	}
}

/* ---- the device ---- */

static int ptt_area_open(struct inode *inode, struct file *file)
{
	struct area *area;

	if (!current->mm)
		return -EPERM;
	area = kzalloc(sizeof(*area), GFP_KERNEL_ACCOUNT);
	if (!area)
		return -ENOMEM;
	area->sees = pitrace_ptt_rights();
	area->most = AREA_PAGES;
	init_llist_head(&area->free);
	xa_init(&area->chunk);
	mutex_lock(&pitrace_ptt_lock);
	area->owner = ptt_area_get_owner(current_euid());
	if (area->owner)
		list_add(&area->link, &areas);
	mutex_unlock(&pitrace_ptt_lock);
	if (!area->owner) {
		kfree(area);
		return -ENOMEM;
	}
	area->mm = current->mm;
	mmgrab(area->mm);
	file->private_data = area;
	return nonseekable_open(inode, file);
}

/* Mappings hold the file, so only hooks can still access the pages. */
static int ptt_area_release(struct inode *inode, struct file *file)
{
	struct area *area = file->private_data;
	unsigned long number;
	struct chunk *chunk;

	mutex_lock(&pitrace_ptt_lock);
	ptt_area_for_each_bound(area, ptt_area_unbind);
	list_del(&area->link);
	ptt_area_put_owner(area);
	mutex_unlock(&pitrace_ptt_lock);
	if (area->chunks)
		synchronize_rcu();
	ptt_area_for_each_bound(area, ptt_area_put_cred);
	xa_for_each(&area->chunk, number, chunk)
		ptt_area_free_chunk(chunk);
	xa_destroy(&area->chunk);
	mmdrop(area->mm);
	kfree(area);
	return 0;
}

static vm_fault_t ptt_area_fault(struct vm_fault *fault)
{
	struct area *area = fault->vma->vm_private_data;
	struct chunk *chunk = xa_load(&area->chunk, fault->pgoff);

	if (!chunk)
		return VM_FAULT_SIGBUS;
	get_page(chunk->page);
	fault->page = chunk->page;
	return 0;
}

static const struct vm_operations_struct area_mapping = { .fault = ptt_area_fault };

/* Under mmap_lock: must not take a lock of the module. */
static int ptt_area_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct area *area = file->private_data;
	const unsigned long bytes = vma->vm_end - vma->vm_start;
	int error;

	if (vma->vm_mm != area->mm)
		return -EPERM;
	if (vma->vm_pgoff || bytes > PITRACE_PTT_AREA_BYTES)
		return -EINVAL;
	error = pitrace_map_read_only(vma);
	if (error)
		return error;
	/* A slot beyond the end of the mapping could not be read. */
	WRITE_ONCE(area->most, (u32)(bytes / PAGE_SIZE));
	vma->vm_private_data = area;
	vma->vm_ops = &area_mapping;
	return 0;
}

static long ptt_area_change_slot(struct area *area, unsigned int cmd, u64 *offset)
{
	long error;

	if (current->mm != area->mm)
		return -EPERM;
	if (mutex_lock_killable(&pitrace_ptt_lock))
		return -EINTR;
	if (!pitrace_ptt_instance.active)
		error = -ENXIO;
	else
		error = cmd == PITRACE_PTT_IOC_ATTACH ? ptt_area_attach(area, offset) :
							pitrace_ptt_unbind();
	mutex_unlock(&pitrace_ptt_lock);
	return error;
}

static long ptt_area_answer(void __user *user, const void *what, size_t bytes)
{
	return copy_to_user(user, what, bytes) ? -EFAULT : 0;
}

static long ptt_area_ioctl_attach(struct area *area, void __user *user)
{
	u64 offset = 0;
	const long error = ptt_area_change_slot(area, PITRACE_PTT_IOC_ATTACH, &offset);

	return error ? error : ptt_area_answer(user, &offset, sizeof(offset));
}

static long ptt_area_ioctl_info(struct area *area, void __user *user)
{
	struct pitrace_ptt_info info;
	const long error = pitrace_ptt_ioctl_info(&info, false, area->sees);

	return error ? error : ptt_area_answer(user, &info, sizeof(info));
}

static long ptt_area_ioctl_read(struct area *area, void __user *user)
{
	struct pitrace_ptt_read read = {};
	const long error = pitrace_ptt_read(&read, area->sees);

	return error ? error : ptt_area_answer(user, &read, sizeof(read));
}

static long ptt_area_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	void __user *user = (void __user *)arg;

	switch (cmd) {
	case PITRACE_PTT_IOC_READ:
		return ptt_area_ioctl_read(file->private_data, user);
	case PITRACE_PTT_IOC_ATTACH:
		return ptt_area_ioctl_attach(file->private_data, user);
	case PITRACE_PTT_IOC_DETACH:
		return ptt_area_change_slot(file->private_data, cmd, NULL);
	case PITRACE_PTT_IOC_INFO:
		return ptt_area_ioctl_info(file->private_data, user);
	default:
		return -ENOTTY;
	}
}

static const struct file_operations area_operations = {
	.owner = THIS_MODULE,
	.open = ptt_area_open,
	.release = ptt_area_release,
	.mmap = ptt_area_mmap,
	.unlocked_ioctl = ptt_area_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

static struct miscdevice area_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = PITRACE_PTT_DEVICE_NAME,
	.fops = &area_operations,
	.mode = 0666,
};

int pitrace_ptt_area_init(void)
{
	return misc_register(&area_device);
}

void pitrace_ptt_area_exit(void)
{
	misc_deregister(&area_device);
}
