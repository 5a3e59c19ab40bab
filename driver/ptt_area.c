// SPDX-License-Identifier: GPL-2.0-only
/*
 * Slots of threads, and their device: any user may open it, for the threads of the process that does.
 *
 * Who opens the device has an area, whose pages come as threads are attached. It is mapped read-only, and
 * only by that process; a page that is not there yet is a fault like behind the end of a file. Hooks write
 * to slots under RCU, which interrupts that are off are.
 */

#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/gfp.h>
#include <linux/list.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/uidgid.h>

#include "compat.h"
#include "pitrace.h"
#include "ptt.h"

#define PAGE_SLOTS ((u32)(PAGE_SIZE / sizeof(struct pitrace_ptt_slot)))
#define AREA_PAGES ((u32)(PITRACE_PTT_AREA_BYTES / PAGE_SIZE))

/* The pages of all areas of one user, who may not trace the system. */
static unsigned int ptt_pages = 2048;
module_param(ptt_pages, uint, 0644);
MODULE_PARM_DESC(ptt_pages, "pages that PTT may use for the threads of one unprivileged user");

/* All but mm and user under the PTT lock; pages are added only. */
struct area {
	struct list_head link;
	struct mm_struct *mm; /* to compare with; its owner is the only user */
	kuid_t user;
	enum pitrace_ptt_sees sees; /* who opened it, as perf's events belong to who opened them */
	u32 pages;
	u32 hint; /* where to look for a slot that is free */
	struct page *page[AREA_PAGES]; /* read by faults at any time */
	struct pitrace_ptt_bound *bound[AREA_PAGES]; /* PAGE_SLOTS each */
};

static LIST_HEAD(areas);

/* ---- slots, under the lock ---- */

static struct pitrace_ptt_bound *bound_of(struct area *area, u32 number)
{
	return area->bound[number / PAGE_SLOTS] + number % PAGE_SLOTS;
}

static unsigned int pages_of(kuid_t user)
{
	unsigned int pages = 0;
	struct area *area;

	list_for_each_entry(area, &areas, link) {
		if (uid_eq(area->user, user))
			pages += area->pages;
	}
	return pages;
}

static int add_page(struct area *area)
{
	struct pitrace_ptt_bound *bound;
	struct pitrace_ptt_slot *slot;
	struct page *page;
	u32 i;

	if (area->pages == AREA_PAGES)
		return -ENOSPC;
	if (pages_of(area->user) >= READ_ONCE(ptt_pages) && !perfmon_capable())
		return -EDQUOT;
	bound = kcalloc(PAGE_SLOTS, sizeof(*bound), GFP_KERNEL_ACCOUNT);
	page = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	if (!bound || !page) {
		kfree(bound);
		if (page)
			__free_page(page);
		return -ENOMEM;
	}
	slot = page_address(page);
	for (i = 0; i < PAGE_SLOTS; i++)
		bound[i].slot = slot + i;
	area->bound[area->pages] = bound;
	smp_store_release(&area->page[area->pages], page);
	area->pages++;
	return 0;
}

static bool take(struct pitrace_ptt_bound *bound)
{
	if (smp_load_acquire(&bound->taken))
		return false;
	bound->taken = true;
	return true;
}

/* The number of a slot, or an error. */
static int take_slot(struct area *area)
{
	const u32 slots = area->pages * PAGE_SLOTS;
	u32 i, number;
	int error;

	for (i = 0; i < slots; i++) {
		number = (area->hint + i) % slots;
		if (take(bound_of(area, number))) {
			area->hint = number + 1;
			return (int)number;
		}
	}
	error = add_page(area);
	if (error)
		return error;
	bound_of(area, slots)->taken = true;
	area->hint = slots + 1;
	return (int)slots;
}

static int attach(struct area *area, u64 *offset)
{
	struct pitrace_ptt_bound *bound;
	int number, error;

	number = take_slot(area);
	if (number < 0)
		return number;
	bound = bound_of(area, number);
	if (bound->cred)
		put_cred(bound->cred);
	bound->cred = get_cred(current_real_cred());
	error = pitrace_ptt_bind(bound, area->sees);
	if (error) {
		bound->taken = false;
		return error;
	}
	*offset = (u64)number * sizeof(struct pitrace_ptt_slot);
	return 0;
}

/* A thread that ends meanwhile does the same: whoever comes first. */
static void let_go(struct pitrace_ptt_bound *bound)
{
	struct pitrace_ptt_account *account = bound->account;

	if (bound->taken && account)
		cmpxchg(&account->bound, bound, NULL);
	bound->account = NULL;
}

static void for_each_bound(struct area *area, void (*what)(struct pitrace_ptt_bound *))
{
	u32 number;

	for (number = 0; number < area->pages * PAGE_SLOTS; number++)
		what(bound_of(area, number));
}

static void silence(struct pitrace_ptt_bound *bound)
{
	WRITE_ONCE(bound->slot->active, 0);
}

static void forget(struct pitrace_ptt_bound *bound)
{
	bound->account = NULL;
	bound->taken = false;
}

