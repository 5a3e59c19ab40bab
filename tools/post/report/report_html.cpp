// SPDX-License-Identifier: MIT
// Writes the HTML page: one file that shows a trace in a browser, without other files or a network.
#include "report_html.h"

#include "analysis/paths_by_time.h"
#include "analysis/states_by_time.h"
#include "html_data.h"
#include "html_flow.h"
#include "page/embedded.h"
#include "read/merge.h"
#include "text/base64.h"
#include "text/deflate.h"

namespace post {
namespace {

// Where the data belong in the template; it occurs once there.
constexpr std::string_view mark = "@DATA@";

}  // namespace

std::unique_ptr<Subscriber> make_paths_by_time(const ReportContext& context, Sink*) {
  CallTree::Options options{LabelOptions{}, true, context.frames(),
                            stack_source(context.file.info)};
  options.cache_entries = context.cache_entries(options.cache_entries);
  return std::make_unique<PathsByTime>(context.processes, context.symbolizer, context.names,
                                       options, begin_of(context.source, context.file));
}

std::unique_ptr<Subscriber> make_states_by_time(const ReportContext& context, Sink*) {
  if (!context.options.report.selection.follows_threads()) return nullptr;
  OffCpu::Options options{LabelOptions{}, context.frames(), stack_source(context.file.info)};
  options.cache_entries = context.cache_entries(options.cache_entries);
  options.filter = context.filter;
  return std::make_unique<StatesByTime>(context.processes, context.symbolizer, context.names,
                                        options);
}

bool html_shows_without_ticks(const Summary& summary) {
  const auto* const states = summary.find<StatesByTime>();
  const auto* const flow = summary.find<HtmlFlow>();
  return (states != nullptr && states->times().dispatches() != 0) ||
         (flow != nullptr && flow->totals() != nullptr);
}

bool write_page(Sink& sink, const std::function<bool(Sink&)>& data) {
  const std::string_view page = html_template();
  const size_t at = page.find(mark);
  if (at == std::string_view::npos || !sink.write(page.substr(0, at))) return false;
  Base64Writer encoded(sink);
  DeflateWriter packed(encoded, Container::zlib, DeflateWriter::quick);
  return data(packed) && packed.finish() && encoded.finish() &&
         sink.write(page.substr(at + mark.size()));
}

bool write_html(const Summary& summary, Sink& sink) {
  return write_page(sink, [&](Sink& packed) { return write_html_data(summary, packed); });
}

}  // namespace post
