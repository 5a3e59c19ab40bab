// SPDX-License-Identifier: MIT
// Which records of a trace the reports are made from.
#include "selection.h"

#include <fmt/format.h>

namespace post {
namespace {

std::string range_text(const char* what, const NumberRange& range) {
  if (range.last == std::numeric_limits<uint64_t>::max())
    return fmt::format("{} from number {} on", what, range.first);
  return fmt::format("{} number {} to {}", what, range.first, range.last);
}

}  // namespace

std::vector<std::string> selection_texts(const Selection& selection) {
  std::vector<std::string> texts;
  if (!selection.records.all())
    texts.push_back(range_text("ticks among the records", selection.records) +
                    " (-p, -pp); names come from the records before them, too.");
  if (!selection.ticks.all()) texts.push_back(range_text("ticks", selection.ticks) + " (-twin).");
  if (selection.metric)
    texts.push_back(fmt::format("ticks of metric {} (-tpsel).", *selection.metric));
  return texts;
}

}  // namespace post
