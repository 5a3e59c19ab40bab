// SPDX-License-Identifier: MIT
// The data of the HTML page have the ticks of the reports, whatever is joined.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <random>

#include "post_run.h"
#include "text_trace.h"

namespace {

using namespace test_support;
using Json = nlohmann::json;

// Ticks of a few processes, threads and modules with random stacks.
std::string random_trace(unsigned seed, int ticks) {
  std::mt19937 random(seed);
  std::string text = "cpus 3\nsection mte 0\n";
  for (int pid = 0x20; pid < 0x23; ++pid)
    text += fmt::format(
        "1 name {0:#x} app{0}\n1 thread {0:#x} {1:#x} worker\n"
        "1 module {0:#x} 0x1000 0x1000 0 /bin/app\n",
        pid, pid + 0x10);
  text += "section trace 0\n";
  uint64_t time = 1000;
  for (int i = 0; i < ticks; ++i) {
    const int pid = 0x20 + static_cast<int>(random() % 3);
    const auto address = [&] { return 0x1100 + random() % 0x80; };
    text += fmt::format("{} tick user {:#x} {:#x} {:#x} stack user", time += random() % 9000, pid,
                        pid + (random() % 2 ? 0x10 : 0), address());
    for (uint64_t depth = random() % 5; depth > 0; --depth)
      text += fmt::format(" {:#x}", address());
    text += "\n";
  }
  return text;
}

struct Both {
  Json html;
  Json reports;
};

Both run_both(const std::string& text, size_t paths = post::html_paths) {
  FakeSymbolizer symbolizer;
  for (uint64_t start = 0x100; start < 0x180; start += 8)
    symbolizer.add_symbol("/bin/app", start, 8, fmt::format("f{:x}", start));
  const auto trace = trace_from_text(text);
  EXPECT_TRUE(trace) << trace.error().message;
  post::Options options;
  options.html = "tprof.html";
  options.report.clip_percent = 0;
  const PostRun run = run_post(*trace, symbolizer, options, {}, {}, nullptr, {}, {}, paths);
  return {Json::parse(run.html), Json::parse(run.json)};
}

using Ticks = std::map<std::string, uint64_t>;  // by process, thread, module and symbol

Ticks html_ticks(const Json& html) {
  const auto name = [&](const char* of, const char* column, size_t row) {
    return html["names"][html[of][column][row].get<size_t>()].get<std::string>();
  };
  Ticks ticks;
  size_t next = 0;
  for (size_t path = 0; path < html["paths"]["above"].size(); ++path) {
    uint64_t sum = 0;
    for (size_t i = html["ticks"]["sums"][path]; i > 0; --i)
      sum += html["ticks"]["amount"][next++].get<uint64_t>();
    const size_t frame = html["paths"]["frame"][path], thread = html["paths"]["thread"][path];
    const size_t process = html["threads"]["process"][thread];
    const std::string key =
        fmt::format("{}:{} {}:{} {} {}", name("processes", "name", process),
                    html["processes"]["pid"][process].get<int>(), name("threads", "name", thread),
                    html["threads"]["tid"][thread].get<int>(), name("frames", "module", frame),
                    name("frames", "symbol", frame));
    if (sum != 0) ticks[key] += sum;
  }
  return ticks;
}

Ticks report_ticks(const Json& reports) {
  Ticks ticks;
  for (const Json& report : reports["reports"]) {
    if (report["title"] != "Process_Thread_Module_Symbol") continue;
    for (const Json& process : report["rows"])
      for (const Json& thread : process["children"])
        for (const Json& module : thread["children"])
          for (const Json& symbol : module["children"]) {
            const auto base = [](const std::string& label) {
              return label.substr(0, label.rfind('_'));
            };
            ticks[fmt::format("{}:{} {}:{} {} {}", base(process["name"]), process["pid"].get<int>(),
                              base(thread["name"]).substr(4), thread["tid"].get<int>(),
                              module["name"].get<std::string>(),
                              symbol["name"].get<std::string>())] +=
                symbol["ticks"].get<uint64_t>();
          }
  }
  return ticks;
}

TEST(HtmlData, HasTheTicksOfTheReports) {
  for (unsigned seed = 0; seed < 5; ++seed) {
    const Both both = run_both(random_trace(seed, 300));
    const Ticks ticks = html_ticks(both.html);
    EXPECT_FALSE(ticks.empty());
    EXPECT_EQ(ticks, report_ticks(both.reports));
    EXPECT_EQ(both.html["paths"]["left_out"], 0);
    EXPECT_LE(both.html["time"]["bins"], 2048);
  }
}

TEST(HtmlData, PathsBeyondTheLimitAreJoinedAndNoTickIsLost) {
  const Both both = run_both(random_trace(1, 500), 100);
  const Json& paths = both.html["paths"];
  EXPECT_LE(paths["above"].size(), 100u + 6);  // six threads
  EXPECT_GT(paths["left_out"], 0);
  uint64_t ticks = 0, joined = 0;
  for (const auto& [key, sum] : html_ticks(both.html)) {
    ticks += sum;
    if (key.ends_with("[left out]")) joined += sum;
  }
  EXPECT_EQ(ticks, 500u);
  EXPECT_EQ(paths["left_out_ticks"], joined);
  for (size_t path = 0; path < paths["above"].size(); ++path)
    EXPECT_LE(paths["above"][path], path) << "a path is not after that of its caller";
}

TEST(HtmlData, ATraceWithoutTicksHasNoBins) {
  const Both both = run_both("section mte 0\n1 name 0x20 app\n");
  EXPECT_EQ(both.html["tick_count"], 0);
  EXPECT_EQ(both.html["time"]["bins"], 0);
  EXPECT_TRUE(both.html["schedule"].is_null());
}

// The page calls the rest of a CPU's time idle.
bool has_whole_cpus(const std::string& scope, const post::Selection& selection = {},
                    bool switches = false) {
  std::string text =
      fmt::format("cpus 1\ninfo scope={}\nsection trace 0\n100 tick user 7 7 0x10\n", scope);
  if (switches) text += "200 dispatch 7 7 runnable\n300 dispatch 0 0 sleeping\n";
  FakeSymbolizer symbolizer;
  const auto trace = trace_from_text(text);
  EXPECT_TRUE(trace) << trace.error().message;
  post::Options options;
  options.html = "tprof.html";
  options.report.selection = selection;
  const Json page = Json::parse(run_post(*trace, symbolizer, options).html);
  EXPECT_EQ(page["schedule"].is_null(), !switches);
  return page["whole_cpus"];
}

TEST(HtmlData, CpusAreWholeIfNoProcessNameOrTimeIsMissing) {
  post::Selection by_name, in_time, in_times;
  by_name.names[static_cast<size_t>(post::NameKind::process)].only.push_back("7");
  in_time.times.only.push_back({0, 1000});
  in_times.times.without.push_back({50, 60});
  EXPECT_TRUE(has_whole_cpus("system"));
  EXPECT_TRUE(has_whole_cpus("system", in_time));
  EXPECT_FALSE(has_whole_cpus("system", by_name));
  EXPECT_FALSE(has_whole_cpus("system", in_times));
  EXPECT_FALSE(has_whole_cpus("process"));
  EXPECT_FALSE(has_whole_cpus("the processes that were named to perf record"));
  // Switches are of all threads.
  EXPECT_TRUE(has_whole_cpus("system", by_name, true));
  EXPECT_FALSE(has_whole_cpus("process", {}, true));
}

}  // namespace
