// SPDX-License-Identifier: MIT
// Tables of other programs that the HTML page also shows.
#ifndef POST_HTML_TABLES_H
#define POST_HTML_TABLES_H

#include <pi/result.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "json.h"
#include "read/losses.h"

namespace post {

// In a cell: its number is not known.
constexpr double not_available = std::numeric_limits<double>::quiet_NaN();

// A tree of rows with numbers, depth first.
struct HtmlTable {
  struct Row {
    uint32_t level = 0;  // at most one more than that of the row before
    std::string name;
    std::vector<double> cells;  // one for each column
  };
  std::string title;
  std::string file;
  std::vector<LeadAndText> facts;
  std::vector<std::string> columns;
  std::string order;      // of the rows, for example "first call"; "": none
  size_t with_below = 0;  // from this column on, the numbers of a row contain those of rows below
  std::vector<size_t> not_sums;  // columns whose numbers cannot be added up
  std::vector<Row> rows;
};

// Of more rows, those are kept that have the largest numbers in the last column, in themselves or
// below; the others of a row are joined.
constexpr size_t max_table_rows = 50'000;

// Of what ptt dump -json, swtrace ai -json, JProf or libhookit (log-rt and log-jlm with JSON) or
// hdump --json has written. The error's message is a sentence.
pi::Result<std::vector<HtmlTable>> read_html_tables(const std::string& path);
// The same from a text; path is for messages.
pi::Result<std::vector<HtmlTable>> parse_html_tables(std::string_view text,
                                                     const std::string& path);

// The table as the page reads it (docs/html-data.md). add_text: returns the number of a name.
pi::Json table_json(const HtmlTable& table,
                    const std::function<size_t(const std::string&)>& add_text);

// Adds a column with the sum of another one over a row and all rows below it.
void add_sums_below(HtmlTable& table, size_t column);

// Limits the levels and the rows, and says so among the facts.
void limit_table(HtmlTable& table, size_t rows = max_table_rows);

// Shortens the table to about so many rows; returns how many were joined.
size_t shorten_table(HtmlTable& table, size_t rows);

}  // namespace post

#endif  // POST_HTML_TABLES_H
