// SPDX-License-Identifier: MIT
// Shows a fleet's ticks, or what changed in them, in the HTML page of post --html.
#ifndef FLEET_PAGE_H
#define FLEET_PAGE_H

#include <pi/result.h>

#include <string>
#include <utility>
#include <vector>

#include "questions.h"
#include "report/html_tables.h"
#include "tables.h"

namespace fleet {

// What the page shows besides call paths.
struct PageFacts {
  std::vector<std::pair<std::string, std::string>> facts;  // a lead and a text
  std::vector<std::string> notes;
  int64_t ticks = 0;
  int64_t lost = 0;
  int64_t first_micros = 0;
  std::vector<post::HtmlTable> tables;
};

// Of a selection. Warnings of the answer are notes.
PageFacts page_facts(const Question& question, const Summary& summary, const Answer& answer);

// Writes question.html after make_views(). two_sides: side B, compared with side A. Adds a warning
// to the answer and the page if ticks have no call paths.
pi::Status write_page(Engine& engine, const Question& question, bool two_sides, PageFacts facts,
                      Answer& answer);

}  // namespace fleet

#endif  // FLEET_PAGE_H
