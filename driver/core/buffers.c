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
 * and by user space. The ring holds one reference, each mapping of user space another.
 */
struct area {
	struct kref references;
	struct page **pages;
	unsigned long count; /* of head and data */
	unsigned long mapped; /* with the data's pages twice; the spare ones follow */
	unsigned long spare;
	void *base; /* all of them, in kernel space */
};

static DEFINE_PER_CPU(struct area *, areas[PITRACE_BUFFERS_ALL]);
static atomic_long_t pages_held; /* of all areas, also of those that only user space maps still */
static DEFINE_MUTEX(areas_lock); /* protects the pointers against mmap() */

/* Changed under cpus_read_lock(), read by the hot-plug callback under cpus_write_lock(). */
static u64 data_bytes[PITRACE_BUFFERS_ALL]; /* 0: there are no buffers */
static u64 spare_bytes; /* behind the buffers of stacks */
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
	while (area->spare)
		__free_page(area->pages[area->mapped + --area->spare]);
	while (area->count) {
		__free_page(area->pages[--area->count]);
		cond_resched();
	}
	kvfree(area->pages);
}

static void buffers_release_area(struct kref *references)
{
	struct area *area = container_of(references, struct area, references);

	vunmap(area->base);
	atomic_long_sub(area->count + area->spare, &pages_held);
	buffers_free_pages_of(area);
	kfree(area);
}

/* Adds pages from that index of the array on, counted in *count. */
static int buffers_add_pages(struct area *area, unsigned long first, unsigned long *count,
			     unsigned long wanted, int node)
{
	/* Fail instead of invoking the OOM killer; the caller reports it, not the kernel log. */
	const gfp_t flags = GFP_KERNEL | __GFP_ZERO | __GFP_NORETRY | __GFP_NOWARN;

	while (*count < wanted) {
		struct page *page = alloc_pages_node(node, flags, 0);

		if (!page)
			return -ENOMEM;
		area->pages[first + (*count)++] = page;
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	}
	return 0;
}

static int buffers_fill_with_pages(struct area *area, unsigned long count, unsigned long spare,
				   int node)
{
	int error;

	area->mapped = 2 * count - 1;
	area->pages = pitrace_table_alloc(area->mapped + spare, sizeof(*area->pages));
	if (!area->pages)
		return -ENOMEM;
	error = buffers_add_pages(area, 0, &area->count, count, node);
	if (!error)
		error = buffers_add_pages(area, area->mapped, &area->spare, spare, node);
	if (!error)
		memcpy(area->pages + count, area->pages + 1, (count - 1) * sizeof(*area->pages));
	return error;
}

static struct area *buffers_new_area(u32 kind, unsigned int cpu)
{
	const unsigned long count = (PITRACE_HEAD_BYTES + data_bytes[kind]) >> PAGE_SHIFT;
	const unsigned long spare = kind == PITRACE_BUFFER_STACKS ? spare_bytes >> PAGE_SHIFT : 0;
	struct area *area;
	int error;

	area = kzalloc(sizeof(*area), GFP_KERNEL);
	if (!area)
		return ERR_PTR(-ENOMEM);
	kref_init(&area->references);
	error = buffers_fill_with_pages(area, count, spare, cpu_to_node(cpu));
	if (error)
		goto free_pages;
	error = -ENOMEM;
	area->base = vmap(area->pages, area->mapped + spare, VM_MAP, PAGE_KERNEL);
	if (!area->base)
		goto free_pages;
	atomic_long_add(area->count + area->spare, &pages_held);
	return area;

free_pages:
	buffers_free_pages_of(area);
	kfree(area);
	return ERR_PTR(error);
}

/* Does a reader consume a buffer of that kind during recording? */
static bool buffers_streams(u32 kind)
{
	return mode == PITRACE_MODE_CONTINUOUS || kind == PITRACE_BUFFER_STACKS ||
	       (mode == PITRACE_MODE_WRAP && kind == PITRACE_BUFFER_MTE);
}

/* Bytes that wake the reader; 0: nothing does. */
static u64 buffers_section_of(u32 kind)
{
	return buffers_streams(kind) && kind != PITRACE_BUFFER_STACKS ? section_bytes : 0;
}

static void buffers_reset_ring(struct pitrace_ring *ring, u32 kind)
{
	pitrace_ring_reset(ring, buffers_section_of(kind),
			   mode == PITRACE_MODE_WRAP && kind == PITRACE_BUFFER_TRACE);
	if (kind == PITRACE_BUFFER_STACKS)
		memset(pitrace_ring_spare(ring), 0, PAGE_SIZE);
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

/* The buffers that a CPU lacks, all of them or none. */
static int buffers_add_cpu_buffers(unsigned int cpu)
{
	struct area *area[PITRACE_BUFFERS_ALL] = {};
	int error = 0;
	u32 kind;

	for (kind = 0; kind < PITRACE_BUFFERS_ALL && !error; kind++) {
		if (!data_bytes[kind] || buffers_ring_of(kind, cpu)->head)
			continue;
		area[kind] = buffers_new_area(kind, cpu);
		if (IS_ERR(area[kind])) {
			error = PTR_ERR(area[kind]);
			area[kind] = NULL;
		}
	}
	for (kind = 0; kind < PITRACE_BUFFERS_ALL; kind++) {
		if (!area[kind])
			continue;
		if (error)
			kref_put(&area[kind]->references, buffers_release_area);
		else
			buffers_attach_area(area[kind], kind, cpu);
	}
	return error;
}

static void buffers_remove_kind(u32 kind)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		buffers_detach_area(kind, cpu);
	data_bytes[kind] = 0;
}

