// SPDX-License-Identifier: MIT
// Compiles the unwind table of any bytes: the table must be in bounds.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "amplification.h"
#include "compile/compile_table.h"
#include "table/table.h"

namespace {

// Of the section's bytes, each can make one row, and every third a rule of all registers.
constexpr fuzz::Allowed allowed{unwind::unpacked_section.floor * 2, 1024, 1'000'000, 500};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const fuzz::Amplification amplification(size, allowed);
  const auto bytes = unwind::compile_table(std::as_bytes(std::span(data, size)));
  if (!bytes) return 0;
  const auto table = unwind::Table::check(*bytes);
  if (!table) std::abort();
  for (size_t row = 0; row < table->rows(); ++row) {
    const uint64_t address = table->row_address(row);
    if (table->find(address).cfa->base >= unwind::register_count) std::abort();
    if (row != 0) table->find(address - 1);
  }
  return 0;
}
