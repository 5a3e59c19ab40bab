// SPDX-License-Identifier: MIT
// The process's one trace: its settings, its collector, and the rules of its states.
#include "trace.h"

#include <unistd.h>

#include <algorithm>

#include <fmt/format.h>

#include "source_select.h"
#include "system/system_facts.h"

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

std::unique_ptr<Trace> Trace::in_child_of(const Trace& parent) {
  auto trace = std::make_unique<Trace>();
  trace->inherited_ = &parent;
  trace->config_ = parent.config_;
  trace->initialised_by_ = parent.initialised_by_;
  return trace;
}

Status Trace::before_init() const {
  if (!collector_) return {};
  return Error{PU_ERROR_INCORRECT_STATE,
               "The trace is initialised already; call TraceTerminate (swtrace free) first."};
}

Status Trace::initialised() const {
  if (collector_) return {};
  if (is_of_parent())
    return Error{PI_ERROR_FORKED,
                 fmt::format("The trace belongs to process {}, which initialised it before this "
                             "process was forked. Control it from there, or call TraceInit for a "
                             "trace of this process.",
                             initialised_by_)};
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
    return invalid(fmt::format("{} is not a process id.", pid));
  config_.scope = scope;
  config_.pid = pid;
  return {};
}

Status Trace::set_mode(int mode) {
  if (const auto good = before_init(); !good) return good;
  if (mode < COLLECTION_MODE_NORMAL || mode > COLLECTION_MODE_CONTINUOUS)
    return invalid(fmt::format("{} is not a mode: 0 normal, 1 wrap-around, 2 continuous.", mode));
  config_.mode = mode;
  return {};
}

Status Trace::set_section_size(uint32_t bytes) {
  if (const auto good = before_init(); !good) return good;
  config_.section_bytes = std::max<uint64_t>(bytes, PI_SECTION_BYTES_MIN);
  return {};
}

Status Trace::set_name(const std::string& name) {
  if (const auto good = before_init(); !good) return good;
  constexpr size_t longest = 1023;
  if (name.empty() || name.size() > longest)
    return invalid(fmt::format("The name of a trace file must have 1 to {} characters.", longest));
  config_.file_name = name;
  return {};
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
  // The module rounds the buffers up to pages, and compares the section with half of that.
  const uint64_t max_section_bytes = std::min(config.trace_bytes, config.mte_bytes) / 2;
  if (config.mode != COLLECTION_MODE_NORMAL && config.section_bytes > max_section_bytes)
    return invalid(
        fmt::format("Sections of {} KB do not fit: a section is at most half of the "
                    "smaller buffer, here {} KB.",
                    config.section_bytes >> 10, max_section_bytes >> 10));
  // Create the file that on() will need now, so that init() reports a problem that the user can
  // fix.
  if (config.mode != COLLECTION_MODE_NORMAL)
    if (const auto file = OutputFile::create(stream_name()); !file) return file.error();
  auto selected = select_source(config, std::move(device));
  if (!selected) return selected.error();
  collector_ = std::move(selected->collector);
  initialised_by_ = ::getpid();
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
    return invalid(fmt::format("{} ticks a second are not possible; give {} to {}.", rate,
                               PITRACE_RATE_MIN, PITRACE_RATE_MAX));
  return collector_->set_rate(static_cast<uint32_t>(rate));
}

Status Trace::set_event(const TickEvent& event) {
  const auto now = status();
  if (!now) return now.error();
  if (now->on)
    return Error{
        PU_ERROR_INCORRECT_STATE,
        "The event of the ticks cannot be changed while the trace is on; turn it off first."};
  return collector_->set_event(event);
}

Status Trace::set_stacks(int which, int depth) {
  const auto now = status();
  if (!now) return now.error();
  if (now->on)
    return Error{PU_ERROR_INCORRECT_STATE,
                 "Stacks cannot be changed while the trace is on; turn it off first."};
  if (which < PI_STACKS_OFF || which > PI_STACKS_BOTH)
    return invalid(
        fmt::format("{} does not select stacks; give 0 off, 1 kernel, 2 user or 3 both.", which));
  if (depth == 0) depth = PITRACE_STACK_DEPTH_DEFAULT;
  static_assert(PI_STACK_DEPTH_MAX == PITRACE_STACK_USER_DEPTH_MAX);
  if (depth < 1 || depth > PI_STACK_DEPTH_MAX)
    return invalid(
        fmt::format("A depth of {} is not possible; give 1 to {}.", depth, PI_STACK_DEPTH_MAX));
  return collector_->set_stacks({static_cast<uint32_t>(which), static_cast<uint32_t>(depth)});
}

Status Trace::set_stack_resolver(const StackCopies& copies) {
  const auto now = status();
  if (!now) return now.error();
  if (now->on)
    return Error{
        PU_ERROR_INCORRECT_STATE,
        "The resolver of stacks cannot be changed while the trace is on; turn it off first."};
  const pi_stack_resolver& resolver = copies.resolver;
  if (resolver.size != 0 && (copies.bytes < PI_STACK_BYTES_MIN ||
                             copies.bytes > PI_STACK_BYTES_MAX || copies.bytes % 8 != 0))
    return invalid(
        fmt::format("{} bytes of a stack are not possible; give a multiple of 8 from {} to {}.",
                    copies.bytes, PI_STACK_BYTES_MIN, PI_STACK_BYTES_MAX));
  if (resolver.size != 0 &&
      (!resolver.begin || !resolver.change || !resolver.resolve || !resolver.note))
    return invalid("A function of the stack resolver is null.");
  return collector_->set_stack_resolver(copies);
}

