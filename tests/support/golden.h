// SPDX-License-Identifier: MIT
// Golden tests: case files with named parts, and comparison of texts with a readable difference.
#ifndef TESTS_SUPPORT_GOLDEN_H
#define TESTS_SUPPORT_GOLDEN_H

#include <pi/result.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace test_support {

// A case file: comment lines, then parts that begin with a line "=== NAME". Blank lines at the end
// of a part are ignored.
struct CasePart {
  std::string name;
  std::string text;
};
pi::Result<std::vector<CasePart>> read_case(const std::string& path);

// Returns an empty string if both are equal except for blank lines at the ends; else the lines
// around the first difference.
std::string text_difference(std::string_view expected, std::string_view actual);

// Compares each part "expect WHAT" with actual(WHAT) and prints the differences. Returns 1 for a
// difference, or if the case has no such part.
int compare_expected(const std::vector<CasePart>& parts,
                     const std::function<std::string(const std::string& what)>& actual);

// main() of a golden test program: runs the case file given as argument.
int run_golden(int argc, char** argv, int (*run_case)(const std::vector<CasePart>& parts));

}  // namespace test_support

#endif  // TESTS_SUPPORT_GOLDEN_H
