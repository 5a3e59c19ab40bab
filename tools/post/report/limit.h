// SPDX-License-Identifier: MIT
// A limit on a share of the ticks, and the measured share.
#ifndef POST_LIMIT_H
#define POST_LIMIT_H

#include <cstddef>
#include <cstdint>
#include <string>

#include "analysis/sample_tree.h"

namespace post {

struct Limit {
  size_t line = 0;               // of the file
  Level level = Level::process;  // process, module or symbol
  std::string name;
  std::string module;  // of a symbol; empty: any
  double percent = 0;  // of all ticks; more is too much
};

struct LimitResult {
  Limit limit;
  uint64_t ticks = 0;
  double percent = 0;

  bool exceeded() const { return percent > limit.percent; }
  bool occurs() const { return ticks != 0; }
};

// "symbol foo:libfoo.so"
std::string limit_name(const Limit& limit);

// "module libfoo.so: 12.00 % (6 of 50 ticks), limit 10 %: exceeded"
std::string limit_text(const LimitResult& result, uint64_t all_ticks);

}  // namespace post

#endif  // POST_LIMIT_H
