// SPDX-License-Identifier: MIT
// The names of events that do not depend on the machine: the classic ones of Performance Inspector,
// and the kernel's generic ones.
#include "event_names.h"

#include <linux/perf_event.h>

namespace pi::perfutil {
namespace {

constexpr GenericEvent software(const char* name, uint64_t config, const char* other = nullptr) {
  return {name, other, PERF_TYPE_SOFTWARE, config};
}

constexpr GenericEvent hardware(const char* name, uint64_t config, const char* other = nullptr) {
  return {name, other, PERF_TYPE_HARDWARE, config};
}

constexpr GenericEvent cache(const char* name, uint64_t which, uint64_t operation,
                             uint64_t result) {
  return {name, nullptr, PERF_TYPE_HW_CACHE, which | operation << 8 | result << 16};
}

constexpr uint64_t l1d = PERF_COUNT_HW_CACHE_L1D, l1i = PERF_COUNT_HW_CACHE_L1I,
                   last_level = PERF_COUNT_HW_CACHE_LL, data_tlb = PERF_COUNT_HW_CACHE_DTLB,
                   instruction_tlb = PERF_COUNT_HW_CACHE_ITLB, branch = PERF_COUNT_HW_CACHE_BPU,
                   node = PERF_COUNT_HW_CACHE_NODE;
constexpr uint64_t load = PERF_COUNT_HW_CACHE_OP_READ, store = PERF_COUNT_HW_CACHE_OP_WRITE,
                   prefetch = PERF_COUNT_HW_CACHE_OP_PREFETCH,
                   access = PERF_COUNT_HW_CACHE_RESULT_ACCESS,
                   miss = PERF_COUNT_HW_CACHE_RESULT_MISS;

// In the order of their numbers.
constexpr OriginalEvent originals[] = {
    {"NONHALTED_CYCLES", "cpu-cycles"},
    {"INSTR", "instructions"},
    {"INSTR_COMPLETED", "instructions"},
    {"UOPS", nullptr},
    {"ALL_UOPS", nullptr},
    {"BRANCH", "branch-instructions"},
    {"MISPRED_BRANCH", "branch-misses"},
    {"CALLS", nullptr},
    {"ITLB_MISS", "iTLB-load-misses"},
    {"TC_FLUSH", nullptr},
    {"TC_DELIVER_LP0", nullptr},
    {"TC_DELIVER_LP1", nullptr},
    {"TC_MISS", nullptr},
    {"L2_READ_MISS", "LLC-load-misses"},
    {"L2_READ_REFS", "LLC-loads"},
    {"L3_READ_MISS", "LLC-load-misses"},
    {"L3_READ_REFS", "LLC-loads"},
    {"LOADS", "node-loads"},
    {"STORES", "node-stores"},
    {"MACHINE_CLEAR", nullptr},
    {"MACHINE_CLEAR_MO", nullptr},
    {"MACHINE_CLEAR_SM", nullptr},
    {"BRANCH_TAKEN", nullptr},
    {"DATA_MEM_REFS", nullptr},
    {"MISALIGN_MEM_REF", "alignment-faults"},
    {"PROC_BUS_ACCESS", nullptr},
    {"PROC_NONPREFETCH_BUS_ACCESS", nullptr},
    {"PROC_READS", nullptr},
    {"PROC_WRITES", nullptr},
    {"PROC_READS_NONPREFETCH", nullptr},
    {"PROC_BUS_ACCESS_UW", nullptr},
    {"PROC_BUS_READS_UW", nullptr},
    {"PROC_BUS_WRITES_UW", nullptr},
    {"PROC_READS_NONPREFETCH_UW", nullptr},
    {"L1ITLB_MISS_L2ITLB_HIT", nullptr},
    {"L1ITLB_MISS_L2ITLB_MISS", nullptr},
    {"DC_MISS", "L1-dcache-load-misses"},
    {"DC_ACCESS", "L1-dcache-loads"},
    {"IC_MISS", "L1-icache-load-misses"},
    {"IC_FETCH", "L1-icache-loads"},
    {"DTLB_MISS", "dTLB-load-misses"},
    {"DTLB_MISS_LD", "dTLB-load-misses"},
    {"DTLB_MISS_ST", "dTLB-store-misses"},
    {"L1I_READS", "L1-icache-loads"},
    {"L1I_MISSES", "L1-icache-load-misses"},
    {"L2_LINES_IN", nullptr},
    {"L2_LD", nullptr},
    {"L2_ST", nullptr},
    {"L2_REQS", nullptr},
    {"CPU_CLK_UNHALTED_REF", "ref-cycles"},
    {"INSTR_LOADS", nullptr},
    {"INSTR_STORES", nullptr},
    {"INSTR_OTHER", nullptr},
    {"L2_M_LINES_IN", nullptr},
    {"L2_LINES_OUT", nullptr},
    {"L2_M_LINES_OUT", nullptr},
    {"L1D_CACHE_LD", "L1-dcache-loads"},
    {"L1D_CACHE_ST", "L1-dcache-stores"},
    {"L1D_ALL_REF", nullptr},
    {"L1D_ALL_CACHE_REF", nullptr},
    {"L1D_REPL", nullptr},
    {"L1D_M_REPL", nullptr},
    {"L1D_SPLIT_LD", nullptr},
    {"L1D_SPLIT_ST", nullptr},
    {"ITLB_FLUSH", nullptr},
    {"EXT_SNOOP_HITM_THIS_AGENT", nullptr},
    {"EXT_SNOOP_HITM_ALL_AGENTS", nullptr},
    {"L2_REQS_LD_MISS", nullptr},
    {"L2_REQS_RFO_MISS", nullptr},
    {"L2_REQS_IFETCH_MISS", nullptr},
    {"L2_REQS_PREFETCH_MISS", nullptr},
    {"L2_REQS_MISS", nullptr},
    {"L2_REQS_DATA", nullptr},
    {"L1D_WB_L2", nullptr},
    {"L3_LAT_CACHE_MISS", nullptr},
    {"L1D_M_SNOOP_EVICT", nullptr},
    {"RESOURCE_STALLS", nullptr},
    {"OFFCORE_REQUESTS_ANY_READ", nullptr},
    {"OFFCORE_REQUESTS_ANY_RFO", nullptr},
    {"OFFCORE_REQUESTS_UNCACHED_MEM", nullptr},
    {"OFFCORE_REQUESTS_L1D_WB", nullptr},
    {"OFFCORE_REQUESTS", nullptr},
    {"SNOOP_RESPONSE_HITM", nullptr},
    {"MEM_LOAD_RETIRED_L3_MISS", nullptr},
    {"MEM_LOAD_RETIRED_DTLB_MISS", nullptr},
    {"BACLEAR", nullptr},
    {"BPU_CLEARS", nullptr},
    {"L2_TRANSACTIONS", nullptr},
    {"FP_X87", nullptr},
    {"FP_SSE_PACKED_SINGLE", nullptr},
    {"FP_SSE_PACKED_DOUBLE", nullptr},
    {"FP_SSE_PACKED_SCALAR_SINGLE", nullptr},
    {"FP_SSE_PACKED_SCALAR_DOUBLE", nullptr},
    {"FP_SIMD_PACKED_SINGLE", nullptr},
    {"FP_SIMD_PACKED_DOUBLE", nullptr},
};

constexpr GenericEvent generics[] = {
    software("cpu-clock", PERF_COUNT_SW_CPU_CLOCK),
    software("task-clock", PERF_COUNT_SW_TASK_CLOCK),
    software("page-faults", PERF_COUNT_SW_PAGE_FAULTS, "faults"),
    software("minor-faults", PERF_COUNT_SW_PAGE_FAULTS_MIN),
    software("major-faults", PERF_COUNT_SW_PAGE_FAULTS_MAJ),
    software("context-switches", PERF_COUNT_SW_CONTEXT_SWITCHES, "cs"),
    software("cpu-migrations", PERF_COUNT_SW_CPU_MIGRATIONS, "migrations"),
    software("alignment-faults", PERF_COUNT_SW_ALIGNMENT_FAULTS),
    software("emulation-faults", PERF_COUNT_SW_EMULATION_FAULTS),
    software("cgroup-switches", PERF_COUNT_SW_CGROUP_SWITCHES),
    hardware("cpu-cycles", PERF_COUNT_HW_CPU_CYCLES, "cycles"),
    hardware("instructions", PERF_COUNT_HW_INSTRUCTIONS),
    hardware("ref-cycles", PERF_COUNT_HW_REF_CPU_CYCLES),
    hardware("branch-instructions", PERF_COUNT_HW_BRANCH_INSTRUCTIONS, "branches"),
    hardware("branch-misses", PERF_COUNT_HW_BRANCH_MISSES),
    hardware("cache-references", PERF_COUNT_HW_CACHE_REFERENCES),
    hardware("cache-misses", PERF_COUNT_HW_CACHE_MISSES),
    hardware("bus-cycles", PERF_COUNT_HW_BUS_CYCLES),
    hardware("stalled-cycles-frontend", PERF_COUNT_HW_STALLED_CYCLES_FRONTEND,
             "idle-cycles-frontend"),
    hardware("stalled-cycles-backend", PERF_COUNT_HW_STALLED_CYCLES_BACKEND, "idle-cycles-backend"),
    cache("L1-dcache-loads", l1d, load, access),
    cache("L1-dcache-load-misses", l1d, load, miss),
    cache("L1-dcache-stores", l1d, store, access),
    cache("L1-dcache-store-misses", l1d, store, miss),
    cache("L1-dcache-prefetches", l1d, prefetch, access),
    cache("L1-dcache-prefetch-misses", l1d, prefetch, miss),
    cache("L1-icache-loads", l1i, load, access),
    cache("L1-icache-load-misses", l1i, load, miss),
    cache("L1-icache-prefetches", l1i, prefetch, access),
    cache("L1-icache-prefetch-misses", l1i, prefetch, miss),
    cache("LLC-loads", last_level, load, access),
    cache("LLC-load-misses", last_level, load, miss),
    cache("LLC-stores", last_level, store, access),
    cache("LLC-store-misses", last_level, store, miss),
    cache("LLC-prefetches", last_level, prefetch, access),
    cache("LLC-prefetch-misses", last_level, prefetch, miss),
    cache("dTLB-loads", data_tlb, load, access),
    cache("dTLB-load-misses", data_tlb, load, miss),
    cache("dTLB-stores", data_tlb, store, access),
    cache("dTLB-store-misses", data_tlb, store, miss),
    cache("dTLB-prefetches", data_tlb, prefetch, access),
    cache("dTLB-prefetch-misses", data_tlb, prefetch, miss),
    cache("iTLB-loads", instruction_tlb, load, access),
    cache("iTLB-load-misses", instruction_tlb, load, miss),
    cache("branch-loads", branch, load, access),
    cache("branch-load-misses", branch, load, miss),
    cache("node-loads", node, load, access),
    cache("node-load-misses", node, load, miss),
    cache("node-stores", node, store, access),
    cache("node-store-misses", node, store, miss),
    cache("node-prefetches", node, prefetch, access),
    cache("node-prefetch-misses", node, prefetch, miss),
};

}  // namespace

std::span<const OriginalEvent> original_events() {
  return originals;
}

std::span<const GenericEvent> generic_events() {
  return generics;
}

}  // namespace pi::perfutil
