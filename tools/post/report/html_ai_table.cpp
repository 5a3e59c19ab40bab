// SPDX-License-Identifier: MIT
// A table of AboveIdle, which needs no trace: how busy each CPU was, over time.
#include "html_ai_table.h"

#include <fmt/chrono.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <map>

#include "table_json.h"

namespace post {
namespace {

using pi::Json;

constexpr size_t max_ai_bytes = size_t{256} << 20;
constexpr uint64_t most_cpus = 0x10000;  // far more than any Linux kernel has
constexpr size_t most_times = 1000;      // rows for stretches of time

enum AiColumn : size_t { busy, interrupts, idle, dispatches, interrupt_count, ai_columns };

// The sum of some samples of a CPU or of the system.
struct Shares {
  std::array<double, ai_columns> values{};
  uint64_t samples = 0;
};

void add_sample(Shares& to, const Json& shares, bool counted) {
  to.values[busy] += number(shares, "busy");
  to.values[interrupts] += number(shares, "intr");
  to.values[idle] += number(shares, "idle");
  if (counted) {
    to.values[dispatches] += number(shares, "dispatches");
    to.values[interrupt_count] += number(shares, "interrupts");
  }
  ++to.samples;
}

// Above idle, the means of the three shares, and the numbers.
std::vector<double> cells_of(const Shares& sums, bool counted) {
  const double samples = static_cast<double>(std::max<uint64_t>(sums.samples, 1));
  std::vector<double> cells{(sums.values[busy] + sums.values[interrupts]) / samples,
                            sums.values[busy] / samples, sums.values[interrupts] / samples,
                            sums.values[idle] / samples};
  if (counted) cells.insert(cells.end(), {sums.values[dispatches], sums.values[interrupt_count]});
  return cells;
}

std::string utc_text(uint64_t seconds) {
  constexpr uint64_t last = 253'402'300'799;  // of the year 9999
  if (seconds > last) throw std::runtime_error("a time is after the year 9999");
  return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(static_cast<std::time_t>(seconds)));
}

// The next line with an object; nothing at the end, or where a line is cut off.
std::optional<std::string_view> next_line(std::string_view& text, bool& cut) {
  const size_t end = text.find('\n');
  cut = end == text.npos && !text.empty();
  if (end == text.npos) return std::nullopt;
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end + 1);
  return line;
}

class AiTable {
 public:
  AiTable(HtmlTable& table, size_t samples) : table_(table), samples_(samples) {}

  void take(const Json& sample) {
    if (taken_ == 0) begin(sample);
    if (taken_++ % step_ == 0) {
      flush();
      begin_ = whole_number(sample, "time");
    }
    if (const Json* system = sample.find("system")) add_sample(system_, *system, counted_);
    if (sample.find("cpus") == nullptr) return;
    for (const Json& cpu : list(sample, "cpus")) {
      const uint64_t id = whole_number(cpu, "cpu");
      if (id >= most_cpus) throw std::runtime_error("a CPU has an impossible number");
      add_sample(cpus_[id], cpu, counted_);
    }
  }

  void finish() {
    flush();
    if (step_ != 1)
      table_.facts.push_back(
          {"Rows", fmt::format("means of up to {} samples each; counts are sums", step_)});
  }

 private:
  void begin(const Json& sample) {
    const bool sampled = flag(sample, "intr_is_tick_based");
    counted_ = !sampled;
    const size_t rows = 1 + (sample.find("cpus") == nullptr ? 0 : list(sample, "cpus").size());
    const size_t times = std::max<size_t>(std::min(most_times, max_table_rows / rows), 1);
    step_ = (samples_ + times - 1) / times;
    table_.columns = {"% above idle", "% busy", "% interrupts", "% idle"};
    if (counted_) table_.columns.insert(table_.columns.end(), {"dispatches", "interrupts"});
    table_.facts.push_back({"Source", text_of(sample, "source")});
    if (sampled)
      table_.facts.push_back({"Interrupt time", "as the kernel's clock tick has sampled it"});
    table_.facts.push_back({"Samples", std::to_string(samples_)});
    table_.facts.push_back({"Time", "of each row: when its first sample ended"});
  }

  // A row for the time, with that of the system or of all CPUs, and one for each CPU.
  void flush() {
    if (system_.samples == 0 && cpus_.empty()) return;
    Shares all = system_;
    if (system_.samples == 0)
      for (const auto& [cpu, sums] : cpus_) {
        for (size_t i = 0; i < ai_columns; ++i) all.values[i] += sums.values[i];
        all.samples += sums.samples;
      }
    if (table_.rows.size() > 2 * max_table_rows) throw std::runtime_error("it has too many CPUs");
    table_.rows.push_back({0, utc_text(begin_), cells_of(all, counted_)});
    for (const auto& [cpu, sums] : cpus_)
      table_.rows.push_back({1, fmt::format("CPU {}", cpu), cells_of(sums, counted_)});
    system_ = {};
    cpus_.clear();
  }

  HtmlTable& table_;
  const size_t samples_;
  size_t step_ = 1;  // samples of a row
  size_t taken_ = 0;
  bool counted_ = false;  // the module has counted dispatches and interrupts
  uint64_t begin_ = 0;
  Shares system_;
  std::map<uint64_t, Shares> cpus_;
};

}  // namespace

std::optional<HtmlTable> ai_table(std::string_view text) {
  if (text.size() > max_ai_bytes) return std::nullopt;
  const std::string_view first = text.substr(0, text.find('\n'));
  if (first.find("\"intr_is_tick_based\"") == first.npos) return std::nullopt;
  HtmlTable table;
  table.title = "AboveIdle";
  table.order = "time";
  AiTable rows(table, static_cast<size_t>(std::ranges::count(text, '\n')));
  bool cut = false;
  while (const auto line = next_line(text, cut)) {
    const auto sample = Json::parse(*line);
    if (!sample || !sample->is_object()) throw std::runtime_error("a line is no JSON object");
    rows.take(*sample);
  }
  rows.finish();
  if (cut) table.facts.push_back({"Damaged", "the last line is cut off and left out"});
  if (table.rows.empty()) throw std::runtime_error("it has no samples");
  limit_table(table);
  return table;
}

}  // namespace post
