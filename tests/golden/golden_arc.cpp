// SPDX-License-Identifier: MIT
// Runs one golden case of post -arc and of arcf: golden_arc FILE.case. Exits 0 when every
// expectation holds.
//
// Parts: options, symbols, jitted, threads as for golden_tprof; code (MODULE START HH HH ...,
// machine code); trace (text_trace.h); then the expected output:
//   expect arc      the lines of the arc, without its comments
//   expect figures  the figures of its head that are not 0
//   expect end      the comments after the lines
//   expect json     the member itrace of tprof.json
//   expect damage   the damage messages, one on each line
//   expect tree     arcf's tree of the arc; also: functions (-r 2), folded
#include <arc_line.h>
#include <report.h>

#include <cctype>
#include <cstdio>
#include <json.h>

#include "golden.h"
#include "post_case.h"
#include "post_run.h"
#include "text_trace.h"

namespace {

using namespace test_support;

template <class Wanted>
std::string lines_of(const std::string& text, Wanted wanted) {
  std::istringstream in(text);
  std::string out;
  for (std::string line; std::getline(in, line);)
    if (wanted(line)) out += line + "\n";
  return out;
}

bool is_figure(const std::string& line) {
  if (!line.starts_with("#     ")) return false;
  std::istringstream words(line.substr(1));
  for (std::string word; words >> word;)
    if (word.find_first_not_of("0123456789") == std::string::npos) return word != "0";
  return false;
}

std::string part_of_arc(const std::string& arc, const std::string& what) {
  if (what == "arc")
    return lines_of(arc, [](const std::string& line) { return !line.starts_with('#'); });
  // The end follows the last line that is not a comment.
  size_t end = 0;
  for (size_t at = 0; at < arc.size(); at = arc.find('\n', at) + 1)
    if (arc[at] != '#') end = arc.find('\n', at) + 1;
  if (what == "end") return arc.substr(end);
  return lines_of(arc.substr(0, arc.find("\n ")), is_figure);
}

std::string reduced(const std::string& arc, const std::string& what) {
  arcf::ArcCalls flow;
  arcf::Source source{"arc"};
  std::istringstream in(arc);
  for (std::string text; std::getline(in, text);) {
    post::ArcLine line;
    const arcf::Parsed parsed = arcf::parse_line(text, line);
    if (parsed == arcf::Parsed::malformed) ++source.malformed;
    if (parsed != arcf::Parsed::line) continue;
    ++source.lines;
    flow.add(line);
  }
  if (what == "functions") return function_text(flow, source, 0);
  return what == "folded" ? folded_text(flow, source) : tree_text(flow, source, 0);
}

std::string actual_part(const PostRun& run, const std::string& what) {
  if (!run.error.empty()) return what == "damage" ? run.error : "(error: " + run.error + ")";
  if (what == "arc" || what == "figures" || what == "end") return part_of_arc(run.arc, what);
  if (what == "tree" || what == "functions" || what == "folded") return reduced(run.arc, what);
  if (what == "json") return (*pi::Json::parse(run.json))["itrace"].dump(1) + "\n";
  if (what == "damage") return damage_lines(run);
  return "(no such part: " + what + ")";
}

int run_case(const std::vector<CasePart>& parts) {
  post::Options options;
  FakeSymbolizer symbolizer;
  Bytes trace;
  for (const CasePart& part : parts) {
    if (part.name == "options" && !parse_case_options(part.text, options)) return 1;
    if (part.name == "symbols") add_symbols(part.text, symbolizer);
    if (part.name == "jitted") add_jitted(part.text, symbolizer);
    if (part.name == "threads") add_thread_starts(part.text, symbolizer);
    if (part.name == "code") add_code(part.text, symbolizer);
    if (part.name != "trace") continue;
    auto bytes = trace_from_text(part.text);
    if (!bytes) {
      std::fprintf(stderr, "%s\n", bytes.error().message.c_str());
      return 1;
    }
    trace = *bytes;
  }
  const PostRun run = run_post(trace, symbolizer, options);
  return compare_expected(parts, [&](const std::string& what) { return actual_part(run, what); });
}

}  // namespace

int main(int argc, char** argv) {
  return test_support::run_golden(argc, argv, run_case);
}
