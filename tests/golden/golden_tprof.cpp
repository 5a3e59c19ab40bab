// SPDX-License-Identifier: MIT
// Runs one golden case of post: golden_tprof FILE.case. Exits 0 when every expectation holds.
//
// Parts: options (post's, on one line); extra and budget (the files of -x and --budget, after the
// options); symbols (MODULE START SIZE NAME; START is an offset in the file, for vmlinux an
// address); code (MODULE START HH HH ..., machine code); jitted (PID FROM UNTIL START SIZE NAME
// [INLINED OFFSET]) and threads (PID TIME TID NAME), events of runtimes; trace (text_trace.h); then
// the expected output:
//   expect tprof   the complete tprof.out    expect rows    the reports only
//   expect head    the text before the summary box
//   expect end     the text after the reports  expect show  post.show
//   expect damage  the damage messages, one on each line
//   expect tree    tprof.tree                expect folded  tprof.folded
//   expect callgrind  tprof.callgrind        expect speedscope  tprof.speedscope.json
//   expect chrome  tprof.trace.json       expect perf_script  tprof.linux-perf.txt
//   expect offcpu  tprof.offcpu              expect json MEMBER  that member of tprof.json
//   expect html MEMBER  that member of the HTML page's data, in one line
//   expect micro   tprof.micro after "TOTAL TICKS"
//   expect page [WIDTH] [rows=N] [utf8] [colour] [end]  the page as it is printed; end: with the
//                  lines on files and on what to type next
//   expect stacks  the completeness of stacks in the head of tprof.tree
#include <cstdio>
#include <map>
#include <sstream>

#include <options/extra_reports.h>
#include <json.h>

#include "golden.h"
#include "post_case.h"
#include "post_run.h"
#include "text_trace.h"

namespace {

using namespace test_support;

constexpr std::string_view banner = "    ================================\n";

std::string between(const std::string& text, const std::string& from, const std::string& to) {
  const size_t start = from.empty() ? 0 : text.find(from);
  if (start == std::string::npos) return "(no '" + from + "' in the report)";
  const size_t begin = start + from.size();
  const size_t end = to.empty() ? text.size() : text.find(to, begin);
  return text.substr(begin, end == std::string::npos ? end : end - begin);
}

post::PageStyle style_of(const std::string& what) {
  post::PageStyle style;
  std::istringstream words(what);
  for (std::string word; words >> word;) {
    if (word == "utf8") style.utf8 = true;
    if (word == "colour") style.colour = true;
    if (word.starts_with("rows=")) style.rows = std::stoul(word.substr(5));
    if (word.find_first_not_of("0123456789") == std::string::npos) style.width = std::stoul(word);
  }
  return style;
}

std::string actual_part(const PostRun& run, const std::string& what) {
  const std::string line(banner);
  const std::string end = line + "    End of Reports\n" + line;
  if (!run.error.empty()) return what == "damage" ? run.error : "(error: " + run.error + ")";
  if (what == "tprof") return run.tprof;
  if (what == "head") return between(run.tprof, "", line + "    TPROF Report Summary");
  if (what == "rows") {
    const std::string reports = between(run.tprof, "    TPROF Report Summary\n", end);
    return between(reports, line, "");
  }
  if (what == "end") return between(run.tprof, end, "");
  if (what == "show") return run.show;
  if (what == "tree") return run.tree;
  if (what == "folded") return run.folded;
  if (what == "callgrind") return run.callgrind;
  if (what == "chrome") return run.chrome;
  if (what == "perf_script") return run.perf_script;
  if (what == "speedscope") return run.speedscope;
  if (what == "stacks") return between(run.tree, " ticks have one.\n", "\n TOTAL TICKS");
  if (what == "offcpu") return run.off_cpu;
  if (what == "micro") return between(run.micro, "TOTAL TICKS", "</pre>");
  if (what.starts_with("json ")) return (*pi::Json::parse(run.json))[what.substr(5)].dump(1) + "\n";
  if (what.starts_with("html ")) return (*pi::Json::parse(run.html))[what.substr(5)].dump() + "\n";
  if (what == "damage") return damage_lines(run);
  return "(no such part: " + what + ")";
}

int run_case(const std::vector<CasePart>& parts) {
  post::Options options;
  FakeSymbolizer symbolizer;
  Bytes trace;
  std::vector<post::Limit> limits;
  std::vector<post::PageStyle> styles;
  std::map<std::string, size_t> pages;  // index of the page, by the name of the case's part
  const post::PageEnd end{"out/swtrace.nrm2", {"out/tprof.out", "out/tprof.json"}, "out"};
  bool with_end = false;
  for (const CasePart& part : parts) {
    if (part.name == "options") {
      if (!parse_case_options(part.text, options)) return 1;
    } else if (part.name == "symbols") {
      add_symbols(part.text, symbolizer);
    } else if (part.name == "code") {
      add_code(part.text, symbolizer);
    } else if (part.name == "jitted") {
      add_jitted(part.text, symbolizer);
    } else if (part.name == "threads") {
      add_thread_starts(part.text, symbolizer);
    } else if (part.name == "trace") {
      auto bytes = trace_from_text(part.text);
      if (!bytes) {
        std::fprintf(stderr, "%s\n", bytes.error().message.c_str());
        return 1;
      }
      trace = *bytes;
    } else if (part.name == "extra") {
      auto extra = post::parse_extra_reports(part.text, "extra");
      if (!extra) {
        std::fprintf(stderr, "%s\n", extra.error().message.c_str());
        return 1;
      }
      options.report.extra = *extra;
    } else if (part.name == "budget") {
      auto parsed = post::parse_budget(part.text, "budget");
      if (!parsed) {
        std::fprintf(stderr, "%s\n", parsed.error().message.c_str());
        return 1;
      }
      limits = *parsed;
    } else if (part.name.starts_with("expect page")) {
      pages[part.name.substr(7)] = styles.size();
      styles.push_back(style_of(part.name));
      with_end = with_end || part.name.ends_with(" end");
    }
  }
  const PostRun run =
      run_post(trace, symbolizer, options, limits, styles, with_end ? &end : nullptr);
  return compare_expected(parts, [&](const std::string& what) {
    const auto page = pages.find(what);
    return page == pages.end() ? actual_part(run, what) : run.pages[page->second];
  });
}

}  // namespace

int main(int argc, char** argv) {
  return test_support::run_golden(argc, argv, run_case);
}