static void forget_cred(struct pitrace_ptt_bound *bound)
{
	if (bound->cred)
		put_cred(bound->cred);
}

void pitrace_ptt_areas_silence(void)
{
	struct area *area;

	list_for_each_entry(area, &areas, link)
		for_each_bound(area, silence);
}

void pitrace_ptt_areas_forget(void)
{
	struct area *area;

	list_for_each_entry(area, &areas, link)
		for_each_bound(area, forget);
}

/* ---- the device ---- */

static int area_open(struct inode *inode, struct file *file)
{
	struct area *area;

	if (!current->mm)
		return -EPERM;
	area = kvzalloc(sizeof(*area), GFP_KERNEL_ACCOUNT);
	if (!area)
		return -ENOMEM;
	area->mm = current->mm;
	mmgrab(area->mm);
	area->user = current_euid();
	area->sees = pitrace_ptt_rights();
	file->private_data = area;
	mutex_lock(&pitrace_ptt_lock);
	list_add(&area->link, &areas);
	mutex_unlock(&pitrace_ptt_lock);
	return nonseekable_open(inode, file);
}

/* Mappings hold the file: nobody can see the pages any more, but for hooks. */
static int area_release(struct inode *inode, struct file *file)
{
	struct area *area = file->private_data;
	u32 i;

	mutex_lock(&pitrace_ptt_lock);
	for_each_bound(area, let_go);
	list_del(&area->link);
	mutex_unlock(&pitrace_ptt_lock);
	if (area->pages)
		synchronize_rcu();
	for_each_bound(area, forget_cred);
	for (i = 0; i < area->pages; i++) {
		__free_page(area->page[i]);
		kfree(area->bound[i]);
	}
	mmdrop(area->mm);
	kvfree(area);
	return 0;
}

static vm_fault_t area_fault(struct vm_fault *fault)
{
	struct area *area = fault->vma->vm_private_data;
	struct page *page;

	if (fault->pgoff >= AREA_PAGES)
		return VM_FAULT_SIGBUS;
	page = smp_load_acquire(&area->page[fault->pgoff]);
	if (!page)
		return VM_FAULT_SIGBUS;
	get_page(page);
	fault->page = page;
	return 0;
}

static const struct vm_operations_struct area_mapping = { .fault = area_fault };

/* Under mmap_lock: takes no lock of ours. */
static int area_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct area *area = file->private_data;

	if (vma->vm_mm != area->mm)
		return -EPERM;
	if (vma->vm_pgoff || vma->vm_end - vma->vm_start != PITRACE_PTT_AREA_BYTES)
		return -EINVAL;
	if (vma->vm_flags & (VM_WRITE | VM_EXEC))
		return -EACCES;
	pitrace_vm_flags_change(vma, VM_DONTEXPAND | VM_DONTCOPY | VM_DONTDUMP,
				VM_MAYWRITE | VM_MAYEXEC);
	vma->vm_private_data = area;
	vma->vm_ops = &area_mapping;
	return 0;
}

static long change_slot(struct area *area, unsigned int cmd, u64 *offset)
{
	long error;

	if (current->mm != area->mm)
		return -EPERM;
	if (mutex_lock_killable(&pitrace_ptt_lock))
		return -EINTR;
	if (!pitrace_ptt_is_active())
		error = -ENXIO;
	else
		error = cmd == PITRACE_PTT_IOC_ATTACH ? attach(area, offset) : pitrace_ptt_unbind();
	mutex_unlock(&pitrace_ptt_lock);
	return error;
}

static long answer(void __user *user, const void *what, size_t bytes)
{
	return copy_to_user(user, what, bytes) ? -EFAULT : 0;
}

static long ioctl_attach(struct area *area, void __user *user)
{
	u64 offset = 0;
	const long error = change_slot(area, PITRACE_PTT_IOC_ATTACH, &offset);

	return error ? error : answer(user, &offset, sizeof(offset));
}

static long ioctl_info(struct area *area, void __user *user)
{
	struct pitrace_ptt_info info;
	const long error = pitrace_ptt_ioctl_info(&info, false, area->sees);

	return error ? error : answer(user, &info, sizeof(info));
}

static long ioctl_read(struct area *area, void __user *user)
{
	struct pitrace_ptt_read read = {};
	const long error = pitrace_ptt_read(&read, area->sees);

	return error ? error : answer(user, &read, sizeof(read));
}

static long area_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	void __user *user = (void __user *)arg;

	switch (cmd) {
	case PITRACE_PTT_IOC_READ:
		return ioctl_read(file->private_data, user);
	case PITRACE_PTT_IOC_ATTACH:
		return ioctl_attach(file->private_data, user);
	case PITRACE_PTT_IOC_DETACH:
		return change_slot(file->private_data, cmd, NULL);
	case PITRACE_PTT_IOC_INFO:
		return ioctl_info(file->private_data, user);
	default:
		return -ENOTTY;
	}
}

static const struct file_operations area_operations = {
	.owner = THIS_MODULE,
	.open = area_open,
	.release = area_release,
	.mmap = area_mmap,
	.unlocked_ioctl = area_ioctl,
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
