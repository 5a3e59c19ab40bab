// SPDX-License-Identifier: MIT
// Writes tprof.json: the contents of tprof.out, for programs. The members are documented in
// tprof.json(5); a change of their meaning raises schema_version.
#include "report_json.h"

#include <fmt/format.h>

#include <cmath>

#include "json.h"

#include "arc/arc.h"
#include "calls_json.h"
#include "report_rows.h"
#include "text/text.h"

namespace post {
namespace {

using Json = pi::Json;

constexpr int schema_version = 1;

// Rounded as in tprof.out.
double rounded(double value) {
  return std::round(value * 100) / 100;
}

Json trace_json(const Summary& summary) {
  const TraceInfo& info = summary.file.info;
  const uint64_t time = summary.ticks.last_time - summary.ticks.first_time;
  return {{"source", info.source},
          {"scope", info.scope},
          {"pid", info.pid},
          {"cannot_see", info.cannot_see},
          {"notes", info.notes},
          {"clock", info.clock},
          {"ended", info.ended},
          {"platform", info.platform},
          {"kernel", info.kernel},
          {"machine", info.machine},
          {"host", info.host},
          {"processors", summary.file.cpus},
          {"processor_speed_hz", processor_speed(summary)},
          {"trace_cycles", time},
          {"trace_time_s", static_cast<double>(time) / 1e9},
          {"tick_ns", tick_distance(summary)},
          {"tick", summary.event_based() ? "event" : "time"},
          {"event", info.event},
          {"period", events_per_tick(summary)},
          {"stacks", info.stacks},
          {"stack_depth", info.stack_depth}};
}

Json selection_json(const Summary& summary) {
  const Selection& selection = summary.options.selection;
  const auto range = [](const NumberRange& numbers) {
    Json json = {{"first", numbers.first}};
    if (numbers.last != NumberRange{}.last) json["last"] = numbers.last;
    return json;
  };
  Json json = Json::object();
  if (!selection.records.all()) json["records"] = range(selection.records);
  if (!selection.ticks.all()) json["ticks"] = range(selection.ticks);
  if (selection.metric) json["metric"] = *selection.metric;
  const auto list = [](const auto& parts, const auto& json_of) {
    Json array = Json::array();
    for (const auto& part : parts) array.push_back(json_of(part));
    return array;
  };
  const auto add = [&](const char* member, const auto& choice, const auto& json_of) {
    if (choice.any())
      json[member] = {{"only", list(choice.only, json_of)},
                      {"without", list(choice.without, json_of)}};
  };
  for (size_t i = 0; i < name_kinds; ++i)
    add(option_of(static_cast<NameKind>(i)), selection.names[i],
        [](const std::string& word) { return Json(printable(word)); });
  add("cpus", selection.cpus, range);
  add("time", selection.times, [](const TimeRange& times) {
    Json part = Json::object();
    if (times.first != TimeRange::open_first) part["from_ns"] = times.first;
    if (times.end != TimeRange::open_end) part["to_ns"] = times.end;
    return part;
  });
  if (json.empty()) return json;
  json["of_ticks"] = summary.records.by_major[PITRACE_MAJOR_TPROF];
  json["text"] = selection_texts(selection);
  json["matches_nothing"] = summary.selection_remarks;
  return json;
}

Json records_json(const RecordTotals& records) {
  Json json = {{"read", records.records},
               {"counted", records.counted},
               {"tprof", records.by_major[PITRACE_MAJOR_TPROF]},
               {"mte", records.by_major[PITRACE_MAJOR_MTE]},
               {"start_up", records.by_major[PITRACE_MAJOR_SYSTEM]},
               {"time", records.times()}};
  for (const RecordKind& kind : event_kinds()) json[kind.key] = records.by_major[kind.major];
  json["other"] = records.others();
  return json;
}

Json counts_json(const StreamCounts& counts) {
  return {{"produced", counts.produced},
          {"written", counts.written},
          {"lost", counts.lost_sum()},
          {"full", counts.lost[PITRACE_LOST_FULL]},
          {"stopped", counts.lost[PITRACE_LOST_STOPPED]},
          {"too_long", counts.lost[PITRACE_LOST_TOO_LONG]},
          {"source", counts.lost[PITRACE_LOST_SOURCE]},
          {"overwritten", counts.overwritten},
          {"unwritten", counts.unwritten}};
}

Json gaps_json(const std::vector<RecordTotals::StreamGaps>& streams) {
  constexpr size_t shown = 100;
  Json json = Json::array();
  for (const auto& stream : streams) {
    Json places = Json::array();
    for (const Gap& gap : std::span(stream.first).first(std::min(shown, stream.first.size())))
      places.push_back({{"from_ns", gap.from}, {"to_ns", gap.to}, {"records", gap.records}});
    json.push_back({{"cpu", stream.key.cpu},
                    {"kind", stream.key.kind()},
                    {"count", stream.count},
                    {"records", stream.records},
                    {"first", std::move(places)}});
  }
  return json;
}

Json losses_json(const Summary& summary) {
  Json json = counts_json(summary.losses.total);
  json["counted"] = summary.losses.counted;
  json["buffers"] = Json::array();
  for (const auto& [key, counts] : summary.losses.lossy) {
    Json buffer = {{"cpu", key.cpu}, {"kind", key.kind()}};
    buffer.update(counts_json(counts));
    json["buffers"].push_back(std::move(buffer));
  }
  json["missed"] = Json::object();
  for (const auto& [probe, count] : summary.file.info.missed)
    if (count != 0) json["missed"][probe] = count;
  json["throttled"] = summary.file.info.throttled;
  json["gaps"] = gaps_json(summary.records.gaps);
  return json;
}

Json budget_json(const Summary& summary) {
  Json list = Json::array();
  for (const LimitResult& result : summary.budget) {
    const Limit& limit = result.limit;
    Json json = {{"line", limit.line}, {"kind", level_word(limit.level)}, {"name", limit.name}};
    if (!limit.module.empty()) json["module"] = limit.module;
    json.update({{"limit_percent", limit.percent},
                 {"ticks", result.ticks},
                 {"percent", rounded(result.percent)},
                 {"exceeded", result.exceeded()}});
    list.push_back(std::move(json));
  }
  return list;
}

Json itrace_json(const ArcTotals& arc) {
  const auto gap_json = [](const GapTotals& gap) -> Json {
    return {{"count", gap.count},
            {"instructions", gap.instructions},
            {"unknown", gap.unknown},
            {"ns", gap.ns}};
  };
  Json gaps = gap_json(arc.all_gaps());
  gaps["by_reason"] = Json::object();
  for (size_t reason = 0; reason < gap_reasons; ++reason)
    if (arc.gaps[reason].count != 0)
      gaps["by_reason"][gap_word(reason)] = gap_json(arc.gaps[reason]);
  Json stops = Json::object();
  for (size_t reason = 0; reason < stop_reasons; ++reason)
    if (arc.stops[reason] != 0) stops[stop_word(reason)] = arc.stops[reason];
  Json threads = Json::array();
  for (const ArcThreadTotals& thread : arc.threads)
    if (!thread.label.empty())
      threads.push_back({{"pid", thread.pid},
                         {"tid", thread.tid},
                         {"name", thread.label},
                         {"branches", thread.branches},
                         {"instructions", {{"user", thread.user}, {"kernel", thread.kernel}}},
                         {"gaps", thread.gaps}});
  return {{"branches", arc.branches},
          {"lines", arc.lines},
          {"instructions",
           {{"user", arc.user},
            {"kernel", arc.kernel},
            {"blocks_by_disassembly", arc.by_code},
            {"blocks_not_counted", arc.uncounted},
            {"blocks_different", arc.different}}},
          {"imperfect",
           {{"no_beginning", arc.unplaced},
            {"not_connected", arc.disconnected},
            {"other_code", arc.misfits}}},
          {"undefined", arc.undefined},
          {"folded", arc.folded},
          {"exceptions", arc.cuts},
          {"losses", arc.losses},
          {"starts", arc.starts},
          {"stops", std::move(stops)},
          {"flags", arc.flags},
          {"first_time_ns", arc.first_time},
          {"last_time_ns", arc.last_time},
          {"gaps", std::move(gaps)},
          {"threads", std::move(threads)}};
}

// Writes the rows of reports while they are made: with all rows a report can have millions. The
// text is that of Json::dump(1).
class RowsWriter {
 public:
  RowsWriter(const Summary& summary, Sink& sink) : summary_(summary), sink_(sink) {}

