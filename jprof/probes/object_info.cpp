// SPDX-License-Identifier: MIT
// OBJECTINFO: the objects that each thread allocates, and their bytes, as metrics of call flow.
#include "probes/object_info.h"

#include <thread_tree.h>

#include "probes/own_tree.h"

namespace pi::jprof {
namespace {

thread_local uint64_t objects __attribute__((tls_model("initial-exec")));
thread_local uint64_t bytes_of_objects __attribute__((tls_model("initial-exec")));

int read_counts(uint64_t* values) {
  values[0] = objects;
  values[1] = bytes_of_objects;
  return 0;
}

}  // namespace

void ObjectInfo::add_capability(jvmtiCapabilities& capabilities) {
  capabilities.can_generate_sampled_object_alloc_events = 1;
}

bool ObjectInfo::prepare(jvmtiEnv* jvmti) {
  return jvmti->SetHeapSamplingInterval(0) == JVMTI_ERROR_NONE;
}

callflow::Meter ObjectInfo::meter() {
  callflow::Meter meter;
  meter.kind = callflow::MeterKind::reader;
  meter.metrics = {{"AO", "allocated objects", true}, {"AB", "allocated bytes", true}};
  meter.reader = read_counts;
  return meter;
}

void ObjectInfo::on_allocation(jlong bytes) {
  if (own_tree == &callflow::ignored_thread) return;
  ++objects;
  bytes_of_objects += static_cast<uint64_t>(bytes);
}

void ObjectInfo::begin(jvmtiEnv* jvmti) {
  (void)jvmti->ForceGarbageCollection();
}

}  // namespace pi::jprof
