// SPDX-License-Identifier: MIT
// Writes the data of the HTML page about a fleet: docs/html-data.md describes them.
#include "page.h"

#include <cli.h>
#include <fmt/format.h>
#include <pi/printable.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "json.h"
#include "page_tree.h"
#include "report/html_columns.h"
#include "report/html_data.h"
#include "report/html_paths.h"
#include "report/html_sums.h"
#include "report/report_html.h"
#include "sql_files.h"
#include "text/output_file.h"

namespace fleet {
namespace {

using pi::Json;
using post::HtmlColumns;
using post::HtmlPaths;
using post::PathTree;

// With more, the ticks of all hosts are one row: the page would be too large.
constexpr size_t most_hosts = 100;
const char* const idle_process = "SystemProcess";
constexpr uint32_t no_id = UINT32_MAX;  // the page shows the name only

class Texts {
 public:
  Texts() { add({}); }
  size_t add(const std::string& text) {
    const auto [known, is_new] = numbers_.try_emplace(pi::printable(text), texts_.size());
    if (is_new) texts_.push_back(Json(known->first));
    return known->second;
  }
  const Json& all() const { return texts_; }

 private:
  Json texts_ = Json::array();
  std::unordered_map<std::string, size_t> numbers_;
};

// A function of the page.
struct PageRow {
  std::string symbol;
  std::string module;
  int kind = 0;
};

PageRow row_of(const PageFrame& frame) {
  constexpr int kernel = 1, marker = 2, unnamed = 4;
  // Where callers are missing.
  const bool is_marker = frame.function.starts_with('[') && frame.module.empty();
  const bool is_named = !frame.function.empty();
  return {is_named               ? frame.function
          : frame.module.empty() ? "NoModule"
                                 : "NoSymbols",
          frame.module,
          (frame.kernel ? kernel : 0) | (is_marker ? marker : 0) | (is_named ? 0 : unnamed)};
}

class Page {
 public:
  Page(const PageFacts& facts, const PageStacks& stacks, PageTree& ticks, PageTree* base,
       int64_t tick_ns)
      : facts_(facts),
        stacks_(stacks),
        ticks_(ticks),
        base_(base),
        tick_ns_(tick_ns),
        paths_(post::choose_paths(ticks.tree(), ticks.ticks().sums(), post::html_paths)) {}

  bool write(post::Sink& sink) {
    HtmlColumns out(sink);
    write_head(out);
    write_owners(out);
    write_paths(out, ticks_, paths_);
    write_frames(out);
    for (const char* none : {"schedule", "waits", "wakers", "hooks", "code"})
      out.member(none, nullptr);
    Json tables = Json::array();
    for (const post::HtmlTable& table : facts_.tables)
      tables.push_back(
          post::table_json(table, [this](const std::string& name) { return texts_.add(name); }));
    out.member("tables", tables);
    out.member("names", texts_.all());
    return out.finish();
  }

 private:
  static Json pairs(const std::vector<std::pair<std::string, std::string>>& facts) {
    Json list = Json::array();
    for (const auto& [lead, text] : facts) {
      Json pair = Json::array();
      pair.push_back(lead);
      pair.push_back(pi::printable(text));
      list.push_back(std::move(pair));
    }
    return list;
  }

  void write_head(HtmlColumns& out) {
    std::vector<std::pair<std::string, std::string>> notes;
    for (const std::string& note : facts_.notes) notes.emplace_back("Note", note);
    const Json head = {
        {"schema", "pitrace-html"},
        {"schema_version", post::html_schema_version},
        {"program", pi::cli::version_text("pitrace-fleet")},
        {"subject", ""},
        {"complete", facts_.lost == 0},
        {"lost", facts_.lost == 0 ? "Nothing lost on any host."
                                  : fmt::format("{} records were lost on the hosts.", facts_.lost)},
        {"not_seen", Json::array()},
        {"facts", pairs(facts_.facts)},
        {"notes", pairs(notes)},
        {"tick_count", ticks_.all()},
        {"tick_ns", tick_ns_},
        {"event", ""},
        {"event_period", 0},
        {"stacks", true}};
    for (const auto& [name, value] : head.members()) out.member(name, value);
    const post::TimeSums& sums = ticks_.ticks();
    const int64_t begin = facts_.first_micros * 1000;
    out.member("time",
               {{"first_bin_ns", static_cast<int64_t>(sums.first_bin() << sums.shift()) - begin},
                {"bin_ns", uint64_t{1} << sums.shift()},
                {"bins", sums.last_bin() - sums.first_bin() + 1}});
  }