  void add(const ReportKind& kind) {
    Json words = Json::array();
    for (const Level level : kind.levels) words.push_back(level_word(level));
    const Json head = {{"title", kind.title}, {"levels", std::move(words)}};
    text_ += begun_ ? ",\n  {" : "\n  {";
    begun_ = true;
    text_ += indented(head.dump(1), 2).substr(1);
    text_.resize(text_.size() - sizeof "\n  }" + 1);
    text_ += ",\n   \"rows\": [";
    add_rows(make_rows(summary_.tree, summary_.names, kind, clip_ticks(summary_)));
    text_ += "]\n  }";
  }
  // False when the sink failed.
  bool finish() {
    text_ += begun_ ? "\n ]" : "]";
    flush();
    return good_;
  }

 private:
  static std::string indented(const std::string& text, size_t spaces) {
    std::string all;
    for (const char c : text) {
      all += c;
      if (c == '\n') all.append(spaces, ' ');
    }
    return all;
  }
  void flush() {
    good_ = good_ && sink_.write(text_);
    text_.clear();
  }
  void line(uint32_t spaces, std::string_view text) {
    text_ += '\n';
    text_.append(spaces, ' ');
    text_ += text;
  }
  // Of the braces of a row.
  static uint32_t spaces(uint32_t depth) { return 4 + 2 * depth; }

