// SPDX-License-Identifier: MIT
// Writes the data of the HTML page, as JSON. docs/html-data.md documents its members; a change of
// their meaning raises schema_version.
#ifndef POST_HTML_DATA_H
#define POST_HTML_DATA_H

#include "summary.h"
#include "text/sink.h"

namespace post {

constexpr int html_schema_version = 1;
constexpr size_t html_paths = 200'000;  // call paths, at most

// paths: smaller in tests. False when the sink failed.
bool write_html_data(const Summary& summary, Sink& sink, size_t paths = html_paths);

}  // namespace post

#endif  // POST_HTML_DATA_H
