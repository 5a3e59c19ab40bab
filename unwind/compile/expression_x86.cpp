// SPDX-License-Identifier: MIT
// The DWARF expressions that real unwind tables of x86-64 contain: a register plus an offset, the
// word there (signal frames, realigned stacks), and the linker's for a PLT.
#include <dwarf.h>

#include <limits>

#include <pi/dwarf_bytes.h>

#include "expression.h"

namespace unwind {
namespace {

std::optional<RegisterSum> read_sum(pi::DwarfBytes& in) {
  const uint64_t operation = in.number(1);
  if (!in.good() || operation < DW_OP_breg0 || operation >= DW_OP_breg0 + register_count)
    return std::nullopt;
  const int64_t offset = in.signed_leb128();
  if (!in.good() || offset < std::numeric_limits<int32_t>::min() ||
      offset > std::numeric_limits<int32_t>::max())
    return std::nullopt;
  return RegisterSum{static_cast<uint8_t>(operation - DW_OP_breg0), static_cast<int32_t>(offset)};
}

bool has_ended(const pi::DwarfBytes& in) {
  return in.good() && in.left() == 0;
}

// Behind the sum: an entry of a PLT pushes one word by its instruction at a distance that is the
// same in each entry of 16 bytes.
std::optional<Cfa> read_plt(RegisterSum sum, pi::DwarfBytes in) {
  const auto program = read_sum(in);
  if (!program || program->base != return_address || program->offset != 0) return std::nullopt;
  const auto next = [&](uint64_t operation) { return in.number(1) == operation && in.good(); };
  if (!next(DW_OP_lit15) || !next(DW_OP_and)) return std::nullopt;
  const uint64_t distance = in.number(1) - DW_OP_lit0;
  if (distance > 15 || !next(DW_OP_ge) || !next(DW_OP_lit3) || !next(DW_OP_shl) ||
      !next(DW_OP_plus) || !has_ended(in))
    return std::nullopt;
  return Cfa{CfaKind::plt, sum.base, 0, 0, sum.offset, static_cast<int32_t>(distance), 0};
}

}  // namespace

std::optional<RegisterSum> sum_of_expression(std::string_view expression) {
  pi::DwarfBytes in(expression);
  const auto sum = read_sum(in);
  return has_ended(in) ? sum : std::nullopt;
}

Cfa cfa_of_expression(std::string_view expression) {
  constexpr Cfa unsupported{CfaKind::unsupported};
  pi::DwarfBytes in(expression);
  const auto sum = read_sum(in);
  if (!sum) return unsupported;
  if (has_ended(in)) return {CfaKind::offset, sum->base, 0, 0, sum->offset, 0, 0};
  if (const auto plt = read_plt(*sum, in)) return *plt;
  if (in.number(1) != DW_OP_deref) return unsupported;
  uint64_t second = 0;
  if (in.left() != 0) {
    if (in.number(1) != DW_OP_plus_uconst) return unsupported;
    second = in.leb128();
  }
  if (!has_ended(in) || second > INT32_MAX) return unsupported;
  return {CfaKind::dereference, sum->base, 0, 0, sum->offset, static_cast<int32_t>(second), 0};
}

}  // namespace unwind
