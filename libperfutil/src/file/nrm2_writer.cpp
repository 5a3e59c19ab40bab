// SPDX-License-Identifier: MIT
// Writes a trace file; include/pi/nrm2.h describes its layout.
#include "nrm2_writer.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <set>

#include <fmt/format.h>

#include "nrm2_header.h"
#include "output_file.h"
#include "perfutil.h"
#include "system/text.h"

namespace pi::perfutil {
namespace {

namespace at = nrm2::offset;

struct Section {
  uint32_t type = 0;
  uint32_t cpu = 0;
  Bytes data;
  uint64_t lost = 0;
  bool full = false;    // a record did not fit into this buffer
  uint64_t offset = 0;  // of the header in the file
};

uint64_t end_of(const Section& section) {
  return section.offset + nrm2::header_size + section.data.size();
}

bool holds_records(const Section& section) {
  return section.type < nrm2::section_info;
}

class Writer {
 public:
  Writer(OutputFile file, const TraceContent& content)
      : file_(std::move(file)), content_(content) {}

  Status write(const std::string& name);

 private:
  HeaderBytes header_of(const Section& section) const;
  std::vector<Section> plan() const;
  int add(const Section& section);
  int add_kernel_texts();
  std::string info_text(std::string_view ended, std::string_view kallsyms,
                        const std::string& note) const;
  uint64_t planned_bytes(const std::vector<Section>& sections) const;
  Status salvage(const std::string& name, int error, uint64_t planned);
  int cut(uint64_t end);
  int cut_and_describe();
  bool keeps_records(uint64_t end) const;

