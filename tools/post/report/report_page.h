// SPDX-License-Identifier: MIT
// The page: a summary of a trace that fits on one screen; also the beginning of tprof.out.
#ifndef POST_REPORT_PAGE_H
#define POST_REPORT_PAGE_H

#include <string>

#include "page_end.h"
#include "page_format.h"
#include "report.h"
#include "summary.h"

namespace post {

// The lines of the page. end: nullptr in tprof.out, where the page has no such lines; their space
// is reserved there too, so that the page has the same rows in both places.
std::string page_text(const Summary& summary, const PageStyle& style, const PageEnd* end = nullptr);

// Returns a new Waiting.
std::unique_ptr<Subscriber> make_waiting(const ReportContext& context, Sink*);

}  // namespace post

#endif  // POST_REPORT_PAGE_H
