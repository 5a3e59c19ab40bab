// SPDX-License-Identifier: MIT
// Reads the unwind table of one file, whose bytes are untrusted until check() has accepted them.
#ifndef UNWIND_TABLE_H
#define UNWIND_TABLE_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "rule.h"
#include "runtime.h"

namespace unwind {

// The bytes of a table: this, then the rows, the rules (Cfa), the register rules (Save) and the
// symbols of its runtime.
struct TableHeader {
  uint64_t magic;
  uint64_t base;  // offset in the file from which rows count
  uint32_t rows;
  uint32_t rules;
  uint32_t saves;
  // Parts of the file's information that are missing in the table.
  uint32_t invalid;      // entries that could not be read
  uint32_t unsupported;  // rows whose rule is not supported
  Runtime runtime;       // that the file contains
  uint16_t symbols;
};
static_assert(sizeof(TableHeader) == 40);
inline constexpr uint64_t table_magic = 0x31656c6261546e55;  // "UnTable1"

// The rule holds from this address up to that of the next row; the last row has no end.
struct Row {
  uint32_t address;  // from TableHeader::base
  uint32_t rule;
};
static_assert(sizeof(Row) == 8);

// Does not own its bytes.
class Table {
 public:
  Table() = default;
  // Nothing unless every number is in bounds and the rows are in order. bytes must be aligned to 8.
  static std::optional<Table> check(std::span<const std::byte> bytes);

  struct Found {
    const Cfa* cfa;  // never null
    std::span<const Save> saves;
  };
  // address: an offset in the file.
  Found find(uint64_t address) const;

  Runtime runtime() const { return header_.runtime; }
  // Offsets in the file, as those of code: with them, the addresses of the symbols of the runtime,
  // in the order of runtime.h. Zero: it has no such symbol.
  std::span<const uint64_t> symbols() const { return symbols_; }

  size_t rows() const { return rows_.size(); }
  const TableHeader& header() const { return header_; }
  uint64_t row_address(size_t row) const { return header_.base + rows_[row].address; }

 private:
  void make_index();

  TableHeader header_{};
  // For each 1 << shift_ bytes of code, how many rows are before them: a search in all rows would
  // read memory at many places.
  unsigned shift_ = 0;
  std::vector<uint32_t> index_;
  std::span<const Row> rows_;
  std::span<const Cfa> rules_;
  std::span<const Save> saves_;
  std::span<const uint64_t> symbols_;
};

// A rule with its own memory.
struct OwnedRule {
  Cfa cfa;
  std::array<Save, register_count> saves{};  // the first cfa.saves ones

  Table::Found found() const { return {&cfa, {saves.data(), cfa.saves}}; }
};

}  // namespace unwind

#endif  // UNWIND_TABLE_H