  OutputFile file_;
  const TraceContent& content_;
  std::string info_;
  std::vector<Section> written_;
};

HeaderBytes Writer::header_of(const Section& section) const {
  std::set<uint32_t> cpus;
  for (const auto& view : content_.buffers)
    if (view.cpu != nrm2::recorder_cpu) cpus.insert(view.cpu);
  const FileFacts file{PITRACE_MODE_NORMAL | nrm2::mode_mte_at_end, content_.start_time,
                       content_.interval_id, static_cast<uint32_t>(cpus.size())};
  return make_header(file,
                     {section.type, section.cpu, content_.stop_time, section.lost, section.full},
                     section.data);
}

std::vector<Section> Writer::plan() const {
  std::vector<Section> sections;
  for (const auto& [kind, type] :
       {std::pair<uint32_t, uint32_t>{PITRACE_BUFFER_TRACE, nrm2::section_trace},
        {PITRACE_BUFFER_MTE, nrm2::section_final_mte},
        {PITRACE_BUFFER_STACKS, nrm2::section_stacks}})
    for (const auto& view : content_.buffers)
      if (view.kind == kind)
        sections.push_back({type, view.cpu, view.records,
                            view.counts.produced - view.counts.written,
                            view.counts.lost[PITRACE_LOST_FULL] != 0, 0});
  std::stable_sort(sections.begin(), sections.end(), [](const Section& a, const Section& b) {
    return std::pair(a.type, a.cpu) < std::pair(b.type, b.cpu);
  });
  sections.push_back({nrm2::section_info, 0, bytes_of(info_)});
  sections.push_back({nrm2::section_build_ids, 0, bytes_of(content_.build_ids)});
  if (!content_.frame_names.empty())
    sections.push_back({nrm2::section_frame_names, 0, bytes_of(content_.frame_names)});
  if (!content_.kernel_code.empty())
    sections.push_back({nrm2::section_kernel_code, 0, bytes_of(content_.kernel_code)});
  return sections;
}

std::string Writer::info_text(std::string_view ended, std::string_view kallsyms,
                              const std::string& note) const {
  InfoText info = content_.info;
  info.add(nrm2::info::ended, ended);
  info.add(nrm2::info::kallsyms, kallsyms);
  if (!note.empty()) info.add(nrm2::info::note, note);
  return info.text();
}

uint64_t Writer::planned_bytes(const std::vector<Section>& sections) const {
  uint64_t sum = content_.kernel.kallsyms.size() + content_.kernel.modules.size();
  for (const auto& section : sections) sum += nrm2::header_size + section.data.size();
  return sum;
}

int Writer::add(const Section& section) {
  written_.push_back(section);
  written_.back().offset = file_.size();
  return file_.append(header_of(section), section.data);
}

int Writer::add_kernel_texts() {
  const auto& kernel = content_.kernel;
  const std::array<uint64_t, 4> places{
      kernel.kallsyms.empty() ? 0 : file_.size(), kernel.kallsyms.size(),
      kernel.modules.empty() ? 0 : file_.size() + kernel.kallsyms.size(), kernel.modules.size()};
  if (const int error = file_.append(bytes_of(kernel.kallsyms)); error != 0) return error;
  if (const int error = file_.append(bytes_of(kernel.modules)); error != 0) return error;
  HeaderBytes first = header_of(written_.front());
  change_header(first, at::kallsyms_offset, std::as_bytes(std::span(places)));
  return file_.overwrite(0, first);
}

Status Writer::write(const std::string& name) {
  info_ = info_text(content_.full ? "buffer full" : "off", content_.kernel.kallsyms_state, "");
  const auto sections = plan();
  int error = 0;
  for (const auto& section : sections) {
    error = add(section);
    if (error != 0) break;
  }
  if (error == 0) error = add_kernel_texts();
  if (error != 0) return salvage(name, error, planned_bytes(sections));
  error = file_.commit();
  if (error == 0) return {};
  return Error{PU_ERROR_FILE, fmt::format("Cannot complete '{}': {}.", name, errno_text(error))};
}

// Shortens the file to at most end bytes of whole sections and whole records.
int Writer::cut(uint64_t end) {
  while (!written_.empty() && end_of(written_.back()) > end) {
    Section& last = written_.back();
    const uint64_t data_start = last.offset + nrm2::header_size;
    uint64_t counted = 0;
    const size_t keep = holds_records(last) && end > data_start
                            ? whole_records(last.data, end - data_start, counted)
                            : 0;
    if (keep == 0) {
      written_.pop_back();
      continue;
    }
    last.data = last.data.first(keep);
    if (const int error = file_.overwrite(last.offset, header_of(last)); error != 0) return error;
  }
  return file_.truncate(written_.empty() ? 0 : end_of(written_.back()));
}

// Whether any record remains when the file is cut at end.
bool Writer::keeps_records(uint64_t end) const {
  if (written_.empty()) return false;
  const Section& first = written_.front();
  uint64_t counted = 0;
  return end_of(first) <= end || (end > nrm2::header_size &&
                                  whole_records(first.data, end - nrm2::header_size, counted) != 0);
}

// Cuts the trace so that the texts fit after it, and adds as many of the texts as possible.
int Writer::cut_and_describe() {
  const uint64_t reached = file_.size();
  // Texts that are in the file already are replaced.
  const auto text = std::find_if(written_.begin(), written_.end(),
                                 [](const Section& section) { return !holds_records(section); });
  const uint64_t trace_end = text == written_.end() ? reached : text->offset;
  const uint64_t needed = nrm2::header_size + info_.size();
  const bool has_room = reached > needed && keeps_records(reached - needed);
  if (const int error = cut(has_room ? std::min(trace_end, reached - needed) : trace_end);
      error != 0 || written_.empty())
    return error != 0 ? error : ENOSPC;
  for (const auto& [type, bytes] : {std::pair(nrm2::section_info, bytes_of(info_)),
                                    {nrm2::section_build_ids, bytes_of(content_.build_ids)}}) {
    const uint64_t whole = file_.size();
    if (add({type, 0, bytes}) != 0) return cut(whole);
  }
  return 0;
}

// Disk full: keeps what was written. Cuts the end of the trace to make space for an info section
// that says so, if possible.
Status Writer::salvage(const std::string& name, int error, uint64_t planned) {
  const std::string reason = errno_text(error);
  info_ = info_text("disk full", "missing",
                    fmt::format("The trace file could not be written completely ({}): about {} of "
                                "{} bytes are missing, first the kernel's symbols, then the names "
                                "of processes and modules, then ticks.",
                                reason, planned - std::min(planned, file_.size()), planned));
  int failed = cut_and_describe();
  const uint64_t missing = planned - std::min(planned, file_.size());
  if (failed == 0) failed = file_.commit();
  if (failed != 0)
    return Error{
        PU_ERROR_FILE,
        fmt::format("Cannot write '{}': {}. The trace is not in a file. Free disk space or "
                    "give another file, and write it again.",
                    name, reason)};
  return Error{
      PU_ERROR_FILE,
      fmt::format("Cannot write all of '{}': {}. {} of {} bytes are missing; the part that was "
                  "written can be read. Free disk space or give another file, and write the trace "
                  "again.",
                  name, reason, missing, planned)};
}

}  // namespace

Status write_trace_file(const std::string& name, const TraceContent& content) {
  auto file = OutputFile::create(name);
  if (!file) return file.error();
  return Writer(std::move(*file), content).write(name);
}

}  // namespace pi::perfutil
