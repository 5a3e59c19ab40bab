// SPDX-License-Identifier: MIT
// Builds the unwind table of one file from the rows of its functions.
#ifndef UNWIND_TABLE_BUILDER_H
#define UNWIND_TABLE_BUILDER_H

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "table.h"

namespace unwind {

class TableBuilder {
 public:
  TableBuilder();

  // Begins the function at [begin, end). Functions may come in any order; where two overlap, the
  // one with the higher address is used.
  void begin_function(uint64_t begin, uint64_t end);
  // From this address of the function on, which must not be lower than that of its last row.
  void add_row(uint64_t address, const Rule& rule);

  void count_invalid() { ++invalid_; }

  // The file contains this runtime. Rule: of the code between two functions in [begin, end), where
  // that has so many bytes.
  void set_runtime(Runtime runtime, std::vector<uint64_t> symbols);
  void fill_gaps(uint64_t begin, uint64_t end, uint64_t bytes, const Rule& rule);

  // The bytes of the table. The builder is empty then.
  std::vector<std::byte> take();

 private:
  struct Hash {
    size_t operator()(const Rule& rule) const;
  };
  struct Function {
    uint64_t begin, end;
    size_t first_row;
    size_t rows;
  };
  struct BuiltRow {
    uint32_t distance;  // from the function's begin
    uint32_t rule;
  };

  uint32_t intern(const Rule& rule);
  std::vector<Row> sorted_rows(uint64_t base);

  std::vector<Function> functions_;
  std::vector<BuiltRow> rows_;
  std::unordered_map<Rule, uint32_t, Hash> known_;
  Rule last_;
  uint32_t last_id_ = 0;
  std::vector<Cfa> cfas_;
  std::vector<Save> saves_;
  uint32_t invalid_ = 0;
  uint32_t unsupported_ = 0;
  Runtime runtime_ = Runtime::none;
  std::vector<uint64_t> symbols_;
};

}  // namespace unwind

#endif  // UNWIND_TABLE_BUILDER_H
