// SPDX-License-Identifier: MIT
// The report as JSON.
#include "report.h"

namespace hdump {

pi::Json json_of(const Report& report) {
  const auto class_json = [](const ClassRow& row) {
    return pi::Json{{"name", row.name}, {"objects", row.objects}, {"bytes", row.bytes}};
  };
  const auto path_json = [](const PathRow& path) {
    pi::Json steps = pi::Json::array();
    for (const StepRow& step : path.steps)
      steps.push_back(
          pi::Json{{"object", step.name}, {"id", step.id}, {"reference", step.reference}});
    pi::Json json{{"root", path.root}};
    json["steps"] = std::move(steps);
    return json;
  };
  pi::Json json{{"file", report.file},
                {"format", report.facts.format},
                {"time_ms", report.facts.time_ms},
                {"objects", report.objects},
                {"bytes", report.bytes},
                {"reachable_objects", report.reachable_objects},
                {"reachable_bytes", report.reachable_bytes},
                {"references", report.references},
                {"dangling_references", report.dangling},
                {"objects_without_class", report.misfits},
                {"classes_loaded", report.loaded_classes},
                {"layout",
                 {{"source", report.jvm && report.jvm->layout ? "jvm" : "assumed"},
                  {"header", report.layout.header},
                  {"array_header", report.layout.array_header},
                  {"wide_array_header", report.layout.wide_array_header},
                  {"reference", report.layout.reference},
                  {"alignment", report.layout.alignment}}}};
  if (report.jvm)
    json["jvm"] = pi::Json{{"name", report.jvm->jvm},
                           {"process", report.jvm->pid},
                           {"agent", report.jvm->agent},
                           {"class_pointers", report.jvm->class_pointers}};
  json["roots_assumed"] = report.roots_assumed;
  json["roots"] = pi::Json::object();
  for (const auto& [kind, count] : report.roots) json["roots"].add(kind) = count;
  json["classes"] = pi::Json::array();
  for (const ClassRow& row : report.classes) {
    pi::Json entry = class_json(row);
    entry["retained"] = row.retained;
    entry["retained_exact"] = row.exact;
    json["classes"].push_back(std::move(entry));
  }
  json["largest"] = pi::Json::array();
  for (const ObjectRow& row : report.largest)
    json["largest"].push_back(pi::Json{
        {"object", row.name}, {"id", row.id}, {"bytes", row.bytes}, {"retained", row.retained}});
  json["ways"] = pi::Json::array();
  for (const WayRow& row : report.ways)
    json["ways"].push_back(pi::Json{{"path", row.path},
                                    {"depth", row.depth},
                                    {"objects", row.objects},
                                    {"bytes", row.bytes},
                                    {"retained", row.retained},
                                    {"cut", row.cut}});
  json["suspects"] = pi::Json::array();
  for (const SuspectRow& row : report.suspects) {
    pi::Json entry{{"object", row.name},
                   {"id", row.id},
                   {"objects", row.objects},
                   {"retained", row.retained},
                   {"percent", row.percent}};
    entry["held"] = pi::Json::array();
    for (const ClassRow& held : row.held) entry["held"].push_back(class_json(held));
    entry["path"] = path_json(row.path);
    json["suspects"].push_back(std::move(entry));
  }
  json["paths"] = pi::Json::array();
  for (const PathRow& path : report.paths) json["paths"].push_back(path_json(path));
  json["damage"] = pi::Json{{"places", report.damage.places}};
  json["damage"]["messages"] = pi::Json(report.damage.messages);
  return json;
}

}  // namespace hdump
