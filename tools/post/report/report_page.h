// SPDX-License-Identifier: MIT
// The page: the answer of a trace on one screen, with which tprof.out begins.
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
struct PageLook {
  size_t width = 80;                // columns
  std::optional<size_t> rows = {};  // of functions; none: as many as fit on a screen of 24 lines
  bool colour = false;
  bool utf8 = false;
};

// The lines of the page. In a report, which is no end of a run, `end` is nullptr; space for what it
// says is left all the same, so that both have the same rows.
std::string page_text(const Summary& summary, const PageLook& look, const PageEnd* end = nullptr);

// Makes a Waiting.
std::unique_ptr<Subscriber> make_waiting(const ReportContext& context, Sink*);

}  // namespace post

#endif  // POST_REPORT_PAGE_H