  // Processes, and for each of them its hosts as threads.
  void write_owners(HtmlColumns& out) {
    const PathTree& tree = ticks_.tree();
    std::vector<uint32_t> processes, threads;
    for (uint32_t place = 1; place < tree.size(); ++place) {
      const uint32_t parent = tree.node(place).parent;
      if (parent == PathTree::root) {
        owner_of_[place] = static_cast<uint32_t>(processes.size());
        processes.push_back(place);
      } else if (tree.node(parent).parent == PathTree::root) {
        owner_of_[place] = static_cast<uint32_t>(threads.size());
        threads.push_back(place);
      }
    }
    const auto name = [&](uint32_t place) {
      return texts_.add(ticks_.name(tree.node(place).value));
    };
    // The page takes process 0 for the idle task.
    const auto pid = [&](uint32_t place) {
      return ticks_.name(tree.node(place).value) == idle_process ? 0 : no_id;
    };
    out.open("processes");
    out.numbers("name", processes, name);
    out.numbers("pid", processes, pid);
    out.numbers("subject", processes, [](uint32_t) { return 0; });
    out.close();
    out.open("threads");
    out.numbers("process", threads,
                [&](uint32_t place) { return owner_of_[tree.node(place).parent]; });
    out.numbers("name", threads, name);
    out.numbers("tid", threads, [](uint32_t) { return no_id; });
    out.close();
  }

  // Of a frame, without what is only a guess; the number in the page.
  uint32_t number_of(post::FrameId id) {
    PageFrame frame = id == HtmlPaths::left_out_frame ? PageFrame() : stacks_.frames()[id];
    frame.guessed = id == HtmlPaths::left_out_frame;  // no other one that is left has it
    const auto [known, is_new] = numbers_.try_emplace(frame, static_cast<uint32_t>(rows_.size()));
    if (is_new)
      rows_.push_back(id == HtmlPaths::left_out_frame ? PageRow{"[left out]", "", 2}
                                                      : row_of(frame));
    return known->second;
  }

  bool is_guess(post::FrameId id) const {
    return id != HtmlPaths::left_out_frame && stacks_.frames()[id].guessed;
  }

  using Node = HtmlPaths::Node;
  void write_paths(HtmlColumns& out, PageTree& ticks, const HtmlPaths& paths) {
    const auto above = [](const Node& node) { return node.above + 1; };
    const auto frame = [this](const Node& node) { return number_of(node.frame); };
    out.open("paths");
    out.member("left_out", paths.left_out);
    out.member("left_out_ticks", paths.left_out_amount);
    out.numbers("above", paths.nodes, above);
    out.numbers("frame", paths.nodes, frame);
    out.numbers("thread", paths.nodes, [this](const Node& node) { return owner_of_[node.thread]; });
    out.numbers("guessed", paths.nodes,
                [this](const Node& node) { return is_guess(node.frame) ? 1 : 0; });
    out.close();
    const auto sums =
        post::by_row(ticks.ticks().sums(), [&](uint32_t place) { return paths.node_of[place]; });
    out.open("ticks");
    post::write_sums(out, sums, paths.nodes.size(), ticks.ticks().first_bin(), false);
    out.close();
    // The tables have no processors.
    out.open("cpu_ticks");
    for (const char* column : {"cpu", "idle"})
      out.numbers(column, std::vector<int>(), [](int number) { return number; });
    post::write_sums(out, {}, 0, 0, false);
    out.close();
    write_base(out);
  }

  void write_base(HtmlColumns& out) {
    if (!base_) return out.member("base", nullptr);
    const PathTree& tree = base_->tree();
    const HtmlPaths paths = post::choose_paths(tree, base_->ticks().sums(), post::html_paths / 2);
    std::vector<uint64_t> own(paths.nodes.size());
    for (const post::TimeSums::Sum& sum : base_->ticks().sums())
      own[paths.node_of[sum.key]] += sum.amount * (sum.last - sum.first + 1);
    out.open("base");
    out.member("trace", "A");
    out.member("ticks", base_->all());
    out.open("paths");
    out.numbers("above", paths.nodes, [](const Node& node) { return node.above + 1; });
    out.numbers("frame", paths.nodes, [this](const Node& node) { return number_of(node.frame); });
    out.numbers("process", paths.nodes, [&](const Node& node) {
      return texts_.add(base_->name(tree.node(tree.node(node.thread).parent).value));
    });
    out.numbers("ticks", own, [](uint64_t ticks) { return ticks; });
    out.close();
    out.close();
  }

