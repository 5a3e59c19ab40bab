// SPDX-License-Identifier: MIT
// SCS=EVENT: which occurrences of the JVM's events are sampled, and what a sample counts.
#include "scs/occurrences.h"

#include <algorithm>
#include <cmath>

#include "probes/object_info.h"

namespace pi::jprof {
namespace {

// How many multiples of a step are passed by adding to a sum.
int64_t steps(std::atomic<uint64_t>& sum, uint64_t added, uint64_t step) {
  const uint64_t before = sum.fetch_add(added, std::memory_order_relaxed);
  return static_cast<int64_t>((before + added) / step - before / step);
}

// The JVM's sampler reports an object of B bytes with the probability 1 - exp(-B / step), once.
// So that the shares of large objects are right, they count for as many samples as they would be.
int64_t samples_of(uint64_t bytes, uint64_t step) {
  const double share = static_cast<double>(bytes) / static_cast<double>(step);
  return std::max<int64_t>(1, std::llround(share / -std::expm1(-share)));
}

// "ALLOC_BYTE", or "ALLOC_BYTE_SAMPLES" if not every one is counted.
std::string column(const char* name, uint64_t step) {
  return std::string(name) + (step > 1 ? "_SAMPLES" : "");
}

std::string each(uint64_t step, const std::string& what) {
  return step > 1 ? "one for " + std::to_string(step) + " " + what : "each of the " + what;
}

const char* name_of(SampleEvent event) {
  switch (event) {
    case SampleEvent::monitor_wait:
      return "waits for monitors (MONITOR_WAIT)";
    case SampleEvent::monitor_waited:
      return "ends of waits for monitors (MONITOR_WAITED)";
    case SampleEvent::contended_enter:
      return "gets of monitors that begin to be blocked (MONITOR_CONTENDED_ENTER)";
    case SampleEvent::contended_entered:
      return "gets of monitors that were blocked (MONITOR_CONTENDED_ENTERED)";
    default:
      return "classes that are loaded (CLASS_LOAD)";
  }
}

}  // namespace

Occurrences::Occurrences(const SamplingOptions& options) : options_(options) {}

void Occurrences::add_capability(const SamplingOptions& options, jvmtiCapabilities& capabilities) {
  if (options.is_allocation())
    ObjectInfo::add_capability(capabilities);
  else if (options.event != SampleEvent::class_load)
    capabilities.can_generate_monitor_events = 1;
}

jvmtiEvent Occurrences::event() const {
  switch (options_.event) {
    case SampleEvent::monitor_wait:
      return JVMTI_EVENT_MONITOR_WAIT;
    case SampleEvent::monitor_waited:
      return JVMTI_EVENT_MONITOR_WAITED;
    case SampleEvent::contended_enter:
      return JVMTI_EVENT_MONITOR_CONTENDED_ENTER;
    case SampleEvent::contended_entered:
      return JVMTI_EVENT_MONITOR_CONTENDED_ENTERED;
    case SampleEvent::class_load:
      return JVMTI_EVENT_CLASS_LOAD;
    default:
      return JVMTI_EVENT_SAMPLED_OBJECT_ALLOC;
  }
}

// All allocations are to be reported.
bool Occurrences::counts_all() const {
  return options_.event == SampleEvent::allocations ||
         (options_.event == SampleEvent::allocated_bytes && options_.every == 1);
}

bool Occurrences::prepare(jvmtiEnv* jvmti) const {
  if (!options_.is_allocation()) return true;
  if (counts_all()) return ObjectInfo::prepare(jvmti);
  return jvmti->SetHeapSamplingInterval(static_cast<jint>(options_.every)) == JVMTI_ERROR_NONE;
}

void Occurrences::begin(jvmtiEnv* jvmti) const {
  if (counts_all()) ObjectInfo::begin(jvmti);
}

std::vector<callflow::Metric> Occurrences::metrics() const {
  switch (options_.event) {
    case SampleEvent::allocated_bytes:
      return {{column("ALLOC_BYTE", options_.every), options_.every > 1 ? "samples" : "bytes"}};
    case SampleEvent::allocations:
      return {{column("AO", options_.every), options_.every > 1 ? "samples" : "objects"},
              {column("AB", options_.every_bytes), options_.every_bytes > 1 ? "samples" : "bytes"}};
    case SampleEvent::class_load:
      return {{column("CLASS_LOAD", options_.every), options_.every > 1 ? "samples" : "classes"}};
    default:
      return {{column("EVENT", options_.every), options_.every > 1 ? "samples" : "events"}};
  }
}

std::string Occurrences::description() const {
  switch (options_.event) {
    case SampleEvent::allocated_bytes:
      return each(options_.every, "bytes of allocated objects (ALLOCATED_BYTES)") +
             (options_.every > 1 ? ", on average, by the sampler of the JVM" : "");
    case SampleEvent::allocations:
      return each(options_.every, "allocated objects") + " and " +
             each(options_.every_bytes, "bytes of them (ALLOCATIONS)");
    default:
      return each(options_.every, name_of(options_.event));
  }
}

SampleValues Occurrences::next(uint64_t bytes) {
  if (options_.event == SampleEvent::allocated_bytes)
    return {options_.every == 1 ? static_cast<int64_t>(bytes) : samples_of(bytes, options_.every)};
  SampleValues values{steps(occurrences_, 1, options_.every)};
  if (options_.event == SampleEvent::allocations)
    values[1] = steps(bytes_, bytes, options_.every_bytes);
  return values;
}

}  // namespace pi::jprof