static void buffers_remove_all(void)
{
	u32 kind;

	for (kind = 0; kind < PITRACE_BUFFERS_ALL; kind++)
		buffers_remove_kind(kind);
}

/*
 * Bytes per CPU that can be added. An eighth of the memory that is available without buffers is left to others, as an exhausted
 * machine would suffer. Buffers that were freed count as long as they are mapped: their memory is not available either.
 */
static u64 buffers_largest(void)
{
	const u64 held = (u64)atomic_long_read(&pages_held) << PAGE_SHIFT;
	const u64 available = ((u64)max(si_mem_available(), 0L) << PAGE_SHIFT) + held;
	const u64 limit = available - available / 8;
	const u64 share = limit > held ? (limit - held) / num_online_cpus() : 0;
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

/* Under cpus_read_lock(). */
static int buffers_add_to_all_cpus(void)
{
	unsigned int cpu;
	int error;

	for_each_online_cpu(cpu) {
		error = buffers_add_cpu_buffers(cpu);
		if (error)
			return error;
	}
	return 0;
}

int pitrace_buffers_alloc(const u64 bytes[PITRACE_BUFFERS], u32 wanted_mode, u64 section)
{
	int error = -ENOMEM;

	cpus_read_lock();
	if (bytes[PITRACE_BUFFER_TRACE] + bytes[PITRACE_BUFFER_MTE] > buffers_largest())
		goto unlock;
	memcpy(data_bytes, bytes, PITRACE_BUFFERS * sizeof(*bytes));
	mode = wanted_mode;
	section_bytes = section;
	atomic_set(&cpus_failed, 0);
	error = buffers_add_to_all_cpus();
	if (error)
		buffers_remove_all();
unlock:
	cpus_read_unlock();
	return error;
}

int pitrace_buffers_alloc_stacks(u64 bytes, u64 spare)
{
	int error = bytes ? -ENOMEM : 0;

	cpus_read_lock();
	buffers_remove_kind(PITRACE_BUFFER_STACKS);
	if (bytes && bytes + spare <= buffers_largest()) {
		data_bytes[PITRACE_BUFFER_STACKS] = bytes;
		spare_bytes = spare;
		error = buffers_add_to_all_cpus();
		if (error)
			buffers_remove_kind(PITRACE_BUFFER_STACKS);
	}
	cpus_read_unlock();
	return error;
}

void pitrace_buffers_free(void)
{
	cpus_read_lock();
	buffers_remove_all();
	cpus_read_unlock();
}

static void buffers_reset_kind(u32 kind)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		struct pitrace_ring *ring = buffers_ring_of(kind, cpu);

		if (ring->head)
			buffers_reset_ring(ring, kind);
	}
}

void pitrace_buffers_reset(u32 kind)
{
	cpus_read_lock();
	/* Excludes pitrace_buffers_consumed(), which must not advance a ring that is being reset. */
	mutex_lock(&areas_lock);
	buffers_reset_kind(kind);
	if (kind == PITRACE_BUFFER_TRACE)
		buffers_reset_kind(PITRACE_BUFFER_STACKS);
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
		if (!buffers_section_of(kind))
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

	if (kind >= PITRACE_BUFFERS_ALL || cpu >= nr_cpu_ids)
		return -EINVAL;
	kind = array_index_nospec(kind, PITRACE_BUFFERS_ALL);
	cpu = array_index_nospec(cpu, nr_cpu_ids);
	if (!cpu_possible(cpu))
		return -ENXIO;
	mutex_lock(&areas_lock);
	area = *buffers_area_of(kind, cpu);
	if (!area)
		error = -ENXIO;
	else if (!buffers_streams(kind) ||
		 !pitrace_ring_consume(area->base, consumed->position, buffers_section_of(kind)))
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
	if (buffers_add_cpu_buffers(cpu))
		atomic_inc(&cpus_failed);
	return 0;
}

static struct area *buffers_get_area(u64 offset)
{
	u32 kind = (u32)(offset >> 48) - 1;
	u32 cpu = (u32)(offset >> 32) & 0xffff;
	struct area *area;

	if (kind >= PITRACE_BUFFERS_ALL || cpu >= nr_cpu_ids || (u32)offset)
		return NULL;
	kind = array_index_nospec(kind, PITRACE_BUFFERS_ALL);
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

static void buffers_open_mapping(struct vm_area_struct *vma)
{
	struct area *area = vma->vm_private_data;

	kref_get(&area->references);
}

static void buffers_close_mapping(struct vm_area_struct *vma)
{
	struct area *area = vma->vm_private_data;

	kref_put(&area->references, buffers_release_area);
}

/* A mapping outlives the ring; the module stays because the mapping holds the file. */
static const struct vm_operations_struct buffers_mapping = {
	.open = buffers_open_mapping,
	.close = buffers_close_mapping,
};

int pitrace_buffers_mmap(struct vm_area_struct *vma)
{
	struct area *area;
	int error = pitrace_map_read_only(vma);

	if (error)
		return error;
	area = buffers_get_area((u64)vma->vm_pgoff << PAGE_SHIFT);
	if (!area)
		return -ENXIO;
	/* -ENXIO when the mapping is longer than the buffer. */
	error = vm_map_pages_zero(vma, area->pages, area->mapped);
	if (error) {
		kref_put(&area->references, buffers_release_area);
		return error;
	}
	vma->vm_private_data = area;
	vma->vm_ops = &buffers_mapping;
	return 0;
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
