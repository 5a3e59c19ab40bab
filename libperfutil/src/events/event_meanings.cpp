// SPDX-License-Identifier: MIT
// What the kernel's generic events count, in a sentence.
#include <cstring>

#include "event_names.h"

namespace pi::perfutil {
namespace {

struct Meaning {
  const char* name;
  const char* text;
};

constexpr Meaning meanings[] = {
    {"cpu-clock", "nanoseconds of the CPU's clock"},
    {"task-clock", "nanoseconds that tasks ran"},
    {"page-faults", "page faults"},
    {"minor-faults", "page faults that needed no reading from a disk"},
    {"major-faults", "page faults that needed reading from a disk"},
    {"context-switches", "switches from one task to another"},
    {"cpu-migrations", "tasks that went on on another CPU"},
    {"alignment-faults", "accesses to memory that the kernel had to align"},
    {"emulation-faults", "instructions that the kernel had to emulate"},
    {"cgroup-switches", "switches to a task of another control group"},
    {"cpu-cycles", "cycles of the processor while it is not halted"},
    {"instructions", "instructions completed"},
    {"ref-cycles", "cycles at a constant frequency while the processor is not halted"},
    {"branch-instructions", "branches completed"},
    {"branch-misses", "branches predicted wrongly"},
    {"cache-references", "accesses to the last-level cache"},
    {"cache-misses", "accesses that the last-level cache could not serve"},
    {"bus-cycles", "cycles of the bus"},
    {"stalled-cycles-frontend", "cycles in which no instruction came to be executed"},
    {"stalled-cycles-backend", "cycles in which no instruction could go on"},
    {"L1-dcache-loads", "loads from the first-level data cache"},
    {"L1-dcache-load-misses", "loads that the first-level data cache could not serve"},
    {"L1-dcache-stores", "stores to the first-level data cache"},
    {"L1-dcache-store-misses", "stores that missed the first-level data cache"},
    {"L1-dcache-prefetches", "prefetches into the first-level data cache"},
    {"L1-dcache-prefetch-misses", "prefetches that the first-level data cache did not have"},
    {"L1-icache-loads", "fetches from the first-level instruction cache"},
    {"L1-icache-load-misses", "fetches that the first-level instruction cache could not serve"},
    {"L1-icache-prefetches", "prefetches into the first-level instruction cache"},
    {"L1-icache-prefetch-misses", "prefetches that the first-level instruction cache did not have"},
    {"LLC-loads", "loads from the last-level cache"},
    {"LLC-load-misses", "loads that the last-level cache could not serve"},
    {"LLC-stores", "stores to the last-level cache"},
    {"LLC-store-misses", "stores that missed the last-level cache"},
    {"LLC-prefetches", "prefetches into the last-level cache"},
    {"LLC-prefetch-misses", "prefetches that the last-level cache did not have"},
    {"dTLB-loads", "loads translated by the data TLB"},
    {"dTLB-load-misses", "loads that the data TLB could not translate"},
    {"dTLB-stores", "stores translated by the data TLB"},
    {"dTLB-store-misses", "stores that the data TLB could not translate"},
    {"dTLB-prefetches", "prefetches translated by the data TLB"},
    {"dTLB-prefetch-misses", "prefetches that the data TLB could not translate"},
    {"iTLB-loads", "fetches translated by the instruction TLB"},
    {"iTLB-load-misses", "fetches that the instruction TLB could not translate"},
    {"branch-loads", "branches looked up by the branch predictor"},
    {"branch-load-misses", "branches that the branch predictor did not know"},
    {"node-loads", "loads from memory"},
    {"node-load-misses", "loads from the memory of another node"},
    {"node-stores", "stores to memory"},
    {"node-store-misses", "stores to the memory of another node"},
    {"node-prefetches", "prefetches from memory"},
    {"node-prefetch-misses", "prefetches from the memory of another node"},
};

}  // namespace

const char* generic_meaning(const char* name) {
  for (const auto& each : meanings)
    if (std::strcmp(each.name, name) == 0) return each.text;
  return "";
}

}  // namespace pi::perfutil
