// SPDX-License-Identifier: MIT
// The report as text.
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <pi/printable.h>

#include <algorithm>

#include "text.h"

namespace hdump {
namespace {

// "1.2 GB", "17 KB", "40 bytes".
std::string size_text(uint64_t bytes) {
  if (bytes < 10'000) return fmt::format("{} bytes", bytes);
  constexpr const char* units[] = {"KB", "MB", "GB", "TB"};
  double size = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  while (size >= 1000 && unit + 1 < std::size(units)) {
    size /= 1024;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", size, size < 10 ? 1 : 0, units[unit]);
}

std::string rows_left(size_t shown, size_t all) {
  if (shown >= all) return {};
  return fmt::format(" {:>30}  ({} more rows)\n", "", all - shown);
}

std::string path_text(const PathRow& path) {
  if (path.root.empty()) return "   No root reaches it.\n";
  std::string text = fmt::format("   {} (root: {})\n", path.steps.front().name, path.root);
  for (size_t i = 0; i + 1 < path.steps.size(); ++i)
    text += fmt::format("     .{} = {} 0x{:x}\n", path.steps[i].reference, path.steps[i + 1].name,
                        path.steps[i + 1].id);
  return text;
}

std::string suspects(const Report& report) {
  std::string text = title_text("Leak suspects");
  if (report.suspects.empty())
    text += " No object, and no class below the roots, retains enough of the heap.\n";
  size_t number = 0;
  for (const SuspectRow& row : report.suspects) {
    const std::string size =
        fmt::format("{}, {:.1f} % of the heap", size_text(row.retained), row.percent);
    if (row.objects == 1)
      text += fmt::format("\n {}. {}{} (0x{:x}) keeps {} alive:\n", ++number,
                          row.name.starts_with("class ") ? "The " : "One object of ", row.name,
                          row.id, size);
    else
      text += fmt::format("\n {}. {} objects of {} together keep {} alive:\n", ++number,
                          row.objects, row.name, size);
    for (const ClassRow& held : row.held)
      text += fmt::format("   {:>12} of {} in {} object{}\n", size_text(held.bytes), held.name,
                          held.objects, held.objects == 1 ? "" : "s");
    text += row.objects == 1 ? "   A root reaches it so:\n" : "   A root reaches the largest so:\n";
    text += path_text(row.path);
  }
  return text;
}

// Parts of a line that begins with a label, with further lines where it would be too long.
std::string joined(const std::vector<std::string>& parts) {
  constexpr size_t label = 22;
  constexpr size_t width = 80;
  std::string text;
  size_t used = label;
  for (const std::string& part : parts) {
    if (!text.empty()) {
      const bool fits = used + 2 + part.size() + 1 <= width;
      text += fits ? ", " : fmt::format(",\n{:{}}", "", label);
      used = fits ? used + 2 : label;
    }
    text += part;
    used += part.size();
  }
  return text;
}

}  // namespace

double percent_of(uint64_t part, uint64_t all) {
  return all == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(all);
}

std::string title_text(std::string_view text) {
  constexpr std::string_view line = "    ================================\n";
  return fmt::format("\n{}     )) {}\n{}", line, text, line);
}

std::string head_text(const Report& report) {
  std::string text = fmt::format(
      " Heap dump          : {}\n"
      " Made at            : {:%Y-%m-%d %H:%M:%S} UTC\n"
      " Objects            : {}, {} of {} classes\n"
      " Reachable          : {} objects, {}\n"
      " References         : {}\n",
      report.file, fmt::gmtime(static_cast<time_t>(report.facts.time_ms / 1000)), report.objects,
      size_text(report.bytes), report.loaded_classes, report.reachable_objects,
      size_text(report.reachable_bytes), report.references);
  if (report.jvm)
    text += fmt::format(" Java VM            : {}, process {}\n", pi::printable(report.jvm->jvm),
                        report.jvm->pid);
  std::vector<std::string> roots;
  for (const auto& [kind, count] : report.roots) roots.push_back(fmt::format("{} {}", count, kind));
  if (report.roots_assumed)
    roots = {"not in the dump, whose end is missing",
             "assumed are all objects that none refers to"};
  text += fmt::format(" Roots              : {}\n", joined(roots));
  const bool recorded = report.jvm && report.jvm->layout;
  text += fmt::format(" Sizes              : {}, in bytes: header {}, of arrays {}, reference {}\n",
                      recorded ? "of the JVM" : "assumed", report.layout.header,
                      report.layout.array_header, report.layout.reference);
  if (report.dangling != 0)
    text += fmt::format(" Missing            : {} references to objects outside the dump\n",
                        report.dangling);
  if (report.misfits != 0)
    text += fmt::format(" Missing            : {}\n",
                        joined({fmt::format("the references of {} objects", report.misfits),
                                "as their class is missing", "or has another size"}));
  return text;
}

std::string text_of(const Report& report, const ReportOptions& options) {
  std::string text = head_text(report);
  text += suspects(report);

  text += title_text("Classes");
  text += "  Objects        Bytes       Retained      %  Class\n";
  const size_t classes = std::min(report.classes.size(), options.lines);
  for (size_t i = 0; i < classes; ++i) {
    const ClassRow& row = report.classes[i];
    text += fmt::format(" {:>8} {:>12} {}{:>12} {:>6.2f}  {}\n", row.objects, row.bytes,
                        row.exact ? "  " : ">=", row.retained,
                        percent_of(row.retained, report.reachable_bytes), row.name);
  }
  text += rows_left(classes, report.classes.size());

  text += title_text("Largest objects that only the roots retain");
  text += "        Bytes     Retained      %  Object\n";
  for (const ObjectRow& row : report.largest)
    text += fmt::format(" {:>12} {:>12} {:>6.2f}  {} 0x{:x}\n", row.bytes, row.retained,
                        percent_of(row.retained, report.reachable_bytes), row.name, row.id);

  text += title_text("What retains what, by class");
  text += "      %     Retained  Objects  Class\n";
  for (const WayRow& row : report.ways)
    text += fmt::format(" {:>6.2f} {:>12} {:>8}  {:{}}{}{}\n",
                        percent_of(row.retained, report.reachable_bytes), row.retained, row.objects,
                        "", 2 * (row.depth - 1), row.name, row.cut ? " (and deeper)" : "");

  if (!options.paths_of.empty()) {
    text += title_text("Paths from roots to " + options.paths_of);
    if (report.paths.empty()) text += " No object that a root reaches has such a class.\n";
    for (const PathRow& path : report.paths) text += path_text(path) + "\n";
  }
  return text;
}

}  // namespace hdump
