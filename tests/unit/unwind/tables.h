// SPDX-License-Identifier: MIT
// Files and tables for the tests of unwind.
#ifndef TESTS_UNWIND_TABLES_H
#define TESTS_UNWIND_TABLES_H

#include <cstddef>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "compile/compile_table.h"
#include "table/table.h"

namespace unwind_test {

inline std::vector<std::byte> bytes_of_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const std::vector<char> text{std::istreambuf_iterator<char>(in), {}};
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  return {first, first + text.size()};
}

// A table with its bytes.
struct OwnedTable {
  std::vector<std::byte> bytes;
  unwind::Table table;
};

inline OwnedTable owned(std::vector<std::byte> bytes) {
  OwnedTable result{std::move(bytes), {}};
  const auto table = unwind::Table::check(result.bytes);
  EXPECT_TRUE(table);
  if (table) result.table = *table;
  return result;
}

inline OwnedTable compile_file(const std::string& path) {
  auto bytes = unwind::compile_table(bytes_of_file(path));
  EXPECT_TRUE(bytes) << path << ": " << (bytes ? "" : bytes.error().message);
  return bytes ? owned(std::move(*bytes)) : OwnedTable();
}

}  // namespace unwind_test

#endif  // TESTS_UNWIND_TABLES_H
