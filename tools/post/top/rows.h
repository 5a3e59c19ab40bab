// SPDX-License-Identifier: MIT
// The rows of the browser's views: the selected ticks by process, thread, module or symbol, or by
// the callers, callees and lines of one symbol.
#ifndef POST_TOP_ROWS_H
#define POST_TOP_ROWS_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/sample_tree.h"
#include "report/report_annotate.h"
#include "report/summary.h"

namespace post::top {

// A process, thread, module or symbol by its names in the reports. Names stay the same when a trace
// is read again, their numbers do not.
struct Item {
  Level level = Level::process;
  std::string owner;  // the process of a thread, the module of a symbol; else empty
  std::string name;
  bool operator==(const Item&) const = default;
};

// A user's selection: these items, or everything except them.
struct ItemFilter {
  Item item;
  bool without = false;
  std::string shown;  // the item's name for people
};

struct Row {
  Item item;  // name: empty where the row represents no item
  uint64_t ticks = 0;
  std::string name;       // for people; of a line all of it
  std::string owner;      // the process of a thread, the module of a symbol
  std::string line = {};  // which line or instruction it is, whatever its ticks are; else empty
};

struct Rows {
  std::vector<Row> rows;  // by ticks, then name; lines in their order
  uint64_t whole = 0;     // ticks that are 100 %
  std::string note;       // a remark shown with the rows; may be empty
};

// The selected ticks by process, thread, module or symbol.
Rows flat_rows(const Summary& summary, const std::vector<ItemFilter>& filters, Level level);

// The callers or callees of a symbol. 100 % are the selected ticks in it and in what it calls.
enum class Side : uint8_t { callers, callees };
Rows call_rows(const Summary& summary, const std::vector<ItemFilter>& filters, const Item& symbol,
               Side side);

// The lines and instructions of a symbol with the selected ticks. 100 % are those of the symbol.
Rows line_rows(const Summary& summary, const std::vector<ItemFilter>& filters, const Item& symbol,
               const AnnotationStyle& style);

}  // namespace post::top

#endif  // POST_TOP_ROWS_H
