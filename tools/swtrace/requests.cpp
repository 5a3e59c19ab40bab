// SPDX-License-Identifier: MIT
// What the recorder does for each request.
#include <charconv>
#include <optional>

#include <fmt/format.h>
#include <unistd.h>

#include "perfutil.h"
#include "recorder.h"

namespace pi::swtrace {
namespace {

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

// enable and disable: all words are checked before the first takes effect.
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

Reply tell_status() {
  pi_trace_status now{};
  now.size = sizeof now;
  if (const int rc = PiTraceStatus(&now); rc != PU_SUCCESS) return reply_of(rc);
  Reply reply;
  reply.text = fmt::format(
      "recorder={}\nsource={}\nscope={}\npid={}\non={}\nactive={}\nfull={}\ninterval={}\ncpus={}\n"
      "trace_bytes={}\nmte_bytes={}\nrate={}\ntick_ns={}\nmissed={}\nthrottled={}\n",
      ::getpid(), now.source == PI_SOURCE_DRIVER ? "driver" : "perf",
      now.scope == TRACE_SCOPE_SYSTEM ? "system" : "process", now.pid, now.on, IsTraceActive(),
      now.full, now.interval_id, now.cpus, now.trace_bytes, now.mte_bytes, now.rate, now.tick_ns,
      now.missed, now.throttled);
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
  return rc == PU_SUCCESS ? tell_status() : reply_of(rc);
}

Reply write_file(const Request& request) {
  if (request.size() != 2 || request[1].front() != '/') return malformed(request[0]);
  return reply_of(TraceWriteBufferToFile(request[1].c_str()));
}

}  // namespace

Reply answer(const Request& request, bool& asked_to_end) {
  const std::string& verb = request.front();
  if (verb == "enable") return change_majors(request, TraceEnable);
  if (verb == "disable") return change_majors(request, TraceDisable);
  if (verb == "rate") return set_rate(request);
  if (verb == "get") return write_file(request);
  if (request.size() != 1) return malformed(verb);
  if (verb == "majors") return list_majors();
  if (verb == "status") return tell_status();
  if (verb == "on") return reply_of(TraceOn());
  if (verb == "off") return reply_of(TraceOff());
  if (verb == "free") {
    asked_to_end = true;
    return reply_of(TraceTerminate());
  }
  return {PU_ERROR_NOT_SUPPORTED,
          fmt::format("This recorder does not know '{}': it belongs to another version of swtrace. "
                      "End it with 'swtrace free' and start a new one.",
                      verb)};
}

}  // namespace pi::swtrace
