// SPDX-License-Identifier: MIT
// Readable names of C++, Rust and Java functions in fewer columns.
#ifndef POST_SHORT_NAME_H
#define POST_SHORT_NAME_H

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace post {

// At the end of an inlined function's name.
constexpr std::string_view inlined_mark = " (inlined)";
// At the end of the name of a method that was interpreted.
constexpr std::string_view interpreted_mark = " (interpreted)";

// The mark at the end of a name, or "".
std::string_view mark_of(std::string_view name);

// "int ns::f<int>(int, char) const" -> "ns::f<int>"
std::string without_arguments(std::string_view name);

// The name and shorter forms of it, the longest first: without parameters and return type; with
// template arguments from the innermost on as "<..>"; "(anonymous namespace)" as "(anon)" and the
// types of "<a::B as c::D>::f" without their modules. The last form is the function's own name, for
// a closure also that of the function around it; it is equal to the one before it if the name has
// no scope. There are two forms at least.
std::vector<std::string> name_forms(std::string_view name);

// The longest form that fits into the given columns. If none does, the mark replaces a part of the
// scope, and part of the function's own name only where that does not fit.
std::string short_name(std::string_view name, size_t columns, std::string_view mark);

}  // namespace post

#endif  // POST_SHORT_NAME_H
