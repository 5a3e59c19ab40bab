// SPDX-License-Identifier: GPL-2.0-only
/* The device node: permission to open it, and its file operations. */

#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/security.h>
#include <linux/uidgid.h>
#include <linux/user_namespace.h>

#include "core/buffers.h"
#include "core/owner.h"
#include "device.h"
#include "ptt/ptt_calls.h"
#include "sources/sources.h"

static int dev_open(struct inode *inode, struct file *file)
{
	int error;

	if (!pitrace_may_trace())
		return -EACCES;
	/* A kernel locked down for confidentiality permits no access to data that perf would provide. */
	error = security_locked_down(LOCKDOWN_PERF);
	if (error)
		return error;
	file->private_data = NULL; /* pitrace_ai_on() uses it */
	return nonseekable_open(inode, file);
}

/* Mappings of the buffers hold the file, so this runs after the last close() and munmap(). */
static int dev_release(struct inode *inode, struct file *file)
{
	pitrace_session_release(file);
	pitrace_ai_release(file);
	pitrace_ptt_release(file);
	return 0;
}

/*
 * Runs under mmap_lock. The session's snapshots take the mmap_lock of other processes while they hold
 * the session lock, so this must not take the session lock. Ownership ends only with this file, or by
 * its own PITRACE_IOC_TERMINATE, against which the buffers have their own lock.
 */
static int dev_mmap(struct file *file, struct vm_area_struct *vma)
{
	/* For every open file, with or without a trace. */
	if (vma->vm_pgoff == PITRACE_MMAP_HOOK_PAGE >> PAGE_SHIFT)
		return pitrace_user_hook_mmap(vma);
	if (!pitrace_session_owned_by(file))
		return -EPERM;
	return pitrace_buffers_mmap(vma);
}

static __poll_t dev_poll(struct file *file, poll_table *table)
{
	if (!pitrace_session_owned_by(file))
		return EPOLLERR;
	pitrace_owner_reads(task_tgid_nr(current));
	return pitrace_buffers_poll(file, table);
}

static const struct file_operations device_operations = {
	.owner = THIS_MODULE,
	.open = dev_open,
	.release = dev_release,
	.mmap = dev_mmap,
	.poll = dev_poll,
	.unlocked_ioctl = pitrace_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = PITRACE_DEVICE_NAME,
	.fops = &device_operations,
	.mode = 0666, /* pitrace_may_trace() decides */
};

int pitrace_dev_init(void)
{
	return misc_register(&device);
}

void pitrace_dev_exit(void)
{
	misc_deregister(&device);
}
