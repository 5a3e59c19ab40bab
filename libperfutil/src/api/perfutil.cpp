// SPDX-License-Identifier: MIT
// C entry points that set up, start, stop and write the trace.
#include "perfutil.h"

#include <set>

#include "call.h"
#include "itrace_switch.h"
#include "struct_size.h"
#include "system/kernel_device.h"
#include "trace/trace.h"

namespace pi::perfutil {
namespace {

// Texts are never freed, because callers may keep the pointers; there are few. With call_mutex()
// held.
const char* keep(const std::string& text) {
  static std::set<std::string> kept;
  return kept.insert(text).first->c_str();
}

void add(pi_trace_counts& sum, const Counts& counts) {
  static_assert(PI_LOST_REASONS == PITRACE_LOST_REASONS);
  sum.produced += counts.produced;
  sum.written += counts.written;
  for (size_t reason = 0; reason < PI_LOST_REASONS; ++reason)
    sum.lost[reason] += counts.lost[reason];
}

Result<pi_trace_status> status_of(Trace& trace) {
  const auto now = trace.status();
  if (!now) return now.error();
  pi_trace_status out{};
  out.source = trace.source();
  out.scope = now->scope;
  out.pid = now->scope == TRACE_SCOPE_PROCESS ? now->pid : 0;
  out.on = now->on;
  out.full = now->full;
  out.interval_id = now->interval_id;
  out.trace_bytes = now->trace_bytes;
  out.mte_bytes = now->mte_bytes;
  out.rate = now->tick.is_time() ? now->rate : 0;
  out.tick_ns = now->tick_ns;
  out.throttled = now->throttled;
  for (const auto& [probe, missed] : now->missed) out.missed += missed;
  out.suspended = now->suspended;
  out.period = now->tick.is_time() ? 0 : now->tick.period;
  out.stacks = static_cast<int>(now->stacks.which);
  out.depth = static_cast<int>(now->stacks.depth);
  out.event = keep(now->tick.name);
  out.mode = trace.mode();
  for (const auto& stream : trace.counts()) {
    out.cpus += stream.kind == PITRACE_BUFFER_TRACE;
    out.recorded_bytes += stream.bytes;
    if (stream.kind == PITRACE_BUFFER_STACKS) continue;
    out.overwritten += stream.overwritten;
    add(stream.kind == PITRACE_BUFFER_TRACE ? out.trace : out.mte, stream.counts);
  }
  return out;
}

// The trace's state; that of a trace that is off before TraceInit().
CollectorStatus state_or_none() {
  return query([](Trace& trace) {
    const auto now = trace.status();
    return now ? *now : CollectorStatus();
  });
}

const char* sentence_at(unsigned index, std::vector<std::string> (Trace::*list)()) {
  return query([=](Trace& trace) {
    const auto sentences = (trace.*list)();
    return index < sentences.size() ? keep(sentences[index]) : nullptr;
  });
}

}  // namespace
}  // namespace pi::perfutil

using pi::Error;
using pi::Status;
using pi::perfutil::call;
using pi::perfutil::Trace;

const char* PiErrorText(void) {
  return pi::perfutil::last_error_text().c_str();
}

int PiSetSource(int source) {
  return call([=](Trace& trace) { return trace.set_source(source); });
}

int TraceSetScope(int scope, int pid) {
  return call([=](Trace& trace) { return trace.set_scope(scope, pid); });
}

int TraceSetMode(int mode) {
  return call([=](Trace& trace) { return trace.set_mode(mode); });
}

int TraceSetSectionSize(uint32_t bytes) {
  return call([=](Trace& trace) { return trace.set_section_size(bytes); });
}

int TraceSetName(const char* name) {
  if (name == nullptr)
    return call([](Trace&) { return Status(Error{PU_ERROR_NULL_POINTER, "The name is null."}); });
  return call([=](Trace& trace) { return trace.set_name(name); });
}

const char* TraceGetName(void) {
  const char* const name =
      pi::perfutil::query([](Trace& trace) { return pi::perfutil::keep(trace.name()); });
  return name ? name : "";
}

int TraceSetMteSize(uint32_t bytes) {
  return call([=](Trace& trace) { return trace.set_mte_size(bytes); });
}

int SetTraceAnonMTE(int on) {
  return call([=](Trace& trace) { return trace.set_anonymous(on != 0); });
}

int TraceInit(uint32_t bytes) {
  return call([=](Trace& trace) {
    return trace.init(bytes, std::make_unique<pi::perfutil::KernelDevice>());
  });
}

int TraceEnable(int major) {
  return call([=](Trace& trace) { return trace.enable(major); });
}

int TraceDisable(int major) {
  return call([=](Trace& trace) { return trace.disable(major); });
}

int TraceQueryMajor(int major) {
  return pi::perfutil::call_for_number([=](Trace& trace) -> pi::Result<int> {
    const auto enabled = trace.query_major(major);
    if (!enabled) return enabled.error();
    return *enabled ? 1 : 0;
  });
}

int SetProfilerRate(int rate) {
  return call([=](Trace& trace) { return trace.set_rate(rate); });
}

int TraceSetStacks(int which, int depth) {
  return call([=](Trace& trace) { return trace.set_stacks(which, depth); });
}

int PiSetStackResolver(const pi_stack_resolver* resolver, uint32_t bytes) {
  return call([=](Trace& trace) -> Status {
    if (resolver == nullptr) return trace.set_stack_resolver({});
    const auto known = pi::perfutil::take_struct(resolver, "pi_stack_resolver");
    if (!known) return known.error();
    return trace.set_stack_resolver({*known, bytes});
  });
}

int TraceOn(void) {
  return call([](Trace& trace) { return trace.on(); });
}

int TraceOff(void) {
  return call([](Trace& trace) -> Status {
    const auto was_full = trace.off();
    if (!was_full) return was_full.error();
    if (!*was_full) return {};
    return Error{PU_ERROR_BUFFER_FULL,
                 "A trace buffer became full and recording stopped by itself. What was recorded "
                 "can be written; ask for larger buffers or record for a shorter time."};
  });
}

int TraceSuspend(void) {
  return call([](Trace& trace) { return trace.suspend(); });
}

int TraceResume(void) {
  return call([](Trace& trace) { return trace.resume(); });
}

int TraceDiscard(void) {
  return call([](Trace& trace) { return trace.discard(); });
}

int TraceTerminate(void) {
  return call([](Trace& trace) {
    pi::perfutil::clear_itrace_owner();
    return trace.terminate();
  });
}

int TraceWriteBufferToFile(const char* name) {
  return call([=](Trace& trace) { return trace.write(name ? name : ""); });
}

int IsTraceOn(void) {
  return pi::perfutil::state_or_none().on;
}

int IsTraceActive(void) {
  const auto state = pi::perfutil::state_or_none();
  return state.on && !state.full && !state.suspended;
}

uint32_t TraceGetIntervalId(void) {
  return pi::perfutil::state_or_none().interval_id;
}

int PiTraceStatus(struct pi_trace_status* status) {
  return call([=](Trace& trace) {
    return pi::perfutil::fill_struct(status, "pi_trace_status",
                                     [&] { return pi::perfutil::status_of(trace); });
  });
}

const char* PiCannotSee(unsigned int index) {
  return pi::perfutil::sentence_at(index, &Trace::cannot_see);
}

const char* PiNote(unsigned int index) {
  return pi::perfutil::sentence_at(index, &Trace::notes);
}
