// SPDX-License-Identifier: MIT
// The kernel's probes in the allocators of a process: uprobes, each with a BPF program that copies
// the registers and the stack into one ring, in the order of the calls.
#include "probes.h"

#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>

#include <fmt/format.h>
#include <pi/files.h>

#include "exec_probe.h"
#include "kernel_bpf.h"

namespace heapwatch {
namespace {

constexpr size_t ring_bytes = 64 << 20;
constexpr uint32_t max_threads = 1 << 16;  // that are in posix_memalign() at once

// Which PMU the kernel's uprobes are, and which bit of its config asks for returns.
struct UprobePmu {
  uint32_t type;
  unsigned return_bit;
};
std::optional<UprobePmu> uprobe_pmu() {
  const std::string directory = "/sys/bus/event_source/devices/uprobe/";
  const auto type = pi::read_system_file(directory + "type", 64);
  const auto format = pi::read_system_file(directory + "format/retprobe", 64);
  UprobePmu pmu{};
  constexpr std::string_view before = "config:";
  if (!type || !format || !format->starts_with(before)) return std::nullopt;
  const auto number = [](std::string_view text, auto& value) {
    return std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc();
  };
  if (!number(*type, pmu.type) ||
      !number(std::string_view(*format).substr(before.size()), pmu.return_bit) ||
      pmu.return_bit > 63)
    return std::nullopt;
  return pmu;
}

// posix_memalign() writes the block's address to where its first argument points.
void keep_pointer(BpfProgram& program, int pointers) {
  program.load(first, context, place_of(rdi));
  program.store(frame, value_place, first);
  put_key(program);
  program.copy(third, frame);
  program.plus(third, value_place);
  program.map(first, pointers);
  program.set(fourth, BPF_ANY);
  program.call(BPF_FUNC_map_update_elem);
}

void read_pointer(BpfProgram& program, int pointers) {
  program.set(first, 0);
  program.store(record, offsetof(Call, value), first);
  program.load(first, context, place_of(rax));
  const auto has_failed = program.jump_unless_equal(first, 0);
  put_key(program);
  program.map(first, pointers);
  program.call(BPF_FUNC_map_lookup_elem);
  const auto unknown = program.jump_if_equal(result, 0);
  program.load(third, result, 0);
  program.copy(first, record);
  program.plus(first, offsetof(Call, value));
  program.set(second, sizeof(uint64_t));
  program.call(BPF_FUNC_probe_read_user);
  program.here(unknown);
  program.here(has_failed);
}

bool allocates(const Probe& probe) {
  return probe.is_return && probe.function != Function::dlclose;
}

}  // namespace

pi::Result<pi::UniqueFd> Probes::load(const Probe& probe, uint32_t number) const {
  BpfProgram program;
  program.copy(context, first);
  end_unless_on(program, control_map_.get());
  const bool by_pointer = probe.function == Function::posix_memalign;
  if (by_pointer && !probe.is_return) keep_pointer(program, pointers_.get());
  begin_record(program, ring_.get(), allocates(probe) ? max_pages : 0);
  fill_record(program, number);
  program.load(first, context, place_of(rax));
  program.store(record, offsetof(Call, value), first);
  if (by_pointer && probe.is_return) read_pointer(program, pointers_.get());
  if (allocates(probe)) copy_stack(program);
  submit(program, ring_.get());
  exit_program(program);
  return load_program(program, BPF_PROG_TYPE_KPROBE);
}

pi::Status Probes::create_maps() {
  ring_ = create_map(BPF_MAP_TYPE_RINGBUF, 0, 0, ring_bytes, 0);
  if (!ring_) return failed("No ring for the process's calls", errno);
  control_map_ =
      create_map(BPF_MAP_TYPE_ARRAY, sizeof(uint32_t), sizeof(Control), 1, BPF_F_MMAPABLE);
  pointers_ = create_map(BPF_MAP_TYPE_LRU_HASH, sizeof(uint64_t), sizeof(uint64_t), max_threads, 0);
  if (!control_map_ || !pointers_) return failed("No memory for the probes", errno);
  control_memory_ = pi::UniqueMapping(
      ::mmap(nullptr, page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, control_map_.get(), 0),
      page_bytes);
  if (!control_memory_) return failed("No memory for the probes", errno);
  return map_ring();
}

// The kernel maps the ring's data twice, one behind the other: no record is divided.
pi::Status Probes::map_ring() {
  consumer_ = pi::UniqueMapping(
      ::mmap(nullptr, page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring_.get(), 0), page_bytes);
  constexpr size_t bytes = page_bytes + 2 * ring_bytes;
  producer_ = pi::UniqueMapping(
      ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, ring_.get(), page_bytes), bytes);
  if (!consumer_ || !producer_)
    return failed("The ring for the process's calls cannot be mapped", errno);
  return {};
}

