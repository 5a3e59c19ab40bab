// SPDX-License-Identifier: MIT
// Writes the HTML page: one file that shows a trace in a browser, without other files or a network.
#ifndef POST_REPORT_HTML_H
#define POST_REPORT_HTML_H

#include <functional>

#include "report.h"

namespace post {

std::unique_ptr<Subscriber> make_paths_by_time(const ReportContext& context, Sink* sink);
std::unique_ptr<Subscriber> make_states_by_time(const ReportContext& context, Sink* sink);
// Whether the page has something to show of a trace without ticks.
bool html_shows_without_ticks(const Summary& summary);
// The page with the data that a function writes. False when writing failed.
bool write_page(Sink& sink, const std::function<bool(Sink&)>& data);
bool write_html(const Summary& summary, Sink& sink);

}  // namespace post

#endif  // POST_REPORT_HTML_H
