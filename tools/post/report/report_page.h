// SPDX-License-Identifier: MIT
// The page: a summary of a trace that fits on one screen; also the beginning of tprof.out.
#ifndef POST_REPORT_PAGE_H
#define POST_REPORT_PAGE_H

#include <cstddef>
#include <optional>
#include <string>

#include "page_end.h"
#include "report.h"
#include "summary.h"

namespace post {

// How the page is shown.
struct PageStyle {
  size_t width = 80;                // columns
  std::optional<size_t> rows = {};  // of functions; none: as many as fit on a screen of 24 lines
  bool colour = false;
  bool utf8 = false;
};

// The lines of the page. end: nullptr in tprof.out, where the page has no such lines; their space
// is reserved there too, so that the page has the same rows in both places.
std::string page_text(const Summary& summary, const PageStyle& style, const PageEnd* end = nullptr);

// Returns a new Waiting.
std::unique_ptr<Subscriber> make_waiting(const ReportContext& context, Sink*);

}  // namespace post

#endif  // POST_REPORT_PAGE_H
