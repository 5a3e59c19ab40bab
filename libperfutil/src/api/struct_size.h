// SPDX-License-Identifier: MIT
// Structures of the C API in which the caller sets the size, so that programs work that were built
// with an older or newer perfutil.h than this library. perfutil.h states the rule.
#ifndef PI_PERFUTIL_STRUCT_SIZE_H
#define PI_PERFUTIL_STRUCT_SIZE_H

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <type_traits>

#include <fmt/format.h>
#include <pi/result.h>

#include "perfutil.h"

namespace pi::perfutil {

// Greater than any structure will be; a size that was never set is greater still in most cases.
constexpr size_t max_struct_bytes = 64 << 10;

// The size that the caller has set. name: the structure's, for the message. PU_ERROR_NULL_POINTER,
// PU_ERROR_INVALID_PARAMETER.
template <class Struct>
Result<size_t> size_of_caller(const Struct* structure, const char* name) {
  static_assert(std::is_trivially_copyable_v<Struct> && offsetof(Struct, size) == 0);
  if (structure == nullptr)
    return Error{PU_ERROR_NULL_POINTER, fmt::format("The pointer to struct {} is null.", name)};
  if (structure->size > sizeof(size_t) && structure->size <= max_struct_bytes)
    return structure->size;
  return Error{PU_ERROR_INVALID_PARAMETER,
               fmt::format("The size in struct {0} is {1}; set it to sizeof(struct {0}) first.",
                           name, structure->size)};
}

// Copies the part of the structure that both versions know to the caller's, and sets the rest of
// the caller's to zero. The caller's size becomes that of the common part.
template <class Struct>
Status give_struct(Struct filled, Struct* out, const char* name) {
  const auto size = size_of_caller(out, name);
  if (!size) return size.error();
  filled.size = std::min(*size, sizeof filled);
  auto* const bytes = reinterpret_cast<std::byte*>(out);
  std::memcpy(bytes, &filled, filled.size);
  std::memset(bytes + filled.size, 0, *size - filled.size);
  return {};
}

// A copy of the caller's structure; members that an older caller does not know are 0.
// PU_ERROR_NOT_SUPPORTED when a member that this library does not know is not 0.
template <class Struct>
Result<Struct> take_struct(const Struct* in, const char* name) {
  const auto size = size_of_caller(in, name);
  if (!size) return size.error();
  const auto* const bytes = reinterpret_cast<const std::byte*>(in);
  Struct known{};
  const size_t common = std::min(*size, sizeof known);
  std::memcpy(&known, bytes, common);
  known.size = common;
  if (std::all_of(bytes + common, bytes + *size,
                  [](std::byte each) { return each == std::byte{}; }))
    return known;
  return Error{PU_ERROR_NOT_SUPPORTED,
               fmt::format("struct {} asks for something that this libperfutil does not know; "
                           "install the one that the program was built with, or a newer one.",
                           name)};
}

// Fills the caller's structure with what make() returns, a Result<Struct>; not called when the size
// is wrong.
template <class Struct, class Make>
Status fill_struct(Struct* out, const char* name, Make make) {
  if (const auto size = size_of_caller(out, name); !size) return size.error();
  const Result<Struct> made = make();
  if (!made) return made.error();
  return give_struct(*made, out, name);
}

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_STRUCT_SIZE_H
