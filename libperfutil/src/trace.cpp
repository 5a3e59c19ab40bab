// SPDX-License-Identifier: MIT
// The process's one trace: its settings, its collector, and the rules of its states.
#include "trace.h"

#include <algorithm>

#include <fmt/format.h>

#include "build_ids.h"
#include "nrm2_writer.h"
#include "source_select.h"

namespace pi::perfutil {
namespace {

Error invalid(std::string text) {
  return {PU_ERROR_INVALID_PARAMETER, std::move(text)};
}

Status check_major(int major) {
  if (major >= 0 && major <= PI_MAJORS_TPROF) return {};
  return invalid(
      fmt::format("{} is not a major: majors are 1 to 254, 0 for all, 255 for those of "
                  "tprof.",
                  major));
}

}  // namespace

Status Trace::before_init() const {
  if (!collector_) return {};
  return Error{PU_ERROR_INCORRECT_STATE,
               "The trace is initialised already; call TraceTerminate (swtrace free) first."};
}

Status Trace::initialised() const {
  if (collector_) return {};
  return Error{PU_ERROR_NOT_INITIALIZED,
               "The trace has not been initialised; call TraceInit (swtrace init) first."};
}

Status Trace::set_source(int source) {
  if (const auto good = before_init(); !good) return good;
  if (source < PI_SOURCE_AUTO || source > PI_SOURCE_PERF)
    return invalid(fmt::format("{} is not a source: 0 auto, 1 driver, 2 perf.", source));
  config_.source = source;
  return {};
}

Status Trace::set_scope(int scope, int pid) {
  if (const auto good = before_init(); !good) return good;
  if (scope < TRACE_SCOPE_SYSTEM || scope > PI_SCOPE_AUTO)
    return invalid(fmt::format("{} is not a scope: 0 system, 1 process, 2 auto.", scope));
  if (pid < 0 || (scope == TRACE_SCOPE_PROCESS && pid == 0))
    return invalid(fmt::format("{} is not the number of a process to be traced.", pid));
  config_.scope = scope;
  config_.pid = pid;
  return {};
}

Status Trace::set_mode(int mode) {
  if (const auto good = before_init(); !good) return good;
  if (mode == COLLECTION_MODE_NORMAL) return {};
  return Error{PU_ERROR_NOT_SUPPORTED,
               "Only the normal mode is supported by this version: linear buffers, written after "
               "the trace."};
}

Status Trace::set_mte_size(uint32_t bytes) {
  if (const auto good = before_init(); !good) return good;
  config_.mte_bytes = std::max<uint64_t>(bytes, PI_BUFFER_BYTES_MIN);
  return {};
}

Status Trace::set_anonymous(bool on) {
  if (const auto good = before_init(); !good) return good;
  config_.anonymous = on;
  return {};
}

Status Trace::init(uint32_t bytes, std::unique_ptr<Device> device) {
  if (const auto good = before_init(); !good) return good;
  TraceConfig config = config_;
  config.trace_bytes = std::max<uint64_t>(bytes, PI_BUFFER_BYTES_MIN);
  auto selected = select_source(config, std::move(device));
  if (!selected) return selected.error();
  collector_ = std::move(selected->collector);
  notes_.clear();
  if (!selected->note.empty()) notes_.push_back(selected->note);
  return {};
}

Status Trace::enable(int major) {
  if (const auto good = initialised(); !good) return good;
  if (const auto good = check_major(major); !good) return good;
  return collector_->enable(static_cast<uint32_t>(major));
}

Status Trace::disable(int major) {
  if (const auto good = initialised(); !good) return good;
  if (const auto good = check_major(major); !good) return good;
  return collector_->disable(static_cast<uint32_t>(major));
}

Result<bool> Trace::query_major(int major) {
  const auto now = status();
  if (!now) return now.error();
  return major > 0 && major < PI_MAJORS_TPROF && now->enabled.test(static_cast<size_t>(major));
}

Status Trace::set_rate(int rate) {
  const auto now = status();
  if (!now) return now.error();
  if (now->on)
    return Error{PU_ERROR_INCORRECT_STATE,
                 "The rate cannot be changed while the trace is on; turn it off first."};
  if (rate == 0) rate = PITRACE_RATE_DEFAULT;
  if (rate < PITRACE_RATE_MIN || rate > PITRACE_RATE_MAX)
    return invalid(fmt::format("{} ticks a second are not possible; {} to {} are.", rate,
                               PITRACE_RATE_MIN, PITRACE_RATE_MAX));
  return collector_->set_rate(static_cast<uint32_t>(rate));
}

Status Trace::on() {
  const auto now = status();
  if (!now) return now.error();
  if (now->on) return Error{PU_ERROR_INCORRECT_STATE, "The trace is on already."};
  const auto started = collector_->on();
  recorded_ |= static_cast<bool>(started);
  return started;
}

Result<bool> Trace::off() {
  const auto now = status();
  if (!now) return now.error();
  if (!now->on) return Error{PU_ERROR_INCORRECT_STATE, "The trace is not on."};
  if (const auto stopped = collector_->off(); !stopped) return stopped.error();
  const auto after = collector_->status();
  if (!after) return after.error();
  return after->full;
}

Status Trace::terminate() {
  if (const auto good = initialised(); !good) return good;
  if (const auto now = collector_->status(); now && now->on) (void)collector_->off();
  collector_.reset();
  notes_.clear();
  recorded_ = false;
  return {};
}

Status Trace::write(const std::string& name) {
  const auto now = status();
  if (!now) return now.error();
  if (now->on)
    return Error{PU_ERROR_INCORRECT_STATE, "The trace is on; turn it off before it is written."};
  if (!recorded_)
    return Error{PU_ERROR_INCORRECT_STATE,
                 "Nothing has been recorded yet; turn the trace on first."};
  TraceContent content;
  content.buffers = collector_->buffers();
  content.start_time = now->start_time;
  content.stop_time = now->stop_time;
  content.interval_id = now->interval_id;
  content.full = now->full;
  content.info = describe_trace(*collector_, *now, notes());
  content.build_ids = build_id_text(content.buffers, config_.proc_path);
  content.kernel = read_kernel_texts(config_.proc_path);
  return write_trace_file(name, content);
}

Result<CollectorStatus> Trace::status() {
  if (const auto good = initialised(); !good) return good.error();
  return collector_->status();
}

int Trace::source() const {
  return collector_ ? collector_->source() : PI_SOURCE_AUTO;
}

std::vector<std::string> Trace::cannot_see() {
  return collector_ ? collector_->cannot_see() : std::vector<std::string>{};
}

std::vector<std::string> Trace::notes() {
  auto all = notes_;
  if (!collector_) return all;
  for (auto& note : collector_->notes()) all.push_back(std::move(note));
  return all;
}

}  // namespace pi::perfutil
