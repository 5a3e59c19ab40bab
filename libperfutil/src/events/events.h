// SPDX-License-Identifier: MIT
// Defines what the name of an event means on this machine.
#ifndef PI_PERFUTIL_EVENTS_H
#define PI_PERFUTIL_EVENTS_H

#include <string>
#include <string_view>
#include <vector>

#include <pi/result.h>

#include "source/sampling.h"

namespace pi::perfutil {

// Where the kernel describes its counters; tests use another path.
inline constexpr char event_devices[] = "/sys/bus/event_source/devices";

// name is tried in this order: a classic event number (101 to 195) or name; a generic event of the
// kernel (cpu-cycles, page-faults, L1-dcache-load-misses ...); rHEX, a raw number; PMU/EVENT/ or
// PMU/TERM=VALUE,.../ as in perf, or EVENT alone, from devices; a name of libpfm4, with its unit
// masks and modifiers. The period of the result is 0; only libpfm4's modifiers set flags.
// PU_ERROR_INVALID_METRIC: the name is unknown or malformed; PU_ERROR_EVENT_NOT_SUPPORTED: a
// classic event that has no counterpart in the kernel.
Result<TickEvent> resolve_event(const std::string& name,
                                const std::string& devices = event_devices);

// PU_ERROR_INVALID_PRIVILEGE when priv is none of PI_PRIV_*.
Status check_privilege(int priv);

// Limits the event to the modes of priv (PI_PRIV_*), besides its own modifiers.
// PU_ERROR_INVALID_PRIVILEGE: priv is invalid, or no mode is left.
Status limit_to(TickEvent& event, int priv);

// The number of events for each tick if the user gives none: 1 for software events, which are rare,
// and PI_EVENT_PERIOD_DEFAULT for hardware events and for the clocks, which count nanoseconds.
uint64_t default_period(const TickEvent& event);

// Whether the name does not depend on the machine: a classic one, a generic one of the kernel, or
// rHEX.
bool is_kernel_name(const std::string& name);

// Each resolves names of one source, and fails for a name that is not of that form.
Result<TickEvent> resolve_device_event(std::string_view name, const std::string& devices);
Result<TickEvent> resolve_library_event(const std::string& name);

// 0 when the kernel lets this process sample the event of itself, in user mode at least; else the
// error number.
int try_event(const TickEvent& event);

// An event that exists by name.
struct NamedEvent {
  int id = 0;         // the classic number, else 0
  std::string group;  // source of the name: software, hardware, original, device, libpfm4
  std::string name;
  std::string meaning;  // another name of it, or a sentence; may be empty
};

// All events of this machine, by group.
std::vector<NamedEvent> list_events(const std::string& devices = event_devices);
std::vector<NamedEvent> list_device_events(const std::string& devices);
std::vector<NamedEvent> list_library_events();

// The CPUs, in ascending order, on which events of this type are counted, where the device lists
// them: counters that a package shares, or one kind of cores. Empty: every CPU.
std::vector<uint32_t> device_cpus(uint32_t type, const std::string& devices);

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_EVENTS_H
