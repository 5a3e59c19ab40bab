// SPDX-License-Identifier: MIT
// Runs SQL on DuckDB, whose library is loaded when it is needed.
#ifndef FLEET_ENGINE_H
#define FLEET_ENGINE_H

#include <pi/result.h>

#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace fleet {

using Cell = std::variant<std::monostate, int64_t, double, std::string>;
using Row = std::vector<Cell>;
using Rows = std::vector<Row>;

int64_t whole(const Cell& cell);            // 0 unless it is one
double number(const Cell& cell);            // also of a whole number
const std::string& text(const Cell& cell);  // "" unless it is one

class Engine {
 public:
  struct Options {
    std::string
        library;  // path of libduckdb.so; empty: PITRACE_DUCKDB, or where the loader finds it
    std::string memory;  // as DuckDB's memory_limit, "4GB"; empty: its default
  };
  static pi::Result<std::unique_ptr<Engine>> open(const Options& options);
  virtual ~Engine() = default;
  static constexpr int failed = -2;  // code of the errors that the engine itself reports

  // Calls take for each row, until it fails. Columns must be BIGINT, DOUBLE or VARCHAR. Shows
  // progress on a terminal.
  virtual pi::Status each(const std::string& sql,
                          const std::function<pi::Status(const Row&)>& take) = 0;
  // A folder that only this user can use, removed with the engine; "" if there is none.
  virtual const std::string& scratch() const = 0;
  pi::Result<Rows> query(const std::string& sql);
};

}  // namespace fleet

#endif  // FLEET_ENGINE_H
