// SPDX-License-Identifier: GPL-2.0-only
/* The per-CPU trace and MTE buffers: pages, read-only mappings, the reader, CPU hotplug. */

#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/kref.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/nospec.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/topology.h>
#include <linux/vmalloc.h>

#include "buffers.h"
#include "compat.h"
#include "reader.h"
#include "record.h"
#include "table.h"

static_assert(PAGE_SIZE == PITRACE_HEAD_BYTES);

/*
 * The pages of one buffer: head, data, and the data's pages a second time, as they are mapped here
 * and by user space. The ring holds one reference, each mmap() call another during the call.
 */
struct area {
	struct kref references;
	struct page **pages;
	unsigned long count; /* of head and data */
	void *base; /* all of them, in kernel space */
};

static DEFINE_PER_CPU(struct area *, areas[PITRACE_BUFFERS]);
static DEFINE_MUTEX(areas_lock); /* protects the pointers against mmap() */

/* Changed under cpus_read_lock(), read by the hot-plug callback under cpus_write_lock(). */
static u64 data_bytes[PITRACE_BUFFERS]; /* 0: there are no buffers */
static u32 mode;
static u64 section_bytes;
static atomic_t cpus_failed;

static enum cpuhp_state hotplug_state;

static struct pitrace_ring *buffers_ring_of(u32 kind, unsigned int cpu)
{
	return per_cpu_ptr(&pitrace_rings[kind], cpu);
}

static struct area **buffers_area_of(u32 kind, unsigned int cpu)
{
	return per_cpu_ptr(&areas[kind], cpu);
}

static void buffers_free_pages_of(struct area *area)
{
	while (area->count)
		__free_page(area->pages[--area->count]);
	kvfree(area->pages);
}

static void buffers_release_area(struct kref *references)
{
	struct area *area = container_of(references, struct area, references);

	vunmap(area->base);
	/* Pages that user space still maps have their own references. */
	buffers_free_pages_of(area);
	kfree(area);
}

/* The page of the head, and those of the data twice. */
static unsigned long buffers_mapped_pages(unsigned long count)
{
	return 2 * count - 1;
}

static int buffers_fill_with_pages(struct area *area, unsigned long count, int node)
{
	/* Fail instead of invoking the OOM killer; the caller reports it, not the kernel log. */
	const gfp_t flags = GFP_KERNEL | __GFP_ZERO | __GFP_NORETRY | __GFP_NOWARN;

	area->pages = pitrace_table_alloc(buffers_mapped_pages(count), sizeof(*area->pages));
	if (!area->pages)
		return -ENOMEM;
	while (area->count < count) {
		struct page *page = alloc_pages_node(node, flags, 0);

		if (!page)
			return -ENOMEM;
		area->pages[area->count++] = page;
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	}
	memcpy(area->pages + count, area->pages + 1, (count - 1) * sizeof(*area->pages));
	return 0;
}

static struct area *buffers_new_area(u64 bytes, unsigned int cpu)
{
	const unsigned long count = (PITRACE_HEAD_BYTES + bytes) >> PAGE_SHIFT;
	struct area *area;
	int error;

	area = kzalloc(sizeof(*area), GFP_KERNEL);
	if (!area)
		return ERR_PTR(-ENOMEM);
	kref_init(&area->references);
	error = buffers_fill_with_pages(area, count, cpu_to_node(cpu));
	if (error)
		goto free_pages;
	error = -ENOMEM;
	area->base = vmap(area->pages, buffers_mapped_pages(count), VM_MAP, PAGE_KERNEL);
	if (!area->base)
		goto free_pages;
	return area;

free_pages:
	buffers_free_pages_of(area);
	kfree(area);
	return ERR_PTR(error);
}

/* Does a reader consume a buffer of that kind during recording? */
static bool buffers_streams(u32 kind)
{
	return mode == PITRACE_MODE_CONTINUOUS ||
	       (mode == PITRACE_MODE_WRAP && kind == PITRACE_BUFFER_MTE);
}

static void buffers_reset_ring(struct pitrace_ring *ring, u32 kind)
{
	pitrace_ring_reset(ring, buffers_streams(kind) ? section_bytes : 0,
			   mode == PITRACE_MODE_WRAP && kind == PITRACE_BUFFER_TRACE);
}

