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
    {"minor-faults", "page faults without a disk read"},
    {"major-faults", "page faults with a disk read"},
    {"context-switches", "switches from one task to another"},
    {"cpu-migrations", "tasks that moved to another CPU"},
    {"alignment-faults", "unaligned memory accesses that the kernel handled"},
    {"emulation-faults", "instructions that the kernel had to emulate"},
    {"cgroup-switches", "switches to a task of another control group"},
    {"cpu-cycles", "cycles of the processor while it is not halted"},
    {"instructions", "instructions completed"},
    {"ref-cycles", "cycles at a constant frequency while the processor is not halted"},
    {"branch-instructions", "branches completed"},
    {"branch-misses", "mispredicted branches"},
    {"cache-references", "accesses to the last-level cache"},
    {"cache-misses", "accesses that missed the last-level cache"},
    {"bus-cycles", "cycles of the bus"},
    {"stalled-cycles-frontend", "cycles in which no instruction was ready to execute"},
    {"stalled-cycles-backend", "cycles in which no instruction could continue"},
    {"L1-dcache-loads", "loads from the first-level data cache"},
    {"L1-dcache-load-misses", "loads that missed the first-level data cache"},
    {"L1-dcache-stores", "stores to the first-level data cache"},
    {"L1-dcache-store-misses", "stores that missed the first-level data cache"},
    {"L1-dcache-prefetches", "prefetches into the first-level data cache"},
    {"L1-dcache-prefetch-misses", "prefetches that missed the first-level data cache"},
    {"L1-icache-loads", "fetches from the first-level instruction cache"},
    {"L1-icache-load-misses", "fetches that missed the first-level instruction cache"},
    {"L1-icache-prefetches", "prefetches into the first-level instruction cache"},
    {"L1-icache-prefetch-misses", "prefetches that missed the first-level instruction cache"},
    {"LLC-loads", "loads from the last-level cache"},
    {"LLC-load-misses", "loads that missed the last-level cache"},
    {"LLC-stores", "stores to the last-level cache"},
    {"LLC-store-misses", "stores that missed the last-level cache"},
    {"LLC-prefetches", "prefetches into the last-level cache"},
    {"LLC-prefetch-misses", "prefetches that missed the last-level cache"},
    {"dTLB-loads", "loads translated by the data TLB"},
    {"dTLB-load-misses", "loads that missed the data TLB"},
    {"dTLB-stores", "stores translated by the data TLB"},
    {"dTLB-store-misses", "stores that missed the data TLB"},
    {"dTLB-prefetches", "prefetches translated by the data TLB"},
    {"dTLB-prefetch-misses", "prefetches that missed the data TLB"},
    {"iTLB-loads", "fetches translated by the instruction TLB"},
    {"iTLB-load-misses", "fetches that missed the instruction TLB"},
    {"branch-loads", "branches looked up by the branch predictor"},
    {"branch-load-misses", "branches that missed the branch predictor"},
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
