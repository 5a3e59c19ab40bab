// SPDX-License-Identifier: MIT
// The one place that knows what the name of an event means on this machine.
#ifndef PI_PERFUTIL_EVENTS_H
#define PI_PERFUTIL_EVENTS_H

#include <string>
#include <string_view>
#include <vector>

#include <pi/result.h>

#include "source/sampling.h"

namespace pi::perfutil {

// Where the kernel tells of its counters; tests point elsewhere.
inline constexpr char event_devices[] = "/sys/bus/event_source/devices";

// name, in this order: a number of the original (101 to 195) or one of its names; a generic one of
// the kernel (cpu-cycles, page-faults, L1-dcache-load-misses ...); rHEX, a raw number; PMU/EVENT/
// or PMU/TERM=VALUE,.../ as perf has it, or EVENT alone, from devices; one of libpfm4's names, with
// its unit masks and modifiers. Period and flags of the result are left alone.
// PU_ERROR_INVALID_METRIC: nobody knows the name, or it is malformed; PU_ERROR_EVENT_NOT_SUPPORTED:
// an event of the original that the kernel has no counterpart of.
Result<TickEvent> resolve_event(const std::string& name,
                                const std::string& devices = event_devices);

// PU_ERROR_INVALID_PRIVILEGE when priv is none of PI_PRIV_*.
Status check_privilege(int priv);

// Has the event counted where priv (PI_PRIV_*) says, and its own modifiers too.
// PU_ERROR_INVALID_PRIVILEGE: priv is none, or nothing is left.
Status limit_to(TickEvent& event, int priv);

// Whether name is one that does not depend on the machine: of the original's, the kernel's generic
// ones, or rHEX.
bool is_kernel_name(const std::string& name);

// Each for one source of names; no value where the name is not of that form.
Result<TickEvent> resolve_device_event(std::string_view name, const std::string& devices);
Result<TickEvent> resolve_library_event(const std::string& name);

// 0 when the kernel lets us sample this event, of ourselves and in user mode at least; else why
// not.
int try_event(const TickEvent& event);

// An event that exists by name.
struct NamedEvent {
  int id = 0;         // of the original, else 0
  std::string group;  // whose name it is
  std::string name;
  std::string meaning;  // another name of it, or a sentence; may be empty
};

// All there are, group by group.
std::vector<NamedEvent> list_events(const std::string& devices = event_devices);
std::vector<NamedEvent> list_device_events(const std::string& devices);
std::vector<NamedEvent> list_library_events();

// The CPUs, in order, on which events of this type are counted for all, where the device says so
// (counters that a package shares) or has no others (one kind of cores); empty: on every CPU.
std::vector<uint32_t> device_cpus(uint32_t type, const std::string& devices);

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_EVENTS_H