  void add_rows(const std::vector<Row>& rows) {
    uint32_t open = 0;  // rows whose last brace is missing
    for (const Row& row : rows) {
      if (row.depth < open) {
        close(open, row.depth);
        text_ += ',';
      } else if (open != 0) {
        text_ += ",";
        line(spaces(open - 1) + 1, "\"children\": [");
      }
      open = row.depth + 1;
      add_row(row);
      if (text_.size() > part) flush();
    }
    close(open, 0);
    if (!rows.empty()) line(3, "");
  }
  void add_row(const Row& row) {
    const uint32_t inner = spaces(row.depth) + 1;
    line(inner - 1, "{");
    line(inner, fmt::format("\"kind\": \"{}\",", level_word(row.level)));
    line(inner, fmt::format("\"name\": {},", Json(row_name(row, summary_.names)).dump()));
    line(inner, fmt::format("\"ticks\": {},", row.ticks));
    line(inner, fmt::format("\"percent\": {}",
                            Json(rounded(percent(row.ticks, summary_.ticks.ticks))).dump()));
    if (!row.id) return;
    text_ += ',';
    line(inner, fmt::format("\"{}\": {}", row.level == Level::process ? "pid" : "tid", *row.id));
  }
  // The open rows from this depth on.
  void close(uint32_t open, uint32_t depth) {
    for (; open > depth; --open) {
      line(spaces(open - 1), "}");
      if (open - 1 > depth) line(spaces(open - 2) + 1, "]");
    }
  }

  static constexpr size_t part = 1 << 16;  // bytes that are written at once

