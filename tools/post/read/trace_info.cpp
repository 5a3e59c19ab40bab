// SPDX-License-Identifier: MIT
// Parses the text of the info and build-id sections, which describe the recording.
#include "trace_info.h"

#include <pi/nrm2.h>

#include <algorithm>
#include <numeric>

#include "text/text.h"

namespace post {
namespace {

namespace key = pi::nrm2::info;

// "CPU.trace|mte|stacks.WHAT" after the prefix "count."
void parse_count(std::string_view name, uint64_t value, TraceInfo& info) {
  const size_t cpu_end = name.find('.');
  if (cpu_end == std::string_view::npos) return;
  const size_t kind_end = name.find('.', cpu_end + 1);
  uint64_t cpu = 0;
  if (kind_end == std::string_view::npos || !parse_number(name.substr(0, cpu_end), cpu) ||
      cpu > 0xffff)
    return;
  const std::string_view kind = name.substr(cpu_end + 1, kind_end - cpu_end - 1);
  const std::string_view what = name.substr(kind_end + 1);
  if (kind != "trace" && kind != "mte" && kind != "stacks") return;
  StreamCounts& counts = info.counts[{static_cast<uint32_t>(cpu), kind == "mte", kind == "stacks"}];
  if (what == "produced") counts.produced = value;
  if (what == "written") counts.written = value;
  if (what == "full") counts.lost[PITRACE_LOST_FULL] = value;
  if (what == "stopped") counts.lost[PITRACE_LOST_STOPPED] = value;
  if (what == "too_long") counts.lost[PITRACE_LOST_TOO_LONG] = value;
  if (what == "source") counts.lost[PITRACE_LOST_SOURCE] = value;
  if (what == "overwritten") counts.overwritten = value;
  if (what == "unwritten") counts.unwritten = value;
}

struct TextKey {
  const char* name;
  std::string TraceInfo::*field;
};
constexpr TextKey text_keys[] = {
    {key::source, &TraceInfo::source},   {key::scope, &TraceInfo::scope},
    {key::kernel, &TraceInfo::kernel},   {key::host, &TraceInfo::host},
    {key::machine, &TraceInfo::machine}, {key::platform, &TraceInfo::platform},
    {key::ended, &TraceInfo::ended},     {key::kallsyms, &TraceInfo::kallsyms},
    {key::tick, &TraceInfo::tick},       {key::event, &TraceInfo::event},
    {key::stacks, &TraceInfo::stacks},   {key::clock, &TraceInfo::clock},
};

struct NumberKey {
  const char* name;
  uint64_t TraceInfo::*field;
};
constexpr NumberKey number_keys[] = {
    {key::pid, &TraceInfo::pid},
    {key::cpu_hz, &TraceInfo::cpu_hz},
    {key::rate, &TraceInfo::rate},
    {key::tick_ns, &TraceInfo::tick_ns},
    {key::throttled, &TraceInfo::throttled},
    {key::period, &TraceInfo::period},
    {key::stack_depth, &TraceInfo::stack_depth},
};

void parse_line(std::string_view name, std::string_view value, TraceInfo& info) {
  for (const TextKey& known : text_keys)
    if (name == known.name) info.*known.field = printable(value);
  for (const NumberKey& known : number_keys)
    if (name == known.name) parse_number(value, info.*known.field);
  if (name == key::cannot_see) info.cannot_see.push_back(printable(value));
  if (name == key::note) info.notes.push_back(printable(value));
  uint64_t number = 0;
  if (name.starts_with(key::count_prefix) && parse_number(value, number))
    parse_count(name.substr(std::string_view(key::count_prefix).size()), number, info);
  if (name.starts_with(key::missed_prefix) && parse_number(value, number))
    info.missed.emplace_back(printable(name.substr(std::string_view(key::missed_prefix).size())),
                             number);
}

bool is_build_id(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace

uint64_t StreamCounts::lost_sum() const {
  return std::accumulate(lost.begin(), lost.end(), uint64_t{0});
}

void StreamCounts::add(const StreamCounts& other) {
  produced += other.produced;
  written += other.written;
  for (size_t i = 0; i < lost.size(); ++i) lost[i] += other.lost[i];
  overwritten += other.overwritten;
  unwritten += other.unwritten;
}

void parse_info(std::string_view text, TraceInfo& info) {
  info = {};
  for_each_line(text, [&](std::string_view line) {
    const size_t equals = line.find('=');
    if (equals != std::string_view::npos)
      parse_line(line.substr(0, equals), line.substr(equals + 1), info);
  });
}

void parse_build_ids(std::string_view text, std::vector<BuildId>& build_ids) {
  for_each_line(text, [&](std::string_view line) {
    const size_t space = line.find(' ');
    if (space == std::string_view::npos || space + 1 == line.size()) return;
    std::string_view id = line.substr(0, space);
    BuildId file{std::string(line.substr(space + 1)), 0, ""};
    if (const size_t mark = id.find('@'); mark != std::string_view::npos) {
      if (!parse_number(id.substr(mark + 1), file.inode)) return;
      id = id.substr(0, mark);
    }
    if (id != "-" && id != "?" && id != "!" && !is_build_id(id)) return;
    if (id != "-") file.id = id;
    std::ranges::replace(file.path, '\0', '\n');
    build_ids.push_back(std::move(file));
  });
}

void parse_frame_names(std::string_view text, FrameNames& names) {
  for_each_line(text, [&](std::string_view line) {
    const size_t space = std::min(line.find(' '), line.size());
    uint64_t number = 0;
    if (!parse_number(line.substr(0, space), number) || number == 0 || number > UINT32_MAX) return;
    names.insert_or_assign(static_cast<uint32_t>(number),
                           std::string(line.substr(std::min(space + 1, line.size()))));
  });
}

}  // namespace post
