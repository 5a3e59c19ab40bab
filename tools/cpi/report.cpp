// SPDX-License-Identifier: MIT
// Cycles per instruction as text and as JSON.
#include "report.h"

#include <fmt/format.h>

namespace pi::cpi {
namespace {

using Json = pi::Json;

double seconds(uint64_t ns) {
  return static_cast<double>(ns) / 1e9;
}

// Cycles per instruction are never 0: 0 means that there was no instruction.
std::string ratio_text(double ratio) {
  return ratio == 0 ? "-" : fmt::format("{:.3f}", ratio);
}

Json ratio_json(double ratio) {
  return ratio == 0 ? Json() : Json(ratio);
}

std::string row(const std::string& label, const pi_cpi& cpi) {
  return fmt::format(" {:>4} {:>18} {:>18} {:>18} {:>18} {:>9} {:>9} {:>9}\n", label,
                     cpi.instructions, cpi.cycles, cpi.busy_cycles, cpi.active_cycles,
                     ratio_text(cpi.raw_cpi), ratio_text(cpi.scaled_cpi),
                     ratio_text(cpi.active_cpi));
}

Json cpu_json(const pi_cpi& cpi) {
  return {{"counted_ns", cpi.counted_ns},
          {"instructions", cpi.instructions},
          {"cycles", cpi.cycles},
          {"busy_cycles", cpi.busy_cycles},
          {"active_cycles", cpi.active_cycles},
          {"raw_cpi", ratio_json(cpi.raw_cpi)},
          {"scaled_cpi", ratio_json(cpi.scaled_cpi)},
          {"cpi", ratio_json(cpi.active_cpi)}};
}

}  // namespace

std::string system_text(const cpi_data& data, bool system_only) {
  std::string text = fmt::format(" CPI of all CPUs, {:.3f} seconds\n", seconds(data.elapsed_ns));
  text +=
      fmt::format(" {:>4} {:>18} {:>18} {:>18} {:>18} {:>9} {:>9} {:>9}\n", "CPU", "Instructions",
                  "Cycles", "Busy cycles", "Active cycles", "Raw CPI", "Scaled", "CPI");
  for (int i = 0; !system_only && i < data.cpu_count; ++i)
    text += row(std::to_string(data.cpus[i].cpu), data.cpus[i]);
  return text + row("All", data.system);
}

Json system_json(const cpi_data& data, bool system_only) {
  Json report{{"elapsed_ns", data.elapsed_ns}};
  if (!system_only) {
    report["cpus"] = Json::array();
    for (int i = 0; i < data.cpu_count; ++i) {
      Json entry{{"cpu", data.cpus[i].cpu}};
      entry.update(cpu_json(data.cpus[i]));
      report["cpus"].push_back(std::move(entry));
    }
  }
  report["system"] = cpu_json(data.system);
  return report;
}

std::string command_text(const cpi_data& data, const std::string& name) {
  const pi_cpi& cpi = data.thread;
  return fmt::format(
      " CPI of {} and all that it started\n"
      " Elapsed seconds : {:.3f}\n"
      " CPU seconds     : {:.3f}\n"
      " Instructions    : {}\n"
      " Active cycles   : {}\n"
      " CPI             : {}\n",
      name, seconds(data.elapsed_ns), seconds(cpi.counted_ns), cpi.instructions, cpi.active_cycles,
      ratio_text(cpi.active_cpi));
}

Json command_json(const cpi_data& data, const std::string& name) {
  const pi_cpi& cpi = data.thread;
  return {{"command", name},
          {"elapsed_ns", data.elapsed_ns},
          {"counted_ns", cpi.counted_ns},
          {"instructions", cpi.instructions},
          {"active_cycles", cpi.active_cycles},
          {"cpi", ratio_json(cpi.active_cpi)}};
}

}  // namespace pi::cpi