Result<CollectorStatus> Trace::while_on() {
  auto now = status();
  if (now && !now->on) return Error{PU_ERROR_INCORRECT_STATE, "The trace is not on."};
  return now;
}

Status Trace::on() {
  const auto now = status();
  if (!now) return now.error();
  if (now->on) return Error{PU_ERROR_INCORRECT_STATE, "The trace is on already."};
  if (config_.mode != COLLECTION_MODE_NORMAL)
    if (const auto begun = begin_stream(*now); !begun) return begun;
  clock_source_ = clock_source();
  kernel_code_.reset();
  const auto started = collector_->on();
  clock_change_.clear();
  if (!started && config_.mode != COLLECTION_MODE_NORMAL) stream_.reset();
  recorded_ = recorded_ || started;
  taken_ = false;
  return started;
}

Result<bool> Trace::off() {
  if (const auto now = while_on(); !now) return now.error();
  if (const auto stopped = collector_->off(); !stopped) return stopped.error();
  note_clock();
  if (const auto ended = end_stream(); !ended) return ended.error();
  const auto after = collector_->status();
  if (!after) return after.error();
  return after->full;
}

Status Trace::suspend() {
  const auto now = while_on();
  if (!now) return now.error();
  return now->suspended ? Status() : collector_->suspend();
}

Status Trace::resume() {
  const auto now = while_on();
  if (!now) return now.error();
  return now->suspended ? collector_->resume() : Status();
}

Status Trace::discard() {
  const auto now = while_on();
  if (!now) return now.error();
  if (now->full)
    return Error{PU_ERROR_BUFFER_FULL,
                 "Recording has ended because a buffer became full, and later names are missing. "
                 "Turn the trace off and on again instead."};
  return config_.mode == COLLECTION_MODE_CONTINUOUS ? stream_->discard_trace()
                                                    : collector_->discard();
}

Status Trace::terminate() {
  if (const auto good = initialised(); !good) return good;
  Status ended;
  if (const auto now = collector_->status(); now && now->on) {
    (void)collector_->off();
    ended = end_stream();
  }
  // The file of names is not needed once the trace is in its own file.
  if (stream_ && taken_ && config_.mode == COLLECTION_MODE_WRAP) ::unlink(stream_->name().c_str());
  stream_.reset();
  collector_.reset();
  initialised_by_ = 0;
  notes_.clear();
  recorded_ = false;
  return ended;
}

// ---- ITrace ----

Status Trace::itrace_installed() {
  const auto now = itrace_info();
  if (!now) return now.error();
  if (now->installed != 0) return {};
  return itrace_not_installed();
}

Status Trace::itrace_install(const pitrace_itrace& setup) {
  if (const auto good = initialised(); !good) return good;
  if ((setup.flags & PITRACE_ITRACE_NO_KERNEL) != 0 && (setup.flags & PITRACE_ITRACE_NO_USER) != 0)
    return invalid("Both user and kernel code are excluded; include one of the two.");
  if (const auto installed = collector_->itrace().install(setup); !installed) return installed;
  for (const uint32_t major : itrace_majors)
    if (const auto enabled = collector_->enable(major); !enabled) return enabled;
  return collector_->enable(PITRACE_MAJOR_MTE);
}

Status Trace::itrace_remove() {
  if (const auto good = initialised(); !good) return good;
  // Before ITrace's own hooks are removed, which change the kernel's code.
  if (recorded_ && config_.mode == COLLECTION_MODE_NORMAL) see_kernel_code(collector_->buffers());
  return collector_->itrace().remove();
}

Status Trace::itrace_enable(uint32_t first, uint32_t last) {
  if (const auto good = initialised(); !good) return good;
  if (const auto good = itrace_installed(); !good) return good;
  return collector_->itrace().enable(first, last);
}

Status Trace::itrace_disable() {
  if (const auto good = initialised(); !good) return good;
  if (const auto good = itrace_installed(); !good) return good;
  return collector_->itrace().disable();
}

Status Trace::itrace_on() {
  if (const auto good = while_on(); !good) return good.error();
  if (const auto good = itrace_installed(); !good) return good;
  return collector_->itrace().on();
}

Status Trace::itrace_off() {
  if (const auto good = initialised(); !good) return good;
  if (const auto good = itrace_installed(); !good) return good;
  return collector_->itrace().off();
}

Result<pitrace_itrace_info> Trace::itrace_info() {
  if (const auto good = initialised(); !good) return good.error();
  return collector_->itrace().info();
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

// When the kernel finds the time-stamp counter unstable, it changes to another clock source for
// good.
void Trace::note_clock() {
  const std::string source = clock_source();
  if (source != clock_source_)
    clock_change_ =
        fmt::format("The kernel changed its clocksource from {} to {} during the trace.",
                    clock_source_, source);
}

std::vector<std::string> Trace::notes() {
  auto all = notes_;
  if (!clock_change_.empty()) all.push_back(clock_change_);
  if (!collector_) return all;
  for (auto& note : collector_->notes()) all.push_back(std::move(note));
  if (!stream_) return all;
  if (auto trouble = stream_->trouble(); !trouble.empty()) all.push_back(std::move(trouble));
  return all;
}

}  // namespace pi::perfutil
