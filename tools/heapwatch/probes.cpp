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

#include "bpf_program.h"

namespace heapwatch {
namespace {

constexpr size_t ring_bytes = 64 << 20;
constexpr int32_t wake_bytes = 4 << 20;
constexpr uint32_t max_threads = 1 << 16;  // that are in posix_memalign() at once
constexpr char license[] = "Dual MIT/GPL";

int bpf(bpf_cmd command, bpf_attr& attr) {
  return static_cast<int>(::syscall(SYS_bpf, command, &attr, sizeof attr));
}

pi::Error failed(const char* what, int error) {
  if (error == EPERM || error == EACCES)
    return {1,
            "A process that runs can only be recorded as root, on a kernel that is not locked "
            "down."};
  return {1, fmt::format("{}: {}.", what, std::strerror(error))};
}

pi::UniqueFd create_map(bpf_map_type type, uint32_t key, uint32_t value, uint32_t entries,
                        uint32_t flags) {
  bpf_attr attr{};
  attr.map_type = type;
  attr.key_size = key;
  attr.value_size = value;
  attr.max_entries = entries;
  attr.map_flags = flags;
  return pi::UniqueFd(bpf(BPF_MAP_CREATE, attr));
}

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

// ---- the programs ----

constexpr BpfProgram::Register result = 0, first = 1, second = 2, third = 3, fourth = 4,
                               context = 6, record = 7, shared = 8, kept = 9, frame = 10;

constexpr size_t place_of(UserRegister reg) {
  return reg * sizeof(uint64_t);
}

// key: the stack below the frame pointer, the thread.
constexpr ptrdiff_t key_place = -8, value_place = -16;

void put_key(BpfProgram& program) {
  program.call(BPF_FUNC_get_current_pid_tgid);
  program.store(frame, key_place, result);
  program.copy(second, frame);
  program.plus(second, key_place);
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

// The pages from that of the stack pointer on, up to the first one that cannot be read.
void copy_stack(BpfProgram& program) {
  std::vector<BpfProgram::Jump> ends;
  program.load(first, record, offsetof(Call, value));
  ends.push_back(program.jump_if_equal(first, 0));
  program.load(kept, context, place_of(rsp));
  program.mask(kept, -static_cast<int32_t>(page_bytes));
  for (size_t page = 0; page < max_pages; ++page) {
    program.copy(first, record);
    program.plus(first, static_cast<int32_t>(sizeof(Call) + page * page_bytes));
    program.set(second, page_bytes);
    program.copy(third, kept);
    program.call(BPF_FUNC_probe_read_user);
    ends.push_back(program.jump_unless_equal(result, 0));
    program.store_half(record, offsetof(Call, pages), static_cast<int32_t>(page + 1));
    program.plus(kept, page_bytes);
  }
  for (const auto end : ends) program.here(end);
}

// Wakes the reader when the ring has filled to a part; else it comes by itself.
void submit(BpfProgram& program, int ring) {
  program.map(first, ring);
  program.set(second, BPF_RB_AVAIL_DATA);
  program.call(BPF_FUNC_ringbuf_query);
  program.set(second, BPF_RB_NO_WAKEUP);
  const auto is_low = program.jump_if_less(result, wake_bytes);
  program.set(second, BPF_RB_FORCE_WAKEUP);
  program.here(is_low);
  program.copy(first, record);
  program.call(BPF_FUNC_ringbuf_submit);
}

bool allocates(const Probe& probe) {
  return probe.is_return && probe.function != Function::dlclose;
}

size_t record_bytes(const Probe& probe) {
  return sizeof(Call) + (allocates(probe) ? max_pages * page_bytes : 0);
}

}  // namespace

pi::Result<pi::UniqueFd> Probes::load(const Probe& probe, uint32_t number) const {
  BpfProgram program;
  program.copy(context, first);
  program.map_value(shared, control_map_.get());
  program.load(first, shared, offsetof(Control, on));
  const auto is_off = program.jump_if_equal(first, 0);
  const bool by_pointer = probe.function == Function::posix_memalign;
  if (by_pointer && !probe.is_return) keep_pointer(program, pointers_.get());
  program.map(first, ring_.get());
  program.set(second, static_cast<int32_t>(record_bytes(probe)));
  program.set(third, 0);
  program.call(BPF_FUNC_ringbuf_reserve);
  const auto has_space = program.jump_unless_equal(result, 0);
  program.set(first, 1);
  program.add_atomically(shared, offsetof(Control, lost), first);
  program.set(result, 0);
  program.exit();
  program.here(has_space);
  program.copy(record, result);
  program.store_half(record, offsetof(Call, probe), static_cast<int32_t>(number));
  program.store_half(record, offsetof(Call, pages), 0);
  program.call(BPF_FUNC_get_current_pid_tgid);
  program.store_half(record, offsetof(Call, thread), result);
  program.load(first, shared, offsetof(Control, lost));
  program.store(record, offsetof(Call, lost), first);
  for (size_t at = 0; at < user_registers * sizeof(uint64_t); at += sizeof(uint64_t)) {
    program.load(first, context, at);
    program.store(record, static_cast<ptrdiff_t>(offsetof(Call, registers) + at), first);
  }
  program.load(first, context, place_of(rax));
  program.store(record, offsetof(Call, value), first);
  if (by_pointer && probe.is_return) read_pointer(program, pointers_.get());
  if (allocates(probe)) copy_stack(program);
  submit(program, ring_.get());
  program.here(is_off);
  program.set(result, 0);
  program.exit();

  bpf_attr attr{};
  attr.prog_type = BPF_PROG_TYPE_KPROBE;
  attr.insns = reinterpret_cast<uint64_t>(program.code().data());
  attr.insn_cnt = static_cast<uint32_t>(program.code().size());
  attr.license = reinterpret_cast<uint64_t>(license);
  std::memcpy(attr.prog_name, "heapwatch", sizeof "heapwatch");
  pi::UniqueFd loaded(bpf(BPF_PROG_LOAD, attr));
  if (!loaded) return failed("The kernel does not take the program for a probe", errno);
  return loaded;
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

pi::Result<Probes> Probes::open(int pid, const Allocators& allocators) {
  Probes probes;
  if (const auto created = probes.create_maps(); !created) return created.error();
  for (const bool is_return : {false, true})
    for (const Place& place : allocators.places) {
      const bool needed =
          is_return ? place.function != Function::free : place.function != Function::dlclose;
      if (!needed) continue;
      if (const auto added = probes.add(pid, allocators, place, is_return); !added)
        return added.error();
    }
  return probes;
}

bool Probes::are_gone() const {
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
