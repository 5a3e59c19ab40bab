// SPDX-License-Identifier: MIT
// C entry points of PTT for the caller's own threads.
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include "call.h"
#include "perfutil_ptt.h"
#include "ptt/ptt_calibrate.h"
#include "ptt/ptt_device.h"
#include "ptt/ptt_metrics.h"
#include "ptt/ptt_source.h"
#include "struct_size.h"

namespace pi::perfutil {
namespace {

// PTT as this process has begun it. With call_mutex() held.
struct Ptt {
  PttMetrics metrics;
  std::unique_ptr<PttSource> source;
};

Ptt& global_ptt() {
  static OfProcess<Ptt> ptt;
  return ptt.get();
}

int read_nothing(uint64_t*) {
  return PU_ERROR_NOT_INITIALIZED;
}

std::atomic<pi_ptt_reader> global_reader{read_nothing};

void after_fork_in_child() {
  const NoCancel off;
  global_reader = read_nothing;
  forget_module_thread();
  forget_perf_thread();
}

Error not_begun() {
  return {PU_ERROR_NOT_INITIALIZED, "This process does not use PTT; call PttInit first."};
}

bool may_go_without_module(const Error& refusal, unsigned int flags) {
  constexpr unsigned int needs_module = PI_PTT_MODULE | PI_PTT_KEEP | PI_PTT_FORCE;
  return (flags & needs_module) == 0 &&
         (refusal.code == PU_ERROR_DRIVER_NOT_LOADED || refusal.code == PU_ERROR_ACCESS_DENIED ||
          refusal.code == PU_ERROR_NOT_SUPPORTED);
}

Result<std::unique_ptr<PttSource>> open_source(const PttMetrics& metrics,
                                               const pi_ptt_options& options) {
  auto source = open_module_ptt(metrics, options);
  if (source || !may_go_without_module(source.error(), options.flags)) return source;
  auto perf = open_perf_ptt(metrics);
  if (perf || source.error().code == PU_ERROR_DRIVER_NOT_LOADED) return perf;
  return Error{perf.error().code,
               fmt::format("{} {}", perf.error().message, source.error().message)};
}

Status begin(const Result<PttMetrics>& metrics, const pi_ptt_options& options) {
  if (!metrics) return metrics.error();
  if (global_ptt().source)
    return Error{PU_ERROR_INCORRECT_STATE,
                 "This process uses PTT already; call PttTerminate first."};
  auto source = open_source(*metrics, options);
  if (!source) return source.error();
  [[maybe_unused]] static const int registered =
      ::pthread_atfork(nullptr, nullptr, after_fork_in_child);
  global_ptt() = {*metrics, std::move(*source)};
  global_reader = global_ptt().source->reader();
  return {};
}

Status check_tid(int tid) {
  if (tid == 0 || tid == static_cast<int>(::syscall(SYS_gettid))) return {};
  return Error{PU_ERROR_INVALID_THREAD,
               fmt::format("{} is another thread: each thread begins and ends by itself.", tid)};
}

// The minimum of some calls: the cycles of one that nothing interrupts. 0: the reader fails.
unsigned int cycles_of(pi_ptt_reader reader) {
  constexpr int rounds = 32;
  uint64_t values[MAX_PTT_METRICS], least = UINT32_MAX;
  for (int i = 0; i < rounds; ++i) {
    const uint64_t begin = ReadCycles();
    if (reader(values) != PU_SUCCESS) return 0;
    least = std::min(least, ReadCycles() - begin);
  }
  return static_cast<unsigned int>(least);
}

void fill_source(pi_ptt_state& state) {
  const Ptt& ptt = global_ptt();
  state.source = ptt.source->kind();
  state.read = ptt.source->read_method();
  state.read_cycles = cycles_of(ptt.source->reader());
  state.cannot_separate = ptt.source->cannot_separate();
  state.metrics = static_cast<int>(ptt.metrics.size());
  for (size_t i = 0; i < ptt.metrics.size(); ++i) {
    const PttMetric& metric = ptt.metrics[i];
    state.metric[i] = metric.id;
    metric.name.copy(state.name[i], sizeof state.name[i] - 1);
    std::strncpy(state.unit[i], ptt.source->unit(metric), sizeof state.unit[i] - 1);
  }
}

void fill_module(pi_ptt_state& state, const pitrace_ptt_info& info) {
  state.active = static_cast<int>(info.active);
  state.ints = static_cast<int>(info.ints);
  state.keep = static_cast<int>(info.keep);
  state.owner = info.owner_pid;
  state.threads = info.threads;
  state.threads_used = info.threads_used;
  state.residue = info.residue;
  if (global_ptt().source) return;
  state.source = PI_PTT_SOURCE_MODULE;
  state.metrics = static_cast<int>(std::min<uint32_t>(info.metrics, MAX_PTT_METRICS));
  for (int i = 0; i < state.metrics; ++i) {
    state.metric[i] = static_cast<int>(info.metric[i].id);
    std::copy(std::begin(info.metric[i].name), std::end(info.metric[i].name), state.name[i]);
    state.name[i][sizeof state.name[i] - 1] = '\0';
    std::strncpy(state.unit[i], info.metric[i].kind == PITRACE_PTT_CYCLES ? "cycles" : "events",
                 sizeof state.unit[i] - 1);
  }
}

__u32 clipped(uint64_t value) {
  return static_cast<__u32>(std::min<uint64_t>(value, UINT32_MAX));
}

constexpr MeasuringTime calibration{1'000'000'000, 10'000'000'000, 20};

Error too_few(size_t count, const char* what) {
  return {PU_FAILURE, fmt::format("Only {} {} came in {} seconds: too few to calibrate.", count,
                                  what, calibration.most_ns / 1'000'000'000)};
}

Status calibrate(pitrace_ptt_residue* out) {
  const Ptt& ptt = global_ptt();
  if (!ptt.source) return not_begun();
  if (ptt.source->kind() != PI_PTT_SOURCE_MODULE || !ptt.metrics.front().is_cycles())
    return Error{PU_ERROR_NOT_SUPPORTED,
                 "Calibrating needs the pitrace module, and CYCLES as the first metric."};
  if (module_slot()->active == 0)
    return Error{PU_ERROR_NOT_INITIALIZED,
                 "PTT does not count this thread; call PttInitThread first."};
  if (const auto info = ptt_info(); info && info->ints == 0)
    return Error{PU_ERROR_INCORRECT_STATE,
                 "Interrupts are charged to the interrupted threads (noints), so their overhead "
                 "cannot be measured; 'ptt ints' changes that."};
  const ResidueMeter meter = measure_residue(*module_slot(), calibration);
  if (meter.interrupts() < calibration.enough) return too_few(meter.interrupts(), "interrupts");
  pitrace_ptt_residue residue = meter.result();
  const auto device = open_ptt_control();
  if (!device) return device.error();
  // The residual overhead of interrupts first: most context switches come with an interrupt.
  if (const auto taken = ptt_take_residue(**device, residue); !taken) return taken;
  const std::vector<uint64_t> left = measure_dispatches(*module_slot(), calibration);
  if (left.size() < calibration.enough) return too_few(left.size(), "dispatches");
  residue.dispatch_least = clipped(left.front());
  residue.dispatch_median = clipped(left[left.size() / 2]);
  residue.dispatch_most = clipped(left.back());
  if (const auto taken = ptt_take_residue(**device, residue); !taken) return taken;
  if (out != nullptr) *out = residue;
  return {};
}

pi_ptt_state current_state() {
  pi_ptt_state state{};
  state.cannot_separate = "";
  if (global_ptt().source) fill_source(state);
  if (const auto info = ptt_info()) fill_module(state, *info);
  return state;
}

}  // namespace
}  // namespace pi::perfutil

using namespace pi::perfutil;
using pi::Error;
using pi::Result;
using pi::Status;

int PttInit(int count, const int ids[], int priv) {
  return call([=](Trace&) -> Status {
    if (ids == nullptr) return Error{PU_ERROR_NULL_POINTER, "The list of metrics is null."};
    const size_t number = count < 0 ? 0 : static_cast<size_t>(count);
    return begin(ptt_metrics(std::span(ids, number), priv), {});
  });
}

int PiPttInit(int count, const char* const names[], int priv,
              const struct pi_ptt_options* options) {
  return call([=](Trace&) -> Status {
    if (names == nullptr) return Error{PU_ERROR_NULL_POINTER, "The list of metrics is null."};
    Result<pi_ptt_options> wanted_options = pi_ptt_options{};
    if (options != nullptr) wanted_options = take_struct(options, "pi_ptt_options");
    if (!wanted_options) return wanted_options.error();
    std::vector<std::string> wanted;
    for (int i = 0; i < count; ++i) {
      if (names[i] == nullptr) return Error{PU_ERROR_NULL_POINTER, "A metric's name is null."};
      wanted.emplace_back(names[i]);
    }
    return begin(ptt_metrics(wanted, priv), *wanted_options);
  });
}

int PttTerminate(void) {
  return call([](Trace&) -> Status {
    global_reader = read_nothing;
    global_ptt().source.reset();
    return {};
  });
}

int PttInitThread(int tid) {
  return call([=](Trace&) -> Status {
    if (const auto own = check_tid(tid); !own) return own;
    if (!global_ptt().source) return not_begun();
    return global_ptt().source->attach();
  });
}

int PttUnInitThread(int tid) {
  return call([=](Trace&) -> Status {
    if (const auto own = check_tid(tid); !own) return own;
    if (!global_ptt().source) return not_begun();
    global_ptt().source->detach();
    return {};
  });
}

pi_ptt_reader PttReturnGetCurrentThreadDataFunctionPtr(void) {
  return global_reader;
}

int PttGetMetricData(uint64_t* values) {
  return values == nullptr ? PU_ERROR_NULL_POINTER : global_reader.load()(values);
}

int PttGetCurrentThreadDataEx(struct ptt_thread_data_ex* data) {
  return call([=](Trace&) -> Status {
    if (data == nullptr) return Error{PU_ERROR_NULL_POINTER, "The data are null."};
    if (!global_ptt().source) return not_begun();
    *data = {};
    return global_ptt().source->read(*data);
  });
}

const struct pitrace_ptt_slot* PiPttSlot(void) {
  return module_slot();
}

int PttGetState(struct pi_ptt_state* state) {
  return call([=](Trace&) { return fill_struct(state, "pi_ptt_state", current_state); });
}

int PiPttCalibrate(struct pitrace_ptt_residue* residue) {
  return call([=](Trace&) { return calibrate(residue); });
}

int PttQueryState(void) {
  return global_reader.load() != read_nothing;
}

int PttGetMaxNumberOfMetrics(void) {
  return MAX_PTT_METRICS;
}
