// SPDX-License-Identifier: MIT
// The daemon that keeps counters open from 'mpevt start' to 'mpevt term'.
#include "daemon.h"

#include <algorithm>
#include <memory>
#include <span>

#include <fmt/format.h>

#include "event_table.h"
#include "perfutil.h"

namespace pi::mpevt {
namespace {

using service::Reply;
using service::Request;

struct Held {
  std::string name;
  int number = 0;  // libperfutil's
  std::string privilege;
  bool counting = true;
};

// The daemon serves one request at a time.
std::vector<Held>& held() {
  static std::vector<Held> all;
  return all;
}

Reply reply_of(int rc) {
  return {rc, rc == PU_SUCCESS ? "" : PiErrorText()};
}

Reply malformed(const Request& request) {
  return {PU_ERROR_INVALID_PARAMETER, fmt::format("The request '{}' is malformed.", request[0])};
}

Held* find(const std::string& name) {
  const auto found = std::find_if(held().begin(), held().end(),
                                  [&](const Held& each) { return each.name == name; });
  return found == held().end() ? nullptr : &*found;
}

Reply not_counted(const std::string& name) {
  std::string names;
  for (const auto& each : held()) names += (names.empty() ? "" : ", ") + each.name;
  return {PU_ERROR_EVENT_NOT_COUNTING,
          fmt::format("'{}' is not being counted. The counted events are: {}.", name, names)};
}

// Resumes a stopped event, or starts a new one.
Reply start_one(const std::string& name, const std::string& privilege, int priv) {
  if (Held* const known = find(name)) {
    if (known->counting)
      return {PU_ERROR_EVENT_ALREADY_COUNTING, fmt::format("'{}' is being counted already.", name)};
    if (known->privilege != privilege)
      return {
          PU_ERROR_EVENT_ALREADY_COUNTING,
          fmt::format("'{}' is counted with -priv {}. To change that, run 'mpevt term {}' first.",
                      name, known->privilege, name)};
    const Reply reply = reply_of(ResumePerfCounterEvent(known->number));
    known->counting = reply.rc == PU_SUCCESS;
    return reply;
  }
  const int number = PiInitPerfCounterEvent(name.c_str(), priv);
  if (number < 0) return reply_of(number);
  held().push_back({name, number, privilege, true});
  return {};
}

// Starts all events or none.
Reply start(const Request& request) {
  if (request.size() < 3) return malformed(request);
  const auto priv = std::find(std::begin(privilege_names), std::end(privilege_names), request[1]);
  if (priv == std::end(privilege_names)) return malformed(request);
  const int number = PI_PRIV_KERNEL + static_cast<int>(priv - std::begin(privilege_names));
  const std::vector<Held> before = held();
  for (const auto& name : std::span(request).subspan(2)) {
    Reply reply = start_one(name, request[1], number);
    if (reply.rc == PU_SUCCESS) continue;
    for (const auto& each : held()) {
      const auto old = std::find_if(before.begin(), before.end(),
                                    [&](const Held& other) { return other.name == each.name; });
      if (old == before.end())
        (void)TerminatePerfCounterEvent(each.number);
      else if (!old->counting)
        (void)StopPerfCounterEvent(each.number);
    }
    held() = before;
    return reply;
  }
  return {};
}

// Calls work for each named event, or for all; checks all names before the first call.
template <class Work>
Reply for_each_named(const Request& request, Work work) {
  std::vector<std::string> names(request.begin() + 1, request.end());
  if (names.empty())
    for (const auto& each : held()) names.push_back(each.name);
  for (const auto& name : names)
    if (find(name) == nullptr) return not_counted(name);
  for (const auto& name : names) {
    Held* const event = find(name);
    if (event == nullptr) continue;  // named twice, and terminated by the first
    if (Reply reply = reply_of(work(*event)); reply.rc != PU_SUCCESS) return reply;
  }
  return {};
}

int stop_one(Held& event) {
  event.counting = false;
  return StopPerfCounterEvent(event.number);
}

int reset_one(Held& event) {
  return ResetPerfCounterEvent(event.number);
}

int terminate_one(Held& event) {
  const int rc = TerminatePerfCounterEvent(event.number);
  held().erase(held().begin() + (&event - held().data()));
  return rc;
}

Reply read(const Request& request) {
  if (request.size() != 2) return malformed(request);
  const Held* const event = find(request[1]);
  if (event == nullptr) return not_counted(request[1]);
  using Array = std::unique_ptr<uint64_t, void (*)(uint64_t*)>;
  int bytes = 0;
  const Array counts(AllocCtrValueArray(&bytes), FreeCtrValueArray);
  const Array times(AllocCtrValueArray(nullptr), FreeCtrValueArray);
  if (!counts || !times)
    return {PU_ERROR_NOT_ENOUGH_MEMORY, "Cannot read the counts: out of memory."};
  if (const int rc = ReadPerfCounterEvent(event->number, counts.get(), times.get());
      rc != PU_SUCCESS)
    return reply_of(rc);
  EventCounts result{event->name, event->privilege, event->counting, {}};
  const auto cpus = static_cast<size_t>(bytes) / sizeof(uint64_t);
  for (size_t cpu = 0; cpu < cpus; ++cpu)
    if (times.get()[cpu] != 0)
      result.cpus.push_back({static_cast<int>(cpu), counts.get()[cpu], times.get()[cpu]});
  return {PU_SUCCESS, encode_counts(result)};
}

Reply list() {
  Reply reply;
  for (const auto& each : held()) reply.text += fmt::format("event={}\n", each.name);
  return reply;
}

}  // namespace

Reply answer(const Request& request, bool& asked_to_end) {
  const std::string& verb = request.front();
  if (verb == "start") return start(request);
  if (verb == "stop") return for_each_named(request, stop_one);
  if (verb == "reset") return for_each_named(request, reset_one);
  if (verb == "read") return read(request);
  if (verb == "list" && request.size() == 1) return list();
  if (verb == "define" && request.size() == 2)
    return reply_of(PiLoadEventDefinitions(request[1].c_str()));
  if (verb == "term") {
    Reply reply = for_each_named(request, terminate_one);
    asked_to_end = held().empty();
    return reply;
  }
  return {PU_ERROR_NOT_SUPPORTED,
          fmt::format("The counter daemon does not know the request '{}': it is of another "
                      "version. Run 'mpevt term', then start again.",
                      verb)};
}

Reply start_daemon(const std::string& path, const Request& first) {
  const auto begin = [&] {
    bool asked_to_end = false;
    return answer(first, asked_to_end);
  };
  // The end of the process closes the counters.
  return service::start_service({daemon_names, path, begin, answer, [] {}});
}

}  // namespace pi::mpevt