  void write_frames(HtmlColumns& out) {
    out.open("frames");
    out.numbers("symbol", rows_, [this](const PageRow& row) { return texts_.add(row.symbol); });
    out.numbers("module", rows_, [this](const PageRow& row) { return texts_.add(row.module); });
    out.numbers("kind", rows_, [](const PageRow& row) { return row.kind; });
    out.close();
  }

  const PageFacts& facts_;
  const PageStacks& stacks_;
  PageTree& ticks_;
  PageTree* const base_;  // nullptr: nothing is compared
  const int64_t tick_ns_;
  const HtmlPaths paths_;
  Texts texts_;
  std::unordered_map<uint32_t, uint32_t> owner_of_;  // by place of a process or thread
  std::map<PageFrame, uint32_t> numbers_;
  std::vector<PageRow> rows_;
};

pi::Result<PageStacks> stacks_of(Engine& engine) {
  PageStacks stacks;
  const pi::Status status = engine.each(sql(Query::page_stacks), [&](const Row& row) {
    const auto* const caller = std::get_if<int64_t>(&row[2]);
    return stacks.add(text(row[0]), whole(row[1]), caller ? std::optional(*caller) : std::nullopt,
                      {text(row[3]), text(row[4]), whole(row[5]) != 0, whole(row[6]) != 0});
  });
  if (!status) return status.error();
  return stacks;
}

}  // namespace

PageFacts page_facts(const Question& question, const Summary& summary, const Answer& answer) {
  PageFacts facts;
  facts.facts = {{"Hosts", fmt::format("{} (kernels: {})", summary.hosts, summary.kernels)},
                 {"Time", period_text(summary)},
                 {"Ticks", ticks_text(summary)}};
  for (const auto& [lead, words] :
       {std::pair("Selected", &question.where), {"A", &question.a}, {"B", &question.b}})
    if (!words->empty()) facts.facts.emplace_back(lead, fmt::format("{}", fmt::join(*words, ", ")));
  if (question.a.empty() != question.b.empty() && question.at == Period::open_end)
    facts.facts.emplace_back(question.a.empty() ? "A" : "B", "the rest");
  if (question.at != Period::open_end)
    facts.facts.emplace_back("B begins", time_text(question.at * 1'000'000) + " UTC");
  facts.notes = answer.warnings;
  facts.ticks = summary.ticks;
  facts.lost = summary.lost;
  facts.first_micros = summary.first_micros;
  return facts;
}

pi::Status write_page(Engine& engine, const Question& question, bool two_sides, PageFacts facts,
                      Answer& answer) {
  if (const pi::Status status = make_path_view(engine, question, two_sides); !status) return status;
  const auto stacks = stacks_of(engine);
  if (!stacks) return stacks.error();
  const auto rows = engine.query(sql(Query::page));
  if (!rows) return rows.error();
  std::set<std::string> hosts;
  for (const auto& row : *rows) hosts.insert(text(row[4]));
  const bool by_host = hosts.size() <= most_hosts;
  const std::string all_hosts = fmt::format("{} hosts", hosts.size());
  PageTree ticks(*stacks), base(*stacks);
  uint64_t ns = 0;
  for (const auto& row : *rows) {
    const auto stack = stacks->find(text(row[1]), whole(row[2]));
    if (!stack) return stack.error();
    const bool is_base = two_sides && text(row[0]) == "A";
    const std::string& process = text(row[3]);
    std::string host = by_host ? text(row[4]) : all_hosts;
    // The timeline shows threads without their processes.
    if (process != idle_process) host += ": " + process;
    (is_base ? base : ticks)
        .add(process, is_base ? "" : host, *stack, whole(row[5]), whole(row[6]));
    ns += static_cast<uint64_t>(whole(row[7]));
  }
  const uint64_t all = ticks.all() + base.all();
  if (const auto missing = missing_paths(static_cast<int64_t>(all), facts.ticks, question)) {
    facts.notes.push_back(*missing);
    answer.warnings.push_back(*missing);
  }
  auto file = post::OutputFile::create(question.html, 0666);
  if (!file) return file.error();
  Page page(facts, *stacks, ticks, two_sides ? &base : nullptr,
            static_cast<int64_t>(all == 0 ? 0 : ns / all));
  post::write_page(**file, [&](post::Sink& sink) { return page.write(sink); });
  return (*file)->commit();
}

}  // namespace fleet
