// SPDX-License-Identifier: MIT
// C entry points of PTT for the whole system: end it, also when another process began it, and
// return what was counted.
#include <unistd.h>

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "call.h"
#include "perfutil_ptt.h"
#include "ptt/ptt_device.h"

namespace pi::perfutil {
namespace {

// A struct ptt_stats with the arrays that it points to.
struct OwnedStats {
  ptt_stats stats{};
  PttDump dump;
};

Result<PttDump> dump_now() {
  const auto device = open_ptt_control();
  if (!device) return device.error();
  return ptt_dump(**device);
}

Status get_statistics(ptt_stats** out) {
  if (out == nullptr) return Error{PU_ERROR_NULL_POINTER, "The place for the statistics is null."};
  *out = nullptr;
  auto dump = dump_now();
  if (!dump) return dump.error();
  auto owned = std::make_unique<OwnedStats>();
  owned->dump = std::move(*dump);
  const pitrace_ptt_dump& head = owned->dump.head;
  ptt_stats& stats = owned->stats;
  stats.threads = head.threads;
  stats.cpus = head.cpus;
  stats.thread = owned->dump.threads.data();
  stats.cpu = owned->dump.cpus.data();
  stats.forgotten_threads = head.forgotten_threads;
  stats.forgotten_dispatches = head.forgotten_dispatches;
  stats.forgotten_interrupts = head.forgotten_interrupts;
  std::copy_n(head.forgotten, MAX_PTT_METRICS, stats.forgotten);
  stats.without_account_dispatches = head.without_account_dispatches;
  stats.without_account_interrupts = head.without_account_interrupts;
  std::copy_n(head.without_account, MAX_PTT_METRICS, stats.without_account);
  *out = &owned.release()->stats;
  return {};
}

Result<uint32_t> cycles_metric() {
  const auto info = ptt_info();
  if (!info) return info.error();
  for (uint32_t i = 0; i < info->metrics && i < MAX_PTT_METRICS; ++i)
    if (info->metric[i].kind == PITRACE_PTT_CYCLES) return i;
  return static_cast<uint32_t>(MAX_PTT_METRICS);
}

Status get_summary(ptt_summary_stats* out) {
  if (out == nullptr) return Error{PU_ERROR_NULL_POINTER, "The place for the summary is null."};
  const auto dump = dump_now();
  if (!dump) return dump.error();
  const auto cycles = cycles_metric();
  if (!cycles) return cycles.error();
  *out = {};
  for (const auto& cpu : dump->cpus) {
    out->Dispatches += cpu.dispatches;
    out->Interrupts += cpu.interrupts;
    if (*cycles < MAX_PTT_METRICS) out->ToolTime[*cycles] += cpu.tool;
    for (size_t i = 0; i < MAX_PTT_METRICS; ++i) {
      out->IntrTime[i] += cpu.interrupt[i];
      out->IdleTime[i] += cpu.idle[i];
      out->Total[i] += cpu.elapsed[i];
    }
  }
  for (size_t i = 0; i < MAX_PTT_METRICS; ++i)
    out->ThreadTime[i] = out->Total[i] - out->IntrTime[i] - out->IdleTime[i] - out->ToolTime[i];
  return {};
}

Status get_process(int pid, ptt_process_data* out) {
  if (out == nullptr) return Error{PU_ERROR_NULL_POINTER, "The place for the data is null."};
  const auto dump = dump_now();
  if (!dump) return dump.error();
  *out = {};
  bool found = false;
  for (const auto& thread : dump->threads) {
    if (static_cast<int>(thread.pid) != pid) continue;
    found = true;
    out->Dispatches += thread.dispatches;
    out->Interrupts += thread.interrupts;
    for (size_t i = 0; i < MAX_PTT_METRICS; ++i) out->Metrics[i] += thread.value[i];
  }
  if (!found)
    return Error{PU_ERROR_THREAD_NOT_FOUND,
                 fmt::format("No thread of process {} has run while PTT counted.", pid)};
  return {};
}

}  // namespace
}  // namespace pi::perfutil

using namespace pi::perfutil;
using pi::Error;
using pi::Status;

int PiPttEnd(void) {
  return call([](Trace&) -> Status {
    const auto device = open_ptt_control();
    return device ? ptt_end(**device) : device.error();
  });
}

int PiPttInterrupts(int separate) {
  return call([=](Trace&) -> Status {
    if (separate != 0 && separate != 1)
      return Error{PU_ERROR_INVALID_PARAMETER, "Interrupts are separate (1) or not (0)."};
    const auto device = open_ptt_control();
    return device ? ptt_interrupts(**device, separate == 1) : device.error();
  });
}

int PttGetStatistics(struct ptt_stats** stats) {
  return call([=](Trace&) { return get_statistics(stats); });
}

void PttFreeStats(struct ptt_stats* stats) {
  // stats is the first member of OwnedStats.
  delete reinterpret_cast<OwnedStats*>(stats);
}

int PttGetSummaryStatistics(struct ptt_summary_stats* summary) {
  return call([=](Trace&) { return get_summary(summary); });
}

int PttGetProcessData(int pid, struct ptt_process_data* data) {
  return call([=](Trace&) { return get_process(pid, data); });
}

int PttGetCurrentProcessData(struct ptt_process_data* data) {
  return PttGetProcessData(static_cast<int>(::getpid()), data);
}