/* The CPU is offline, or the gate is closed: there are no writers while the ring is set up. */
static void buffers_attach_area(struct area *area, u32 kind, unsigned int cpu)
{
	struct pitrace_ring *ring = buffers_ring_of(kind, cpu);
	struct pitrace_buffer_head *head = area->base;

	head->data_size = data_bytes[kind];
	head->cpu = cpu;
	head->kind = kind;
	ring->data = area->base + PITRACE_HEAD_BYTES;
	ring->size = data_bytes[kind];
	ring->head = head;
	buffers_reset_ring(ring, kind);

	mutex_lock(&areas_lock);
	*buffers_area_of(kind, cpu) = area;
	mutex_unlock(&areas_lock);
}

static void buffers_detach_area(u32 kind, unsigned int cpu)
{
	struct area *area;

	memset(buffers_ring_of(kind, cpu), 0, sizeof(struct pitrace_ring));
	mutex_lock(&areas_lock);
	area = *buffers_area_of(kind, cpu);
	*buffers_area_of(kind, cpu) = NULL;
	mutex_unlock(&areas_lock);
	if (area)
		kref_put(&area->references, buffers_release_area);
}

/* Both buffers of a CPU or none. */
static int buffers_add_cpu_buffers(unsigned int cpu)
{
	struct area *area[PITRACE_BUFFERS];
	int error;
	u32 kind;

	for (kind = 0; kind < PITRACE_BUFFERS; kind++) {
		area[kind] = buffers_new_area(data_bytes[kind], cpu);
		if (IS_ERR(area[kind])) {
			error = PTR_ERR(area[kind]);
			goto release;
		}
	}
	for (kind = 0; kind < PITRACE_BUFFERS; kind++)
		buffers_attach_area(area[kind], kind, cpu);
	return 0;

release:
	while (kind--)
		kref_put(&area[kind]->references, buffers_release_area);
	return error;
}

static void buffers_remove_all(void)
{
	unsigned int cpu;
	u32 kind;

	for_each_possible_cpu(cpu) {
		for (kind = 0; kind < PITRACE_BUFFERS; kind++)
			buffers_detach_area(kind, cpu);
	}
	memset(data_bytes, 0, sizeof(data_bytes));
}

/* Bytes per CPU. An eighth of the available memory is left to others, as an exhausted machine would suffer. */
static u64 buffers_largest(void)
{
	const u64 available = (u64)max(si_mem_available(), 0L) << PAGE_SHIFT;
	const u64 share = (available - available / 8) / num_online_cpus();
	const u64 heads = PITRACE_BUFFERS * PITRACE_HEAD_BYTES;

	return share > heads ? (share - heads) & PAGE_MASK : 0;
}

u64 pitrace_buffers_largest(void)
{
	u64 bytes;

	cpus_read_lock();
	bytes = buffers_largest();
	cpus_read_unlock();
	return bytes;
}

int pitrace_buffers_alloc(const u64 bytes[PITRACE_BUFFERS], u32 wanted_mode, u64 section)
{
	unsigned int cpu;
	int error = -ENOMEM;

	cpus_read_lock();
	if (bytes[PITRACE_BUFFER_TRACE] + bytes[PITRACE_BUFFER_MTE] > buffers_largest())
		goto unlock;
	memcpy(data_bytes, bytes, sizeof(data_bytes));
	mode = wanted_mode;
	section_bytes = section;
	atomic_set(&cpus_failed, 0);
	for_each_online_cpu(cpu) {
		error = buffers_add_cpu_buffers(cpu);
		if (error) {
			buffers_remove_all();
			break;
		}
	}
unlock:
	cpus_read_unlock();
	return error;
}

void pitrace_buffers_free(void)
{
	cpus_read_lock();
	buffers_remove_all();
	cpus_read_unlock();
}

void pitrace_buffers_reset(u32 kind)
{
	unsigned int cpu;

	cpus_read_lock();
	/* Excludes pitrace_buffers_consumed(), which must not advance a ring that is being reset. */
	mutex_lock(&areas_lock);
	for_each_possible_cpu(cpu) {
		struct pitrace_ring *ring = buffers_ring_of(kind, cpu);

		if (ring->head)
			buffers_reset_ring(ring, kind);
	}
	mutex_unlock(&areas_lock);
	cpus_read_unlock();
}

/* ---- the reader of streaming buffers ---- */

