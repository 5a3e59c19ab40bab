// SPDX-License-Identifier: MIT
// The call flow of an instruction trace in the HTML page: the tree of arcf, a table.
#include "html_flow.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>
#include <vector>

#include "page_facts.h"
#include "read/kernel_code.h"
#include "text/text.h"

namespace post {
namespace {

// Passes the lines of an arc to the calls.
class ToCalls final : public ArcOutput {
 public:
  explicit ToCalls(ArcCalls& calls) : calls_(calls) {}
  void put(const ArcLine& line) override { calls_.add(line); }

 private:
  ArcCalls& calls_;
};

struct Moves {
  uint64_t climbed = 0;
  uint64_t unwound = 0;
  uint64_t deep = 0;
};

Moves moves_of(const ArcCalls& calls) {
  Moves all;
  for (const ArcCalls::Thread& thread : calls.threads()) {
    all.climbed += thread.climbed;
    all.unwound += thread.unwound;
    all.deep += thread.deep;
  }
  return all;
}

std::vector<LeadAndText> facts_of(const ArcTotals& totals, const Moves& moves) {
  std::vector<LeadAndText> facts = {
      {"Instructions", fmt::format("{}: user {}, kernel {}", totals.user + totals.kernel,
                                   totals.user, totals.kernel)}};
  const auto add = [&](bool any, const char* lead, std::string text) {
    if (any) facts.push_back({lead, std::move(text)});
  };
  const GapTotals gaps = totals.all_gaps();
  add(gaps.count != 0, "Not followed",
      fmt::format("{} with {} instructions (of {} the size is not known): rows of the module GAP",
                  plural(gaps.count, "gap", "gaps"), gaps.instructions, gaps.unknown));
  add(totals.losses != 0, "Lost",
      fmt::format("{} at which records are missing", plural(totals.losses, "place", "places")));
  add(totals.uncounted != 0, "Not counted",
      fmt::format("{} with an unknown number of instructions, each counted as one",
                  plural(totals.uncounted, "block", "blocks")));
  add(totals.imperfect() != 0, "Imperfect",
      fmt::format("{} whose beginning or code does not fit the recorded branch",
                  plural(totals.imperfect(), "block", "blocks")));
  add(moves.climbed != 0, "Entered before",
      fmt::format("{} to functions that were entered before the trace",
                  plural(moves.climbed, "return", "returns")));
  add(moves.unwound != 0, "Unwound",
      fmt::format("several functions were left at once {}",
                  plural(moves.unwound, "time", "times")));
  add(moves.deep != 0, "Too deep",
      fmt::format("{} were too deep for the tree: their instructions are those of the deepest "
                  "function shown",
                  plural(moves.deep, "call", "calls")));
  return facts;
}

// The nodes below each node, in the order of their first call.
std::vector<std::vector<ArcCalls::NodeId>> nodes_below(const ArcCalls& calls) {
  std::vector<std::vector<ArcCalls::NodeId>> below(calls.nodes().size());
  for (ArcCalls::NodeId id = 1; id < below.size(); ++id)
    below[calls.nodes()[id].parent].push_back(id);
  return below;
}

void add_rows(HtmlTable& table, const ArcCalls& calls) {
  const auto below = nodes_below(calls);
  struct Place {
    ArcCalls::NodeId id;
    size_t next;
  };
  std::vector<Place> path{{PathTree::root, 0}};
  while (!path.empty()) {
    auto& [id, next] = path.back();
    if (next == below[id].size()) {
      path.pop_back();
      continue;
    }
    const ArcCalls::NodeId child = below[id][next++];
    const ArcCalls::Node& node = calls.nodes()[child];
    table.rows.push_back({static_cast<uint32_t>(path.size() - 1),
                          printable(calls.name(node.function)) +
                              (node.entered ? "  (entered before the trace)" : ""),
                          {static_cast<double>(node.calls), static_cast<double>(node.self)}});
    path.push_back({child, 0});
  }
}

// Adds a column before the last one: its percentage of that of the thread, with two decimals.
void add_shares(HtmlTable& table) {
  double whole = 0;
  for (HtmlTable::Row& row : table.rows) {
    const double part = row.cells.back();
    if (row.level == 0) whole = part;
    const double share = whole == 0 ? 0 : std::round(10'000 * part / whole) / 100;
    row.cells.insert(row.cells.end() - 1, share);
  }
}

}  // namespace

void HtmlFlow::begin() {
  // The report arc logs the same damage.
  DamageLog ignored;
  KernelCode kernel;
  kernel.load(context_.source, context_.file.kernel_code,
              context_.options.arc ? ignored : context_.damage);
  ArcOptions options = context_.options.arc_form;
  options.compact = true;
  options.instructions = false;
  options.cache_entries = context_.cache_entries(options.cache_entries);
  arc_ = std::make_unique<Arc>(context_.processes, context_.symbolizer, context_.names,
                               std::move(kernel), std::make_unique<ToCalls>(calls_), options,
                               context_.filter);
}

bool HtmlFlow::take(const Arrival& arrival) {
  if (!arc_) [[unlikely]]
    begin();
  return arc_->take(arrival);
}

void HtmlFlow::end_trace() {
  if (arc_) arc_->finish();
}

const ArcTotals* HtmlFlow::totals() const {
  return arc_ && arc_->totals().branches != 0 ? &arc_->totals() : nullptr;
}

std::unique_ptr<Subscriber> make_html_flow(const ReportContext& context, Sink*) {
  return std::make_unique<HtmlFlow>(context);
}

std::optional<HtmlTable> flow_table(const Summary& summary, size_t rows) {
  const auto* const flow = summary.find<HtmlFlow>();
  if (flow == nullptr || flow->totals() == nullptr) return std::nullopt;
  HtmlTable table;
  table.title = "Call flow";
  table.order = "first call";
  table.facts = facts_of(*flow->totals(), moves_of(flow->calls()));
  table.columns = {"calls", "instructions", "% of thread", "with calls"};
  table.with_below = 2;
  add_rows(table, flow->calls());
  add_sums_below(table, 1);
  add_shares(table);
  limit_table(table, rows);
  return table;
}

}  // namespace post
