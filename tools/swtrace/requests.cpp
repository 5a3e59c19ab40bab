// SPDX-License-Identifier: MIT
// The recorder's requests.
#include <charconv>
#include <optional>

#include <fmt/format.h>
#include <unistd.h>

#include "itrace_requests.h"
#include "perfutil.h"
#include "recorder.h"
#include "stacks/stack_resolver.h"

namespace pi::swtrace {
namespace {

constexpr const char* stack_names[] = {"off", "kernel", "user", "both"};  // by PI_STACKS_*
constexpr const char* mode_names[] = {"normal", "wrap-around", "continuous"};

Reply reply_of(int rc) {
  return {rc, rc == PU_SUCCESS ? "" : PiErrorText()};
}

std::optional<int> parse_int(const std::string& word) {
  int value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return value;
}

Reply malformed(const std::string& verb) {
  return {PU_ERROR_INVALID_PARAMETER, fmt::format("The request '{}' is malformed.", verb)};
}

// enable and disable: checks all words before the first takes effect.
Reply change_majors(const Request& request, int (*change)(int)) {
  std::vector<int> majors;
  for (size_t i = 1; i < request.size(); ++i) {
    const auto major = parse_int(request[i]);
    if (!major || *major < 0 || *major > PI_MAJORS_TPROF) return malformed(request[0]);
    majors.push_back(*major);
  }
  if (majors.empty()) majors.push_back(ALL_MAJORS);
  for (const int major : majors)
    if (const int rc = change(major); rc != PU_SUCCESS) return reply_of(rc);
  return {};
}

Reply list_majors() {
  Reply reply;
  for (int major = 1; major < PI_MAJORS_TPROF; ++major) {
    const int enabled = TraceQueryMajor(major);
    if (enabled < 0) return reply_of(enabled);
    if (enabled == 1) reply.text += fmt::format("major={}\n", major);
  }
  return reply;
}

std::string counts_text(const char* kind, const pi_trace_counts& counts) {
  constexpr const char* reasons[PI_LOST_REASONS] = {"full", "stopped", "too_long", "source"};
  std::string text =
      fmt::format("{0}.produced={1}\n{0}.written={2}\n", kind, counts.produced, counts.written);
  for (size_t reason = 0; reason < PI_LOST_REASONS; ++reason)
    text += fmt::format("{}.lost.{}={}\n", kind, reasons[reason], counts.lost[reason]);
  return text;
}

Reply status_reply() {
  pi_trace_status now{};
  now.size = sizeof now;
  if (const int rc = PiTraceStatus(&now); rc != PU_SUCCESS) return reply_of(rc);
  Reply reply;
  reply.text = fmt::format(
      "recorder={}\nsource={}\nscope={}\npid={}\non={}\nactive={}\nfull={}\ninterval={}\ncpus={}\n"
      "trace_bytes={}\nmte_bytes={}\nrate={}\ntick_ns={}\nmissed={}\nthrottled={}\nmode={}\n"
      "file={}\nsuspended={}\noverwritten={}\nevent={}\nperiod={}\nstacks={}\nstack_depth={}\n"
      "recorded_bytes={}\n",
      ::getpid(), now.source == PI_SOURCE_DRIVER ? "driver" : "perf",
      now.scope == TRACE_SCOPE_SYSTEM ? "system" : "process", now.pid, now.on, IsTraceActive(),
      now.full, now.interval_id, now.cpus, now.trace_bytes, now.mte_bytes, now.rate, now.tick_ns,
      now.missed, now.throttled, mode_names[now.mode], TraceGetName(), now.suspended,
      now.overwritten, now.event, now.period, stack_names[now.stacks], now.depth,
      now.recorded_bytes);
  reply.text += counts_text("trace", now.trace) + counts_text("mte", now.mte);
  for (unsigned index = 0; const char* text = PiCannotSee(index); ++index)
    reply.text += fmt::format("cannot_see={}\n", text);
  for (unsigned index = 0; const char* text = PiNote(index); ++index)
    reply.text += fmt::format("note={}\n", text);
  return reply;
}

Reply set_rate(const Request& request) {
  const auto rate = request.size() == 2 ? parse_int(request[1]) : std::nullopt;
  if (!rate) return malformed(request[0]);
  const int rc = SetProfilerRate(*rate);
  return rc == PU_SUCCESS ? status_reply() : reply_of(rc);
}

// event NAME COUNT PRIV RANDOM; a COUNT of 0 is the default of the event
Reply set_event(const Request& request) {
  if (request.size() != 5) return malformed(request[0]);
  uint64_t count = 0;
  const std::string& text = request[2];
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  const auto priv = parse_int(request[3]);
  const auto random = parse_int(request[4]);
  if (error != std::errc() || end != text.data() + text.size() || !priv || !random)
    return malformed(request[0]);
  const int rc = PiSetTprofEvent(request[1].c_str(), count, *priv, *random);
  return rc == PU_SUCCESS ? status_reply() : reply_of(rc);
}

// The recorder's resolver of stacks, which stays until its process ends.
StackResolver& stack_resolver() {
  static auto* resolver = new StackResolver(compile_by_child);
  return *resolver;
}

// stacks WHICH DEPTH auto|tables|fp BYTES
Reply set_stacks(const Request& request) {
  if (request.size() != 5) return malformed(request[0]);
  const auto which = parse_int(request[1]), depth = parse_int(request[2]);
  const auto bytes = parse_int(request[4]);
  const std::string& by = request[3];
  if (!which || !depth || !bytes || *bytes < 0) return malformed(request[0]);
  const bool user = (*which & PI_STACKS_USER) != 0;
  int rc = PiSetStackResolver(nullptr, 0);
  if (rc == PU_SUCCESS && user && by != "fp") {
    const pi_stack_resolver functions = stack_resolver().functions();
    rc = PiSetStackResolver(&functions, static_cast<uint32_t>(*bytes));
    if (rc == PU_ERROR_NOT_SUPPORTED && by == "auto") rc = PU_SUCCESS;
  }
  if (rc == PU_SUCCESS) rc = TraceSetStacks(*which, *depth);
  return reply_of(rc);
}

int mode() {
  pi_trace_status now{};
  now.size = sizeof now;
  return PiTraceStatus(&now) == PU_SUCCESS ? now.mode : COLLECTION_MODE_NORMAL;
}

Reply written(int rc, const char* file) {
  Reply reply = reply_of(rc);
  if (rc == PU_SUCCESS) reply.text = fmt::format("file={}\n", file);
  return reply;
}

// get FILE, or get-default FILE, where FILE is used for a trace without a file name.
Reply write_file(const Request& request) {
  if (request.size() != 2 || request[1].front() != '/') return malformed(request[0]);
  const bool own = request[0] == "get-default" && mode() != COLLECTION_MODE_NORMAL;
  const char* file = own ? TraceGetName() : request[1].c_str();
  return written(TraceWriteBufferToFile(file), file);
}

Reply turn_off() {
  Reply reply = reply_of(TraceOff());
  if (reply.rc == PU_SUCCESS && mode() == COLLECTION_MODE_CONTINUOUS)
    reply.text = fmt::format("file={}\n", TraceGetName());
  return reply;
}

}  // namespace

Reply answer(const Request& request, bool& asked_to_end) {
  const std::string& verb = request.front();
  if (verb == "enable") return change_majors(request, TraceEnable);
  if (verb == "disable") return change_majors(request, TraceDisable);
  if (verb == "rate") return set_rate(request);
  if (verb == "event") return set_event(request);
  if (verb == "stacks") return set_stacks(request);
  if (verb == "get" || verb == "get-default") return write_file(request);
  if (auto reply = answer_itrace(request)) return *reply;
  if (request.size() != 1) return malformed(verb);
  if (verb == "majors") return list_majors();
  if (verb == "status") return status_reply();
  if (verb == "on") return reply_of(TraceOn());
  if (verb == "off") return turn_off();
  if (verb == "suspend") return reply_of(TraceSuspend());
  if (verb == "resume") return reply_of(TraceResume());
  if (verb == "discard") return reply_of(TraceDiscard());
  if (verb == "free") {
    asked_to_end = true;
    return reply_of(TraceTerminate());
  }
  return {
      PU_ERROR_NOT_SUPPORTED,
      fmt::format("The recorder does not support '{}': it was started by another version of "
                  "swtrace. End it with 'swtrace free' and start a new one with 'swtrace init'.",
                  verb)};
}

}  // namespace pi::swtrace