static bool buffers_holds_a_section(u32 kind, unsigned int cpu)
{
	const struct area *area = *buffers_area_of(kind, cpu);
	const struct pitrace_buffer_head *head = area ? area->base : NULL;

	return head && smp_load_acquire(&head->committed) - READ_ONCE(head->consumed) >=
			       section_bytes;
}

static bool buffers_hold_a_section(void)
{
	unsigned int cpu;
	bool found = false;
	u32 kind;

	mutex_lock(&areas_lock);
	for (kind = 0; kind < PITRACE_BUFFERS && !found; kind++) {
		if (!section_bytes || !buffers_streams(kind))
			continue;
		for_each_possible_cpu(cpu) {
			found = buffers_holds_a_section(kind, cpu);
			if (found)
				break;
		}
	}
	mutex_unlock(&areas_lock);
	return found;
}

__poll_t pitrace_buffers_poll(struct file *file, poll_table *table)
{
	pitrace_reader_poll_wait(file, table);
	return buffers_hold_a_section() ? EPOLLIN | EPOLLRDNORM : 0;
}

int pitrace_buffers_consumed(const struct pitrace_consumed *consumed)
{
	struct area *area;
	u32 kind = consumed->kind;
	u32 cpu = consumed->cpu;
	int error = 0;

	if (kind >= PITRACE_BUFFERS || cpu >= nr_cpu_ids)
		return -EINVAL;
	kind = array_index_nospec(kind, PITRACE_BUFFERS);
	cpu = array_index_nospec(cpu, nr_cpu_ids);
	if (!cpu_possible(cpu))
		return -ENXIO;
	mutex_lock(&areas_lock);
	area = *buffers_area_of(kind, cpu);
	if (!area)
		error = -ENXIO;
	else if (!buffers_streams(kind) ||
		 !pitrace_ring_consume(area->base, consumed->position, section_bytes))
		error = -EINVAL;
	mutex_unlock(&areas_lock);
	return error;
}

u32 pitrace_buffers_cpus_failed(void)
{
	return (u32)atomic_read(&cpus_failed);
}

/*
 * A CPU is about to come online; nothing runs on it yet. If it was online before, it still has its
 * buffers, with their records. A CPU must come online even if its buffers cannot be allocated.
 */
static int buffers_prepare_cpu(unsigned int cpu)
{
	if (!data_bytes[PITRACE_BUFFER_TRACE] || buffers_ring_of(PITRACE_BUFFER_TRACE, cpu)->head)
		return 0;
	if (buffers_add_cpu_buffers(cpu))
		atomic_inc(&cpus_failed);
	return 0;
}

static struct area *buffers_get_area(u64 offset)
{
	u32 kind = (u32)(offset >> 48) - 1;
	u32 cpu = (u32)(offset >> 32) & 0xffff;
	struct area *area;

	if (kind >= PITRACE_BUFFERS || cpu >= nr_cpu_ids || (u32)offset)
		return NULL;
	kind = array_index_nospec(kind, PITRACE_BUFFERS);
	cpu = array_index_nospec(cpu, nr_cpu_ids);
	if (!cpu_possible(cpu))
		return NULL;
	mutex_lock(&areas_lock);
	area = *buffers_area_of(kind, cpu);
	if (area)
		kref_get(&area->references);
	mutex_unlock(&areas_lock);
	return area;
}

int pitrace_buffers_mmap(struct vm_area_struct *vma)
{
	struct area *area;
	int error = pitrace_map_read_only(vma);

	if (error)
		return error;
	area = buffers_get_area((u64)vma->vm_pgoff << PAGE_SHIFT);
	if (!area)
		return -ENXIO;
	/*
	 * -ENXIO when the mapping is longer than the buffer. Takes a reference on every page, so
	 * the mapping outlives the area; the module stays because the mapping holds the file.
	 */
	error = vm_map_pages_zero(vma, area->pages, buffers_mapped_pages(area->count));
	kref_put(&area->references, buffers_release_area);
	return error;
}

int pitrace_buffers_init(void)
{
	const int state = cpuhp_setup_state_nocalls(CPUHP_BP_PREPARE_DYN, "pitrace:buffers",
						    buffers_prepare_cpu, NULL);

	if (state < 0)
		return state;
	hotplug_state = state;
	return 0;
}

void pitrace_buffers_exit(void)
{
	cpuhp_remove_state_nocalls(hotplug_state);
}
