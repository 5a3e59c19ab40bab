// SPDX-License-Identifier: MIT
// The page's figures: the ticks of the subject by function and by process.
#ifndef POST_PAGE_ROWS_H
#define POST_PAGE_ROWS_H

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "subject.h"
#include "summary.h"

namespace post {

// A function, or the placeholder for code without a symbol, in all threads of the subject.
struct FunctionTicks {
  std::string name;  // readable
  std::string module;
  std::string process;  // only where the subject is the system
  uint64_t ticks = 0;
};

struct FunctionsWithMost {
  std::vector<FunctionTicks> rows;  // those with the most ticks first
  size_t all = 0;                   // how many functions have ticks
};

// limit: of the rows.
FunctionsWithMost page_functions(const Summary& summary, const Subject& subject, size_t limit);

using NamedTicks = std::pair<uint64_t, std::string>;

// The names of the subject's processes, or of all others that are not idle; those with the most
// ticks first.
std::vector<NamedTicks> page_processes(const Summary& summary, const Subject& subject,
                                       bool of_subject);

}  // namespace post

#endif  // POST_PAGE_ROWS_H
