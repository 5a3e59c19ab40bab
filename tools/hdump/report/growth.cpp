// SPDX-License-Identifier: MIT
// Compares dumps of one program: classes and ways through the heap that have grown.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report.h"
#include "text.h"

namespace hdump {
namespace {

// One value of each dump; 0 where a dump has nothing of that name.
struct Grown {
  std::string name;
  std::vector<uint64_t> objects;
  std::vector<uint64_t> bytes;

  int64_t more_objects() const { return static_cast<int64_t>(objects.back() - objects.front()); }
  int64_t more_bytes() const { return static_cast<int64_t>(bytes.back() - bytes.front()); }
  // From each dump to the next.
  bool always() const {
    return std::ranges::adjacent_find(bytes, std::greater_equal<>()) == bytes.end();
  }
};

// Rows with the same name are added up. size: the bytes of a row. Largest growth first.
template <class Row, class Size>
std::vector<Grown> join(const std::vector<Report>& reports, std::vector<Row> Report::*rows,
                        std::string Row::*name, Size size) {
  std::map<std::string, Grown> all;
  for (size_t i = 0; i < reports.size(); ++i)
    for (const Row& row : reports[i].*rows) {
      Grown& grown = all[row.*name];
      grown.objects.resize(reports.size());
      grown.bytes.resize(reports.size());
      grown.objects[i] += row.objects;
      grown.bytes[i] += size(row);
    }
  std::vector<Grown> list;
  for (auto& [key, grown] : all) {
    if (grown.more_bytes() == 0 && grown.more_objects() == 0) continue;
    grown.name = key;
    list.push_back(std::move(grown));
  }
  std::ranges::stable_sort(list, std::ranges::greater{}, &Grown::more_bytes);
  return list;
}

std::vector<Grown> grown_classes(const std::vector<Report>& reports) {
  return join(reports, &Report::classes, &ClassRow::name,
              [](const ClassRow& row) { return row.bytes; });
}

std::vector<Grown> grown_ways(const std::vector<Report>& reports) {
  return join(reports, &Report::ways, &WayRow::path,
              [](const WayRow& row) { return row.retained; });
}

std::string table(const std::vector<Grown>& list, size_t lines, const char* heading) {
  std::string text =
      fmt::format("   Objects      more        Bytes         more     {}\n", heading);
  size_t shown = 0;
  for (const Grown& row : list) {
    if (row.more_bytes() < 0 || shown == lines) break;
    text += fmt::format(" {:>9} {:>+9} {:>12} {:>+12} {}  {}\n", row.objects.back(),
                        row.more_objects(), row.bytes.back(), row.more_bytes(),
                        row.bytes.size() > 2 && row.always() ? "^" : " ", row.name);
    ++shown;
  }
  if (shown == 0) text += " Nothing has grown.\n";
  return text;
}

pi::Json json(const std::vector<Grown>& list, const char* name) {
  pi::Json rows = pi::Json::array();
  for (const Grown& row : list) {
    pi::Json entry{{name, row.name},
                   {"more_objects", row.more_objects()},
                   {"more_bytes", row.more_bytes()},
                   {"grew_always", row.always()}};
    entry["objects"] = pi::Json(row.objects);
    entry["bytes"] = pi::Json(row.bytes);
    rows.push_back(std::move(entry));
  }
  return rows;
}

}  // namespace

std::string growth_text(const std::vector<Report>& reports, const ReportOptions& options) {
  std::string text;
  for (const Report& report : reports) text += head_text(report) + "\n";
  text += title_text("Growth by class, from the first dump to the last");
  if (reports.size() > 2) text += " ^: it grew from each dump to the next.\n";
  text += table(grown_classes(reports), options.lines, "Class");
  text += title_text("Growth of what is retained, by the classes that retain it");
  text += table(grown_ways(reports), options.lines, "From the roots down");
  return text;
}

pi::Json growth_json(const std::vector<Report>& reports) {
  pi::Json result{{"classes", json(grown_classes(reports), "name")},
                  {"ways", json(grown_ways(reports), "path")}};
  result["dumps"] = pi::Json::array();
  for (const Report& report : reports) result["dumps"].push_back(json_of(report));
  return result;
}

}  // namespace hdump
