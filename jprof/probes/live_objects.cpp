// SPDX-License-Identifier: MIT
// LIVEOBJECTS: which of the objects that a recording counted are still in use.
#include "probes/live_objects.h"

#include <unordered_map>
#include <vector>

#include "probes/own_tree.h"
#include "return_codes.h"

namespace pi::jprof {
namespace {

// A tag: the number of the recording, and below it that of the node.
constexpr unsigned node_bits = 24;
constexpr uint64_t node_mask = (uint64_t{1} << node_bits) - 1;
static_assert(callflow::Limits{}.nodes <= node_mask);

struct InUse {
  int64_t objects = 0;
  int64_t bytes = 0;
};

// By recording, then by node.
using Counts = std::unordered_map<uint64_t, std::vector<InUse>>;

// All is allocated before the JVM walks through its heap, at a safepoint.
Counts counts_for(const callflow::Snapshot& snapshot) {
  Counts counts;
  for (const auto& thread : snapshot.threads) {
    auto& nodes = counts[thread.recording];
    for (const auto& node : thread.nodes)
      if (node.number >= nodes.size()) nodes.resize(node.number + size_t{1});
  }
  return counts;
}

void count_object(Counts& counts, uint64_t place, jlong size) {
  const auto nodes = counts.find(place >> node_bits);
  const uint64_t node = place & node_mask;
  if (nodes == counts.end() || node >= nodes->second.size()) return;
  ++nodes->second[node].objects;
  nodes->second[node].bytes += size;
}

jint JNICALL count_tagged(jlong, jlong size, jlong* tag, jint, void* counts) {
  count_object(*static_cast<Counts*>(counts), static_cast<uint64_t>(*tag), size);
  return 0;
}

// Of a tag whose object was counted: several references may lead to it.
constexpr uint64_t is_counted = uint64_t{1} << 62;

jint JNICALL count_referenced(jvmtiHeapReferenceKind, const jvmtiHeapReferenceInfo*, jlong, jlong,
                              jlong size, jlong* tag, jlong*, jint, void* counts) {
  const auto place = static_cast<uint64_t>(*tag);
  if ((place & is_counted) == 0) {
    count_object(*static_cast<Counts*>(counts), place, size);
    *tag = static_cast<jlong>(place | is_counted);
  }
  return JVMTI_VISIT_OBJECTS;
}

jint JNICALL remove_tag(jlong, jlong, jlong* tag, jint, void*) {
  *tag = 0;
  return 0;
}

bool for_each_tagged(jvmtiEnv* jvmti, jvmtiHeapIterationCallback visit, const void* data) {
  jvmtiHeapCallbacks callbacks{};
  callbacks.heap_iteration_callback = visit;
  return jvmti->IterateThroughHeap(JVMTI_HEAP_FILTER_UNTAGGED, nullptr, &callbacks, data) ==
         JVMTI_ERROR_NONE;
}

bool for_each_referenced(jvmtiEnv* jvmti, jvmtiHeapReferenceCallback visit, const void* data) {
  jvmtiHeapCallbacks callbacks{};
  callbacks.heap_reference_callback = visit;
  return jvmti->FollowReferences(JVMTI_HEAP_FILTER_UNTAGGED, nullptr, nullptr, &callbacks, data) ==
         JVMTI_ERROR_NONE;
}

}  // namespace

void LiveObjects::add_capability(jvmtiCapabilities& capabilities) {
  capabilities.can_tag_objects = 1;
}

void LiveObjects::mark(jvmtiEnv* jvmti, jobject object) noexcept {
  const auto place = callflow::running_node(own_tree);
  if (place.recording == 0) return;
  const auto tag = static_cast<jlong>(place.recording << node_bits | place.node);
  if (jvmti->SetTag(object, tag) != JVMTI_ERROR_NONE) ++unmarked_;
}

Status LiveObjects::count(jvmtiEnv* jvmti, callflow::Snapshot& snapshot, bool at_end) {
  const size_t column = snapshot.metrics.size();
  Counts counts = counts_for(snapshot);
  const bool counted = at_end ? for_each_referenced(jvmti, count_referenced, &counts)
                              : for_each_tagged(jvmti, count_tagged, &counts);
  if (!counted) return Error{no_logs, "the JVM cannot list the objects that are in use"};
  snapshot.metrics.push_back({"LO", "objects that are in use", true});
  snapshot.metrics.push_back({"LB", "bytes that are in use", true});
  snapshot.bounds.resize(snapshot.metrics.size());
  for (auto& thread : snapshot.threads)
    for (auto& node : thread.nodes) {
      const InUse& in_use = counts[thread.recording][node.number];
      node.base[column] = in_use.objects;
      node.base[column + 1] = in_use.bytes;
    }
  return {};
}

void LiveObjects::forget(jvmtiEnv* jvmti) {
  unmarked_ = 0;
  (void)for_each_tagged(jvmti, remove_tag, nullptr);
}

}  // namespace pi::jprof
