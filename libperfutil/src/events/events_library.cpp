// SPDX-License-Identifier: MIT
// Events by the names that libpfm4 knows for this machine's processor.
#include <linux/perf_event.h>
#include <perfmon/pfmlib.h>
#include <perfmon/pfmlib_perf_event.h>

#include <fmt/format.h>

#include "events.h"
#include "perfutil.h"

namespace pi::perfutil {
namespace {

// The library keeps its state for the whole process and is initialised once.
bool library_ready() {
  static const bool ready = ::pfm_initialize() == PFM_SUCCESS;
  return ready;
}

// Excludes the kernel's generic events, which event_names.h has already.
bool is_processors(const pfm_pmu_info_t& pmu) {
  return pmu.is_present && pmu.type != PFM_PMU_TYPE_UNKNOWN && pmu.type != PFM_PMU_TYPE_OS_GENERIC;
}

}  // namespace

Result<TickEvent> resolve_library_event(const std::string& name) {
  perf_event_attr attr{};
  attr.size = sizeof attr;
  pfm_perf_encode_arg_t argument{};
  argument.size = sizeof argument;
  argument.attr = &attr;
  const int result = library_ready()
                         ? ::pfm_get_os_event_encoding(name.c_str(), PFM_PLM0 | PFM_PLM3,
                                                       PFM_OS_PERF_EVENT, &argument)
                         : PFM_ERR_NOINIT;
  if (result != PFM_SUCCESS)
    return Error{
        PU_ERROR_INVALID_METRIC,
        fmt::format(
            "There is no event '{}': it is not a classic name, the kernel has no such name, "
            "and libpfm4 reports: {}. 'swtrace event list' shows the names.",
            name, ::pfm_strerror(result))};
  TickEvent event;
  event.type = attr.type;
  event.config = attr.config;
  event.config1 = attr.config1;
  event.config2 = attr.config2;
  if (attr.exclude_kernel) event.flags |= PITRACE_EVENT_NO_KERNEL;
  if (attr.exclude_user) event.flags |= PITRACE_EVENT_NO_USER;
  return event;
}

std::vector<NamedEvent> list_library_events() {
  std::vector<NamedEvent> list;
  if (!library_ready()) return list;
  for (int number = PFM_PMU_NONE; number < PFM_PMU_MAX; ++number) {
    pfm_pmu_info_t pmu{};
    pmu.size = sizeof pmu;
    if (::pfm_get_pmu_info(static_cast<pfm_pmu_t>(number), &pmu) != PFM_SUCCESS ||
        !is_processors(pmu))
      continue;
    for (int index = pmu.first_event; index != -1; index = ::pfm_get_event_next(index)) {
      pfm_event_info_t event{};
      event.size = sizeof event;
      if (::pfm_get_event_info(index, PFM_OS_PERF_EVENT, &event) == PFM_SUCCESS)
        list.push_back({0, "libpfm4", fmt::format("{}::{}", pmu.name, event.name),
                        event.desc ? event.desc : ""});
    }
  }
  return list;
}

}  // namespace pi::perfutil
