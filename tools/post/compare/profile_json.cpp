// SPDX-License-Identifier: MIT
// Reads a profile from a tprof.json that post has written. The members are documented in
// tprof.json(5).
#include "profile_json.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "json.h"
#include <stdexcept>

#include "text/labels.h"
#include "text/text.h"

namespace post {
namespace {

using Json = pi::Json;

// Reads members of hostile JSON; throws std::runtime_error with what is wrong.
const Json& part(const Json& object, const char* member) {
  const Json* found = object.find(member);
  if (found == nullptr) throw std::runtime_error(fmt::format("\"{}\" is missing", member));
  return *found;
}

uint64_t number(const Json& object, const char* member) {
  const Json* found = object.find(member);
  const auto value = found != nullptr ? found->whole_number() : std::nullopt;
  if (!value) throw std::runtime_error(fmt::format("\"{}\" is no whole number", member));
  return *value;
}

bool flag(const Json& object, const char* member) {
  const Json* found = object.find(member);
  const bool* value = found != nullptr ? found->boolean() : nullptr;
  if (value == nullptr)
    throw std::runtime_error(fmt::format("\"{}\" is neither true nor false", member));
  return *value;
}

std::string text_of(const Json& value, const char* member) {
  if (value.text() == nullptr) throw std::runtime_error(fmt::format("\"{}\" is no text", member));
  return printable(*value.text());
}

std::string text(const Json& object, const char* member) {
  return text_of(part(object, member), member);
}

const Json::Array& list(const Json& object, const char* member) {
  const Json& value = part(object, member);
  if (!value.is_array()) throw std::runtime_error(fmt::format("\"{}\" is no array", member));
  return value.elements();
}

const Json::Array& children(const Json& row) {
  static const Json::Array none;
  return row.contains("children") ? list(row, "children") : none;
}

const Json::Array& full_report(const Json& json) {
  for (const Json& report : list(json, "reports"))
    if (text(report, "title") == "Process_Module_Symbol") return list(report, "rows");
  throw std::runtime_error("it lacks the report Process_Module_Symbol (post -rsel)");
}

void take_rows(const Json& json, Profile& profile) {
  const Json& names = part(json, "names");
  const LabelOptions labels{!flag(names, "process_ids"), false, flag(names, "processors")};
  uint64_t sum = 0;
  for (const Json& process : full_report(json))
    for (const Json& module : children(process))
      for (const Json& symbol : children(module)) {
        const uint64_t ticks = number(symbol, "ticks");
        if (ticks > profile.ticks - sum)
          throw std::runtime_error("its rows have more ticks than there are");
        sum += ticks;
        profile.rows.push_back({process_base_name(text(process, "name"), labels),
                                text(module, "name"), text(symbol, "name"), ticks});
      }
  if (sum != profile.ticks)
    throw std::runtime_error(
        fmt::format("its rows have {} of {} ticks, small ones were left out; "
                    "write it with post -clip 0 --json",
                    sum, profile.ticks));
  unite_rows(profile.rows);
}

void take_losses(const Json& json, Profile& profile) {
  const Json& losses = part(json, "losses");
  const std::string ended = text(part(json, "trace"), "ended");
  std::vector<std::string> missing;
  if (const uint64_t lost = number(losses, "lost"); lost != 0) {
    missing.push_back(fmt::format("{} records were lost", lost));
    profile.lacks.push_back({"Lost", fmt::format("{} records.", lost)});
  }
  uint64_t missed = 0;
  for (const auto& [hook, count] : part(losses, "missed").members())
    missed += count.whole_number().value_or(0);
  if (missed != 0) {
    missing.push_back(fmt::format("{} hits of hooks were missed", missed));
    profile.lacks.push_back({"Missed", fmt::format("{} hits of hooks.", missed)});
  }
  if (ended == "buffer full") {
    missing.push_back("recording ended early in a full buffer");
    profile.lacks.push_back({"Ended", "in a full buffer."});
  }
  if (!flag(losses, "counted"))
    missing.push_back("the file does not contain how many records were produced");
  if (const uint64_t throttled = number(losses, "throttled"); throttled != 0)
    profile.lacks.push_back({"Throttled", fmt::format("{} times.", throttled)});
  const uint64_t places = number(part(json, "damage"), "places");
  if (places != 0) profile.lacks.push_back({"Damaged", fmt::format("in {} places.", places)});
  if (ended == "disk full")
    profile.lacks.push_back({"Ended", "the disk was full; what did not fit is missing."});
  if (ended == "running") profile.lacks.push_back({"Ended", "the recorder did not end the trace."});
  profile.damaged = places != 0 || ended == "disk full" || ended == "running";
  profile.missing = fmt::format("{}", fmt::join(missing, "; "));
}

Profile take_profile(const Json& json) {
  if (!json.is_object() || text(json, "schema") != "pitrace-tprof")
    throw std::runtime_error("it is no tprof.json");
  if (number(json, "schema_version") != 1)
    throw std::runtime_error("its schema_version is not 1; another version of post wrote it");
  Profile profile;
  const Json& trace = part(json, "trace");
  profile.ticks = number(json, "ticks");
  profile.time_ns = number(trace, "trace_cycles");
  profile.tick_ns = number(trace, "tick_ns");
  const uint64_t processors = number(trace, "processors");
  if (processors > UINT32_MAX) throw std::runtime_error("\"processors\" is out of range");
  profile.processors = static_cast<uint32_t>(processors);
  // Members that earlier versions of post did not write.
  const bool by_event = trace.contains("tick") && text(trace, "tick") == "event";
  const std::string event = trace.contains("event") ? text(trace, "event") : "";
  profile.tick = !by_event ? "time" : event.empty() ? "events" : event;
  profile.source = text(trace, "source");
  profile.scope = text(trace, "scope");
  profile.kernel = text(trace, "kernel");
  if (by_event && trace.contains("period")) profile.events_per_tick = number(trace, "period");
  if (const Json* selection = json.find("selection"); selection && selection->contains("text")) {
    std::vector<std::string> texts;
    for (const Json& line : list(*selection, "text")) texts.push_back(text_of(line, "text"));
    profile.selection = fmt::format("{}", fmt::join(texts, " "));
  }
  profile.no_module = number(part(json, "unresolved"), "no_module");
  profile.no_symbol = number(part(json, "unresolved"), "no_symbol");
  for (const Json& note : list(json, "symbol_notes"))
    profile.symbol_notes.push_back(text_of(note, "symbol_notes"));
  take_losses(json, profile);
  take_rows(json, profile);
  return profile;
}

}  // namespace

bool looks_like_json(std::string_view beginning) {
  const size_t first = beginning.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && beginning[first] == '{';
}

pi::Result<Profile> profile_from_json(std::string_view text, const std::string& path) {
  const std::optional<Json> json = Json::parse(text);
  if (!json)
    return pi::Error{-1,
                     path + " is not JSON, it is cut off, or it has more than 16 million values."};
  try {
    Profile profile = take_profile(*json);
    profile.path = path;
    return profile;
  } catch (const std::exception& problem) {
    return pi::Error{-1, fmt::format("{} cannot be compared: {}.", path, problem.what())};
  }
}

}  // namespace post
