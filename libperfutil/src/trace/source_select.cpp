// SPDX-License-Identifier: MIT
// Chooses between the module and perf, and gives the reason.
#include "source_select.h"

#include <fmt/format.h>

#include "driver/driver_collector.h"
#include "perf/perf_collector.h"

namespace pi::perfutil {
namespace {

Result<SelectedSource> use_perf(const TraceConfig& config, std::string note) {
  auto perf = PerfCollector::create(config);
  if (!perf) return perf.error();
  return SelectedSource{std::move(*perf), std::move(note)};
}

}  // namespace

Result<SelectedSource> select_source(const TraceConfig& config, std::unique_ptr<Device> device) {
  if (config.source == PI_SOURCE_PERF) return use_perf(config, "");
  auto driver = DriverCollector::create(config, std::move(device));
  if (driver) return SelectedSource{std::move(*driver), ""};
  const Error refusal = driver.error();
  const bool missing = refusal.code == PU_ERROR_DRIVER_NOT_LOADED;
  const bool denied = refusal.code == PU_ERROR_ACCESS_DENIED;
  const bool foreign = refusal.code == PU_ERROR_NOT_SUPPORTED;
  if (config.source == PI_SOURCE_DRIVER || !(missing || denied || foreign)) return refusal;
  auto perf =
      use_perf(config, missing ? "" : "perf is used instead of the module. " + refusal.message);
  if (perf || missing) return perf;
  // Both are refused: the user needs both reasons.
  return Error{perf.error().code, fmt::format("{} {}", perf.error().message, refusal.message)};
}

}  // namespace pi::perfutil