  const Summary& summary_;
  Sink& sink_;
  std::string text_;
  bool begun_ = false;
  bool good_ = true;
};

Json hints_json(const std::vector<Hint>& hints) {
  Json json = Json::array();
  for (const Hint& hint : hints)
    json.push_back({{"program", printable(hint.program)},
                    {"ticks", hint.ticks},
                    {"unnamed_ticks", hint.unnamed},
                    {"text", hint.text}});
  return json;
}

Json head(const Summary& summary) {
  const TickTotals& ticks = summary.ticks;
  const DamageLog& damage = summary.damage;
  return {
      {"schema", "pitrace-tprof"},
      {"schema_version", schema_version},
      {"trace", trace_json(summary)},
      {"selection", selection_json(summary)},
      {"names",
       {{"process_ids", !summary.options.labels.process_names_only},
        {"thread_ids", !summary.options.labels.thread_names_only},
        {"processors", summary.options.labels.per_cpu}}},
      {"ticks", ticks.ticks},
      {"clip_percent", summary.options.clip_percent},
      {"clip_ticks", clip_ticks(summary)},
      {"records", records_json(summary.records)},
      {"losses", losses_json(summary)},
      {"unresolved", {{"no_module", ticks.no_module}, {"no_symbol", ticks.no_symbol}}},
      {"damage",
       {{"places", damage.places()}, {"bytes", damage.bytes()}, {"messages", damage.messages()}}},
      {"budget", budget_json(summary)},
      {"symbol_notes", summary.symbol_notes},
      {"hints", hints_json(summary.hints)}};
}

Json lifetime_json(const ProcessLifetime& lifetime, const StringTable& names) {
  Json json = {{"pid", lifetime.pid}, {"name", printable(names.text(lifetime.name))}};
  if (lifetime.parent != 0) json["parent"] = lifetime.parent;
  if (lifetime.bits != 0) json["bits"] = lifetime.bits;
  if (lifetime.pid_namespace != 0) json["pid_namespace"] = lifetime.pid_namespace;
  // The keys inner_* are older names of the others.
  if (lifetime.inner_pid != 0) {
    json["pid_in_namespace"] = lifetime.inner_pid;
    json["inner_pid"] = lifetime.inner_pid;
  }
  if (!lifetime.inner_threads.empty()) {
    json["threads_in_namespace"] = Json::array();
    json["inner_threads"] = Json::array();
    for (const auto& [tid, inner] : lifetime.inner_threads) {
      json["threads_in_namespace"].push_back({{"tid", tid}, {"tid_in_namespace", inner}});
      json["inner_threads"].push_back({{"tid", tid}, {"inner_tid", inner}});
    }
  }
  return json;
}

}  // namespace

bool write_json(const Summary& summary, Sink& sink) {
  Json json = head(summary);
  json["processes"] = Json::array();
  for (const ProcessLifetime& lifetime : summary.lifetimes)
    json["processes"].push_back(lifetime_json(lifetime, summary.names));
  std::string text = json.dump(1);
  text.resize(text.size() - sizeof "\n}" + 1);
  if (!sink.write(text + ",\n \"reports\": [")) return false;
  RowsWriter rows(summary, sink);
  for (const ReportKind* kind : chosen_reports(summary.options)) rows.add(*kind);
  if (summary.options.offsets) rows.add(offset_report_kind());
  for (const ReportKind& kind : summary.options.extra) rows.add(kind);
  if (!rows.finish()) return false;
  Json rest = Json::object();
  if (const auto* calls = summary.find<CallTree>()) rest["tree"] = tree_json(*calls, summary);
  if (const auto* off_cpu = summary.find<OffCpu>())
    rest["off_cpu"] = off_cpu_json(*off_cpu, summary);
  if (const auto* arc = summary.find<Arc>()) rest["itrace"] = itrace_json(arc->totals());
  return sink.write(rest.empty() ? "\n}\n" : "," + rest.dump(1).substr(1) + "\n");
}

}  // namespace post
