// SPDX-License-Identifier: MIT
// Golden tests: files of named parts, and texts compared so that the difference can be read.
#ifndef TESTS_SUPPORT_GOLDEN_H
#define TESTS_SUPPORT_GOLDEN_H

#include <pi/result.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace test_support {

// A case file: comment lines, then parts that begin with a line "=== NAME". Blank lines at a part's
// end do not count.
struct CasePart {
  std::string name;
  std::string text;
};
pi::Result<std::vector<CasePart>> read_case(const std::string& path);

// Empty when both are equal, blank lines at the ends aside; else the lines around the first
// difference.
std::string text_difference(std::string_view expected, std::string_view actual);

// Compares each part "expect WHAT" with actual(WHAT) and prints the differences. 1 when there is
// one, or when the case has no such part.
int compare_expected(const std::vector<CasePart>& parts,
                     const std::function<std::string(const std::string& what)>& actual);

// main() of a golden program: runs the case that its argument names.
int run_golden(int argc, char** argv, int (*run_case)(const std::vector<CasePart>& parts));

}  // namespace test_support

#endif  // TESTS_SUPPORT_GOLDEN_H