pi::Status Probes::add(int pid, const Allocators& allocators, const Place& place, bool is_return) {
  const auto pmu = uprobe_pmu();
  if (!pmu) return pi::Error{1, "This kernel has no uprobes for perf events."};
  const Probe probe{place.function, is_return};
  auto program = load(probe, static_cast<uint32_t>(probes_.size()));
  if (!program) return program.error();
  const std::string path = pi::path_of(allocators.files[place.file].fd.get());
  perf_event_attr attr{};
  attr.size = sizeof attr;
  attr.type = pmu->type;
  attr.config = is_return ? uint64_t{1} << pmu->return_bit : 0;
  attr.uprobe_path = reinterpret_cast<uint64_t>(path.c_str());
  attr.probe_offset = place.offset;
  attr.remove_on_exec = 1;
  pi::UniqueFd event(
      static_cast<int>(::syscall(SYS_perf_event_open, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC)));
  if (!event && errno == ESRCH)
    return pi::Error{1, fmt::format("Process {} has ended, or its first thread has.", pid)};
  if (!event)
    return failed(fmt::format("No probe in {}", allocators.files[place.file].path).c_str(), errno);
  if (::ioctl(event.get(), PERF_EVENT_IOC_SET_BPF, program->get()) != 0)
    return failed("The kernel does not take the program for a probe", errno);
  events_.push_back(std::move(event));
  probes_.push_back(probe);
  return events_.size() == 1 ? watch_end() : pi::Status();
}

// The kernel reports the end of an event only if it has a buffer.
pi::Status Probes::watch_end() {
  constexpr size_t bytes = 2 * page_bytes;
  buffer_ = pi::UniqueMapping(
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, events_.front().get(), 0), bytes);
  if (!buffer_) return failed("No memory for the probes", errno);
  return {};
}

pi::Result<Probes> Probes::open(int pid, const Allocators& allocators, bool heap) {
  Probes probes;
  if (const auto created = probes.create_maps(); !created) return created.error();
  for (const bool is_return : {false, true})
    for (const Place& place : allocators.places) {
      const bool needed =
          is_return ? place.function != Function::free : place.function != Function::dlclose;
      if (!needed || (!heap && place.function != Function::dlclose)) continue;
      if (const auto added = probes.add(pid, allocators, place, is_return); !added)
        return added.error();
    }
  return probes;
}

pi::Status Probes::add_waits(int pid) {
  auto waits =
      FutexProbe::open(pid, ring_.get(), control_map_.get(), static_cast<uint32_t>(probes_.size()));
  if (!waits) return waits.error();
  probes_.push_back({Function::futex, true});
  waits_ = std::move(*waits);
  return {};
}

pi::Status Probes::end_at_exec(int pid) {
  auto probe = open_exec_probe(pid, control_map_.get());
  if (!probe) return probe.error();
  at_exec_ = std::move(*probe);
  return {};
}

bool Probes::are_gone() const {
  if (events_.empty()) return false;
  pollfd event{events_.front().get(), 0, 0};
  return ::poll(&event, 1, 0) > 0 && (event.revents & (POLLHUP | POLLERR)) != 0;
}

size_t Probes::drain(const std::function<void(const Call&, std::span<const std::byte>)>& take) {
  auto& read = *reinterpret_cast<uint64_t*>(consumer_.data());
  const auto& written = *reinterpret_cast<const uint64_t*>(producer_.data());
  const std::byte* data = producer_.data() + page_bytes;
  uint64_t at = read;
  size_t count = 0;
  while (at < __atomic_load_n(&written, __ATOMIC_ACQUIRE)) {
    const std::byte* header = data + at % ring_bytes;
    const auto length =
        __atomic_load_n(reinterpret_cast<const uint32_t*>(header), __ATOMIC_ACQUIRE);
    if ((length & BPF_RINGBUF_BUSY_BIT) != 0) break;
    const size_t bytes = length & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);
    const auto& call = *reinterpret_cast<const Call*>(header + BPF_RINGBUF_HDR_SZ);
    const auto* stack = reinterpret_cast<const std::byte*>(&call + 1);
    take(call, {stack, call.pages * page_bytes});
    ++count;
    at += (bytes + BPF_RINGBUF_HDR_SZ + 7) / 8 * 8;
    __atomic_store_n(&read, at, __ATOMIC_RELEASE);
  }
  return count;
}

}  // namespace heapwatch
