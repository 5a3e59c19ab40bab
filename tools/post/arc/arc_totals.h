// SPDX-License-Identifier: MIT
// The totals of an arc: its contents, and what is missing.
#ifndef POST_ARC_TOTALS_H
#define POST_ARC_TOTALS_H

#include <pitrace/abi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace post {

constexpr size_t gap_reasons = PITRACE_GAP_INTERRUPT + 1;  // number 0: an unknown reason
constexpr size_t stop_reasons = PITRACE_STOP_RIGHTS + 1;

// "entry"; "unknown" for number 0. Likewise "off".
const char* gap_word(size_t reason);
const char* stop_word(size_t reason);

struct GapTotals {
  uint64_t count = 0;
  uint64_t unknown = 0;  // of these: the number of missing instructions is unknown
  uint64_t instructions = 0;
  uint64_t ns = 0;

  void add(const GapTotals& other) {
    count += other.count;
    unknown += other.unknown;
    instructions += other.instructions;
    ns += other.ns;
  }
};

struct ArcThreadTotals {
  uint32_t pid = 0;
  uint32_t tid = 0;
  std::string label;  // its last
  uint64_t branches = 0;
  uint64_t user = 0;  // instructions
  uint64_t kernel = 0;
  uint64_t gaps = 0;
};

struct ArcTotals {
  uint64_t branches = 0;
  uint64_t lines = 0;
  uint64_t user = 0;  // instructions, as the lines show them
  uint64_t kernel = 0;
  uint64_t by_code = 0;       // blocks whose count comes from disassembly
  uint64_t uncounted = 0;     // ... without a count: shown as one instruction
  uint64_t different = 0;     // ... where record and disassembly differ, repeats aside
  uint64_t unplaced = 0;      // imperfect blocks: their beginning is not known
  uint64_t disconnected = 0;  // ... no path leads from the beginning to the branch
  uint64_t misfits = 0;       // ... the known code has no branch there, or branches elsewhere
  uint64_t undefined = 0;     // branches whose instruction is not known
  uint64_t folded = 0;        // blocks in thunks that were added to the line before
  uint64_t cuts = 0;
  uint64_t starts = 0;
  uint64_t losses = 0;  // gaps: records are missing
  uint32_t flags = 0;   // PITRACE_ITRACE_* of all starts
  std::array<GapTotals, gap_reasons> gaps{};
  std::array<uint64_t, stop_reasons> stops{};
  uint64_t first_time = 0;
  uint64_t last_time = 0;
  std::vector<ArcThreadTotals> threads;  // in the order in which they appear

  uint64_t imperfect() const { return unplaced + disconnected + misfits; }
  GapTotals all_gaps() const {
    GapTotals all;
    for (const GapTotals& gap : gaps) all.add(gap);
    return all;
  }
};

}  // namespace post

#endif  // POST_ARC_TOTALS_H
