// SPDX-License-Identifier: MIT
// The names of frames that are no addresses.
#include "symbolizer.h"

#include "text/name_limit.h"
#include "text/short_name.h"

namespace post {

// The frame's own code is that of the interpreter, which is GENERATED_CODE.
Lookup Symbolizer::lookup_named(uint64_t frame) {
  Lookup lookup;
  lookup.found = Found::symbol;
  lookup.module = "GENERATED_CODE";
  lookup.symbol = "Interpreter";
  lookup.start = lookup.module_start = frame;
  if (!frame_names_) return lookup;
  const auto named = frame_names_->find(PITRACE_FRAME_NUMBER(frame));
  if (named == frame_names_->end()) return lookup;
  frame_name_ = limited_name(named->second).append(interpreted_mark);
  lookup.symbol = frame_name_;
  return lookup;
}

}  // namespace post
