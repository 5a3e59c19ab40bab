// SPDX-License-Identifier: MIT
// Events that the kernel's counters describe themselves in /sys/bus/event_source/devices.
#include <algorithm>
#include <filesystem>
#include <map>

#include <fmt/format.h>

#include "events.h"
#include "perfutil.h"
#include "system/text.h"

namespace pi::perfutil {
namespace {

namespace fs = std::filesystem;

Error bad(std::string text) {
  return {PU_ERROR_INVALID_METRIC, std::move(text)};
}

std::vector<std::string> names_in(const std::string& directory) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error))
    names.push_back(entry->path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

// Files with a dot in their name hold the unit or the scale of an event.
bool is_event_file(const std::string& name) {
  return name.find('.') == std::string::npos;
}

// Sets the bits of the event's configuration that a format such as "config1:0-7,32-35" names; false
// when the format is malformed or the value does not fit.
bool put_bits(std::string_view format, uint64_t value, TickEvent& event) {
  constexpr uint64_t bits = 64;
  const std::string_view word = next_word(format, ':');
  uint64_t* config = word == "config"    ? &event.config
                     : word == "config1" ? &event.config1
                     : word == "config2" ? &event.config2
                                         : nullptr;
  if (config == nullptr || format.empty()) return false;
  while (!format.empty()) {
    std::string_view range = next_word(format, ',');
    const bool single = range.find('-') == std::string_view::npos;
    const auto first = parse_number(next_word(range, '-'));
    const auto last = single ? first : parse_number(range);
    if (!first || !last || *last < *first || *last >= bits) return false;
    for (uint64_t bit = *first; bit <= *last; ++bit, value >>= 1) *config |= (value & 1) << bit;
  }
  return value == 0;
}

std::optional<uint64_t> term_value(std::string_view text) {
  if (text.starts_with("0x")) return parse_number(text.substr(2), 16);
  return text.empty() ? std::optional<uint64_t>(1) : parse_number(text);
}

// "event=0x3c,umask=0x1,any": a term without a value is 1.
Status put_terms(std::string_view terms, const std::string& device, TickEvent& event) {
  while (!terms.empty()) {
    std::string_view value = next_word(terms, ',');
    const std::string term(next_word(value, '='));
    const auto number = term_value(value);
    if (!number || term.find('/') != std::string::npos)
      return bad(fmt::format("'{}' is not TERM=NUMBER.", term));
    if (term == "config" || term == "config1" || term == "config2") {
      (term == "config"    ? event.config
       : term == "config1" ? event.config1
                           : event.config2) |= *number;
      continue;
    }
    const std::string format = read_line(fmt::format("{}/format/{}", device, term));
    if (format.empty())
      return bad(fmt::format("The counter {} has no term '{}'.",
                             fs::path(device).filename().string(), term));
    if (!put_bits(format, *number, event))
      return bad(fmt::format("{} is not a value of the term '{}' of the counter {} ({}).", *number,
                             term, fs::path(device).filename().string(), format));
  }
  return {};
}

Result<TickEvent> resolve_on(const std::string& device, std::string_view terms) {
  const auto type = parse_number(read_line(device + "/type"));
  if (!type || *type >= PITRACE_EVENT_TIME)
    return bad(fmt::format("There is no counter '{}' in {}.", fs::path(device).filename().string(),
                           fs::path(device).parent_path().string()));
  TickEvent event;
  event.type = static_cast<uint32_t>(*type);
  std::string described;
  if (terms.find('=') == std::string_view::npos && is_event_file(std::string(terms)) &&
      terms.find('/') == std::string_view::npos)
    described = read_line(fmt::format("{}/events/{}", device, terms));
  if (const auto put = put_terms(described.empty() ? terms : described, device, event); !put)
    return put.error();
  return event;
}

}  // namespace

Result<TickEvent> resolve_device_event(std::string_view name, const std::string& devices) {
  if (const size_t slash = name.find('/'); slash != std::string_view::npos) {
    std::string_view terms = name.substr(slash + 1);
    if (slash == 0 || !terms.ends_with('/') || name.substr(0, slash).starts_with('.'))
      return bad(fmt::format("'{}' is not of the form PMU/EVENT/ or PMU/TERM=NUMBER,.../.", name));
    terms.remove_suffix(1);
    return resolve_on(fmt::format("{}/{}", devices, name.substr(0, slash)), terms);
  }
  for (const auto& device : names_in(devices)) {
    const auto events = names_in(fmt::format("{}/{}/events", devices, device));
    if (is_event_file(std::string(name)) &&
        std::find(events.begin(), events.end(), name) != events.end())
      return resolve_on(fmt::format("{}/{}", devices, device), name);
  }
  return bad(fmt::format("No counter of this machine has an event '{}'.", name));
}

std::vector<NamedEvent> list_device_events(const std::string& devices) {
  std::vector<NamedEvent> list;
  for (const auto& device : names_in(devices))
    for (const auto& event : names_in(fmt::format("{}/{}/events", devices, device)))
      if (is_event_file(event))
        list.push_back({0, "device", fmt::format("{}/{}/", device, event),
                        read_line(fmt::format("{}/{}/events/{}", devices, device, event))});
  return list;
}

std::vector<uint32_t> device_cpus(uint32_t type, const std::string& devices) {
  for (const auto& device : names_in(devices)) {
    const std::string path = fmt::format("{}/{}", devices, device);
    if (parse_number(read_line(path + "/type")) != type) continue;
    for (const char* file : {"/cpumask", "/cpus"})
      if (auto cpus = parse_cpu_list(read_line(path + file)); !cpus.empty()) return cpus;
  }
  return {};
}

}  // namespace pi::perfutil
