// SPDX-License-Identifier: MIT
// Converts readable text (tests/support/text_trace.h) on standard input to a trace file on standard
// output.
#include <cstdio>
#include <iostream>
#include <iterator>
#include <string>

#include "text_trace.h"

int main() {
  const std::string text{std::istreambuf_iterator<char>(std::cin), {}};
  const auto trace = test_support::trace_from_text(text);
  if (!trace) {
    std::fprintf(stderr, "text_trace: %s\n", trace.error().message.c_str());
    return 1;
  }
  return std::fwrite(trace->data(), 1, trace->size(), stdout) == trace->size() ? 0 : 1;
}
