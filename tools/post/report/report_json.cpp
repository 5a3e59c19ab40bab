// SPDX-License-Identifier: MIT
// Writes tprof.json: the contents of tprof.out, for programs. The members are documented in
// tprof.json(5); a change of their meaning raises schema_version.
#include "report_json.h"

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

class RowsToJson {
 public:
  RowsToJson(const Summary& summary, std::vector<Row> rows)
      : summary_(summary), rows_(std::move(rows)) {}

  // The rows of one depth, with those they contain; as deep as a report has levels.
  Json take(uint32_t depth) {
    Json list = Json::array();
    while (next_ < rows_.size() && rows_[next_].depth == depth) {
      const Row& row = rows_[next_++];
      Json json = {{"kind", level_word(row.level)},
                   {"name", row_name(row, summary_.names)},
                   {"ticks", row.ticks},
                   {"percent", rounded(percent(row.ticks, summary_.ticks.ticks))}};
      if (row.id) json[row.level == Level::process ? "pid" : "tid"] = *row.id;
      if (Json children = take(depth + 1); !children.empty())
        json["children"] = std::move(children);
      list.push_back(std::move(json));
    }
    return list;
  }

 private:
  const Summary& summary_;
  const std::vector<Row> rows_;
  size_t next_ = 0;
};

Json report_json(const Summary& summary, const ReportKind& kind) {
  Json words = Json::array();
  for (const Level level : kind.levels) words.push_back(level_word(level));
  RowsToJson rows(summary, make_rows(summary.tree, summary.names, kind, clip_ticks(summary)));
  return {{"title", kind.title}, {"levels", std::move(words)}, {"rows", rows.take(0)}};
}

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
  json["reports"] = Json::array();
  for (const ReportKind* kind : chosen_reports(summary.options))
    json["reports"].push_back(report_json(summary, *kind));
  if (summary.options.offsets)
    json["reports"].push_back(report_json(summary, offset_report_kind()));
  for (const ReportKind& kind : summary.options.extra)
    json["reports"].push_back(report_json(summary, kind));
  if (const auto* calls = summary.find<CallTree>()) json["tree"] = tree_json(*calls, summary);
  if (const auto* off_cpu = summary.find<OffCpu>())
    json["off_cpu"] = off_cpu_json(*off_cpu, summary);
  if (const auto* arc = summary.find<Arc>()) json["itrace"] = itrace_json(arc->totals());
  return sink.write(json.dump(1) + "\n");
}

}  // namespace post
