// SPDX-License-Identifier: MIT
// Converts ITrace's records to the blocks that each thread executed.
#include "flow.h"

namespace post {
namespace {

bool is_user(uint64_t address) {
  return address >> 63 == 0;
}

}  // namespace

void Flow::begin_cpu(const Stream& stream) {
  while (cpus_.size() <= stream.cpu()) cpus_.emplace_back();
  Cpu& cpu = cpus_[stream.cpu()];
  cpu.known = true;
  cpu.breaks = stream.breaks();
}

FlowThread& Flow::begin_unknown_thread(uint32_t number, Cpu& cpu) {
  cpu.no_thread = {};
  cpu.no_thread.number = thread_count_++;
  cpu.no_thread.cpu = number;
  cpu.thread = &cpu.no_thread;
  sink_.thread(number, cpu.no_thread);
  return cpu.no_thread;
}

// The missing records may include a switch to another thread, which may come from any CPU.
void Flow::take_loss(const Stream& stream, Cpu& cpu) {
  cpu.breaks = stream.breaks();
  cpu.thread = nullptr;
  ++losses_;
  sink_.loss(stream.cpu());
}

FlowThread& Flow::thread_of(uint32_t tid, uint32_t pid) {
  const auto [place, added] = threads_.try_emplace(tid);
  FlowThread& thread = place->second;
  if (added) thread.number = thread_count_++;
  if (thread.pid != pid && pid != 0) {
    // Another thread has the id now, or this is the first record with the thread's process.
    if (thread.pid != 0) thread.placed = false;
    thread.pid = pid;
  }
  thread.tid = tid;
  return thread;
}

bool Flow::add_other(const pi::RecordView& record, uint32_t number, Cpu& cpu) {
  pi::ItraceCut cut;
  pi::ItraceGap gap;
  pi::ItraceThread thread;
  pi::ItraceStart start;
  pi::ItraceStop stop;
  if (pi::decode_cut(record, cut))
    take_cut(cut, number, current(number, cpu));
  else if (pi::decode_gap(record, gap))
    take_gap(gap, number, current(number, cpu));
  else if (pi::decode_itrace_thread(record, thread))
    take_thread(thread, number, cpu);
  else if (pi::decode_itrace_start(record, start))
    take_start(start, number);
  else if (pi::decode_itrace_stop(record, stop))
    take_stop(stop, number, cpu);
  else
    return false;
  return true;
}

void Flow::take_cut(const pi::ItraceCut& cut, uint32_t number, FlowThread& thread) {
  const bool placed = is_placed(thread);
  // Without a count, a block was executed if the address changed.
  if (cut.count != 0 || (placed && thread.start != cut.address))
    sink_.block({&thread, number, cut.user, placed, BlockEnd::cut, cut.count, thread.start,
                 cut.address, 0});
  sink_.cut(number, thread, cut);
  place(thread, number, cut.address);
  if (!cut.resumed) thread.placed = false;
}

void Flow::take_gap(const pi::ItraceGap& gap, uint32_t number, FlowThread& thread) {
  const bool placed = is_placed(thread);
  const bool user = is_user(placed ? thread.start : gap.to);
  if (gap.count != 0)
    sink_.block({&thread, number, user, placed, BlockEnd::gap, gap.count, thread.start, 0, 0});
  sink_.gap(number, thread, gap, user);
  place(thread, number, gap.to);
}

void Flow::take_thread(const pi::ItraceThread& entry, uint32_t number, Cpu& cpu) {
  FlowThread& thread = thread_of(entry.tid, entry.pid);
  if (cpu.thread == &thread) return;
  cpu.thread = &thread;
  sink_.thread(number, thread);
}

void Flow::take_start(const pi::ItraceStart& start, uint32_t number) {
  FlowThread& thread = thread_of(start.tid, start.pid);
  thread.placed = false;
  if (start.placed) place(thread, number, start.address);
  sink_.start(thread, start);
}

void Flow::take_stop(const pi::ItraceStop& stop, uint32_t number, Cpu& cpu) {
  FlowThread& thread = stop.tid == 0 ? current(number, cpu) : thread_of(stop.tid, 0);
  const bool placed = is_placed(thread);
  if (stop.placed && (stop.count != 0 || (placed && thread.start != stop.address)))
    sink_.block({&thread, number, is_user(placed ? thread.start : stop.address), placed,
                 BlockEnd::stop, stop.count, thread.start, stop.address, 0});
  sink_.stop(thread, stop);
  thread.placed = false;
}

}  // namespace post
