// SPDX-License-Identifier: MIT
// Runs one golden case of post --diff: golden_diff FILE.case. Exits 0 when every expectation holds.
//
// Parts: options and symbols as for golden_tprof; trace a, trace b (text_trace.h); expect text: the
// complete output; expect json. A line "many COUNT STEP LINE" in a trace is expanded to COUNT
// records LINE, whose times are STEP apart. The diff of the two tprof.json must equal that of the
// traces.
#include <compare/profile_json.h>
#include <compare/report_diff.h>

#include <cstdio>

#include "golden.h"
#include "post_case.h"
#include "post_run.h"
#include "text_trace.h"

namespace {

using namespace test_support;

std::string unrolled(const std::string& text) {
  std::istringstream in(text);
  std::string out;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string first;
    uint64_t count = 0;
    uint64_t step = 0;
    uint64_t time = 0;
    if (!(words >> first) || first != "many" || !(words >> count >> step >> time)) {
      out += line + "\n";
      continue;
    }
    std::string rest;
    std::getline(words, rest);
    for (uint64_t i = 0; i < count; ++i) out += std::to_string(time + i * step) + rest + "\n";
  }
  return out;
}

struct Texts {
  std::string text;
  std::string json;
};

Texts compared(const post::Profile& a, const post::Profile& b, const post::Options& options) {
  const post::Diff diff = post::compare(a, b, options.report.clip_percent);
  post::StringSink text;
  post::StringSink json;
  write_diff(diff, text);
  write_diff_json(diff, json);
  return {text.text, json.text};
}

bool same(const std::string& what, const std::string& expected, const std::string& actual) {
  const std::string difference = text_difference(expected, actual);
  if (!difference.empty()) std::fprintf(stderr, "%s: %s", what.c_str(), difference.c_str());
  return difference.empty();
}

int run_case(const std::vector<CasePart>& parts) {
  post::Options options;
  post::Options unclipped;
  unclipped.report.clip_percent = 0;
  FakeSymbolizer symbolizers[2];
  post::Profile profiles[2];
  post::Profile from_json[2];
  Texts texts;
  int compared_texts = 0;
  bool good = true;
  for (const CasePart& part : parts) {
    if (part.name == "options") {
      if (!parse_case_options(part.text, options)) return 1;
      unclipped.report.selection = options.report.selection;
    } else if (part.name == "symbols") {
      for (FakeSymbolizer& symbolizer : symbolizers) add_symbols(part.text, symbolizer);
    } else if (part.name == "trace a" || part.name == "trace b") {
      const size_t side = part.name == "trace b";
      const auto bytes = trace_from_text(unrolled(part.text));
      if (!bytes) {
        std::fprintf(stderr, "%s: %s\n", part.name.c_str(), bytes.error().message.c_str());
        return 1;
      }
      const PostRun run = run_post(*bytes, symbolizers[side], unclipped);
      profiles[side] = run.profile;
      profiles[side].path = side == 0 ? "a.nrm2" : "b.nrm2";
      auto read = post::profile_from_json(run.json, profiles[side].path);
      if (!read) {
        std::fprintf(stderr, "%s\n", read.error().message.c_str());
        return 1;
      }
      from_json[side] = *read;
      // JSON describes losses in fewer words.
      from_json[side].lacks = profiles[side].lacks;
      from_json[side].missing = profiles[side].missing;
      if (side == 1) texts = compared(profiles[0], profiles[1], options);
    } else if (part.name == "expect text" || part.name == "expect json") {
      ++compared_texts;
      good =
          same(part.name, part.text, part.name == "expect text" ? texts.text : texts.json) && good;
    }
  }
  if (compared_texts == 0) std::fprintf(stderr, "the case expects nothing\n");
  good = same("text from JSON", texts.text, compared(from_json[0], from_json[1], options).text) &&
         good;
  good = same("JSON from JSON", texts.json, compared(from_json[0], from_json[1], options).json) &&
         good;
  return compared_texts == 0 || !good;
}

}  // namespace

int main(int argc, char** argv) {
  return test_support::run_golden(argc, argv, run_case);
}
