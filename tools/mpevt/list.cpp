// SPDX-License-Identifier: MIT
// mpevt -l, -ld, -ls: the events that this machine counts for this user.
#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include "json.h"

#include "cli.h"
#include "commands.h"
#include "perfutil.h"

namespace pi::mpevt {
namespace {

struct Row {
  int id = 0;
  std::string name, group, description;
};

// For an event of Performance Inspector, `meaning` is the corresponding event of the kernel.
std::string description_of(const pi_event& event) {
  const auto* const info = GetPerfCounterEventInfoFromId(event.id);
  if (info != nullptr && *info->description)
    return fmt::format("{} ({})", info->description, event.meaning);
  return event.meaning;
}

std::vector<Row> working_events(Listing listing) {
  std::vector<Row> rows;
  pi_event event{};
  event.size = sizeof event;
  const auto next = listing == Listing::sampling ? PiEvent : PiCounterEvent;
  for (unsigned index = 0; next(index, &event) == PU_SUCCESS; ++index)
    if (event.works != 0)
      rows.push_back({event.id, event.name, event.group, description_of(event)});
  // Performance Inspector's events come first, as in its own list.
  std::stable_partition(rows.begin(), rows.end(), [](const Row& row) { return row.id != 0; });
  return rows;
}

void print_rows(const std::vector<Row>& rows, bool descriptions) {
  fmt::print("   Id  Name\n  ---  ----------------\n");
  for (const auto& row : rows) {
    const std::string id = row.id == 0 ? "-" : std::to_string(row.id);
    if (descriptions && !row.description.empty())
      fmt::print("  {:>3}  {:<28} {}\n", id, row.name, row.description);
    else
      fmt::print("  {:>3}  {}\n", id, row.name);
  }
}

void print_json(const std::vector<Row>& rows) {
  using Json = pi::Json;
  Json events = Json::array();
  for (const auto& row : rows) {
    Json event = Json::object();
    event["id"] = row.id == 0 ? Json() : Json(row.id);
    event["name"] = row.name;
    event["group"] = row.group;
    event["description"] = row.description;
    events.push_back(std::move(event));
  }
  fmt::print("{}\n",
             Json{{"hardware_counters", GetNumberOfSimultaneousPerfCounterEventsSupported()},
                  {"events", events}}
                 .dump(2));
}

}  // namespace

int list_events(Listing listing, bool json) {
  const auto rows = working_events(listing);
  if (rows.empty()) {
    pi_event event{};
    event.size = sizeof event;
    const bool has_reason = PiCounterEvent(0, &event) == PU_SUCCESS && *event.reason != '\0';
    cli::error(fmt::format("This user cannot {} any event on this machine{}{}.",
                           listing == Listing::sampling ? "sample" : "count",
                           has_reason ? ": " : "", has_reason ? event.reason : ""));
    return cli::exit_failure;
  }
  json ? print_json(rows) : print_rows(rows, listing == Listing::descriptions);
  if (GetNumberOfSimultaneousPerfCounterEventsSupported() == 0)
    cli::hint(
        "there are no hardware counters: the processor has none, or this virtual machine has none. "
        "'swtrace event list' shows for each event why it does not work.");
  return cli::exit_good;
}

}  // namespace pi::mpevt
