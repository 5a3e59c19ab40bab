// SPDX-License-Identifier: MIT
// The call flow of an instruction trace in the HTML page: the tree of arcf, a table.
#ifndef POST_HTML_FLOW_H
#define POST_HTML_FLOW_H

#include <memory>
#include <optional>

#include "arc/arc.h"
#include "arc/arc_calls.h"
#include "html_tables.h"
#include "report.h"

namespace post {

// Counts the calls of an instruction trace. Without its records it takes no memory.
class HtmlFlow final : public Subscriber {
 public:
  explicit HtmlFlow(const ReportContext& context) : context_(context) {}

  void subscribe(Subscriptions& to) override { Arc::subscribe(to, *this); }
  bool take(const Arrival& arrival) override;
  void end_trace() override;

  // After the trace was read; nullptr: no instructions were traced, or none are selected.
  const ArcTotals* totals() const;
  const ArcCalls& calls() const { return calls_; }

 private:
  void begin();

  const ReportContext context_;
  ArcCalls calls_;
  std::unique_ptr<Arc> arc_;  // none before the first record
};

std::unique_ptr<Subscriber> make_html_flow(const ReportContext& context, Sink* sink);

// Nothing if the trace has no call flow. rows: as of shorten_table().
std::optional<HtmlTable> flow_table(const Summary& summary, size_t rows = max_table_rows);

}  // namespace post

#endif  // POST_HTML_FLOW_H
