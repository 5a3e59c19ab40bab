// SPDX-License-Identifier: MIT
// The trace's files: the stream that is written while the trace runs, and files written from
// buffers afterwards.
#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include "file/build_id_reader.h"
#include "file/kernel_code.h"
#include "file/nrm2_writer.h"
#include "system/system_facts.h"
#include "system/text.h"
#include "trace.h"

namespace pi::perfutil {
namespace {

Status finish_file(OutputFile& file, const std::string& name) {
  const int error = file.commit();
  if (error == 0) return {};
  return Error{PU_ERROR_FILE, fmt::format("Cannot complete '{}': {}.", name, errno_text(error))};
}

std::string read_build_ids(const std::vector<BufferView>& buffers, const std::string& proc,
                           InfoText& info) {
  BuildIdTable table(SIZE_MAX);
  for (const auto& view : buffers)
    if (view.kind == PITRACE_BUFFER_MTE) table.see(view.cpu, view.records);
  BuildIdReader reader([=](const WantedFile& file) { return build_id_line(file, proc); }, SIZE_MAX);
  reader.want(table.take());
  std::string lines = reader.wait_for_lines();
  lines += reader.give_up();
  if (const auto unread = reader.trouble(); !unread.empty()) info.add(nrm2::info::note, unread);
  return lines;
}

}  // namespace

std::string Trace::stream_name() const {
  return config_.mode == COLLECTION_MODE_WRAP ? config_.file_name + ".mte" : config_.file_name;
}

std::vector<StreamCounts> Trace::counts() {
  std::vector<StreamCounts> all;
  if (!collector_) return all;
  for (const auto& view : collector_->buffers())
    all.push_back({view.cpu, view.kind, view.counts, 0, 0, view.position + view.records.size()});
  if (config_.mode == COLLECTION_MODE_WRAP)
    collector_->copy_trace([&](const BufferCopy& copy) {
      all.push_back({copy.cpu, copy.kind, copy.counts, copy.counts.written - copy.kept, 0,
                     copy.records.size()});
    });
  return all;
}

Status Trace::begin_stream(const CollectorStatus& now) {
  stream_.reset();
  StreamWriter::Setup setup;
  setup.name = stream_name();
  setup.facts.mode = static_cast<uint32_t>(config_.mode);
  setup.facts.start_time = trace_clock();
  setup.facts.interval_id = now.interval_id + 1;
  setup.facts.cpus = online_cpu_count();
  setup.section_bytes = config_.section_bytes;
  setup.proc_path = config_.proc_path;
  setup.info = describe_trace(*collector_, now, notes(), {});
  setup.info.add(nrm2::info::ended, "running");
  auto stream = StreamWriter::create(*collector_, std::move(setup));
  if (!stream) return stream.error();
  stream_ = std::move(*stream);
  // Records that a full disk left unread belong to the last interval. The reader starts before the
  // trace is on, and would write them into the new interval's file.
  for (const auto& view : collector_->buffers()) collector_->consumed(view, view.records.size());
  collector_->forget_frame_names();
  return stream_->start();
}

Status Trace::end_stream() {
  if (!stream_) return {};
  stream_->stop();
  stream_->take_all();
  const auto now = collector_->status();
  if (!now) return now.error();
  const auto views = collector_->buffers();
  const auto current_notes = notes();
  const auto make_info = [&](const InFile& in_file, bool whole) {
    std::vector<StreamCounts> all;
    for (const auto& view : views) {
      const auto found = in_file.find({view.cpu, view.kind});
      const uint64_t kept = found == in_file.end() ? 0 : found->second;
      all.push_back({view.cpu, view.kind, view.counts, 0, view.counts.written - kept});
    }
    InfoText info = describe_trace(*collector_, *now, current_notes, all);
    info.add(nrm2::info::ended, whole ? "off" : "disk full");
    return info;
  };
  const auto cpus = std::count_if(views.begin(), views.end(), [](const BufferView& view) {
    return view.kind == PITRACE_BUFFER_MTE && view.cpu != nrm2::recorder_cpu;
  });
  const auto unwritten = stream_->finish(make_info, static_cast<uint32_t>(cpus));
  if (!unwritten) return unwritten.error();
  return unwritten->error == 0 ? Status() : incomplete_file(views, *unwritten);
}

// The error for a streamed file that lacks records or texts because the disk was full.
Error Trace::incomplete_file(const std::vector<BufferView>& views,
                             const StreamWriter::Unwritten& unwritten) {
  InFile in_file = stream_->records();
  uint64_t records = 0, lost = 0;
  for (const auto& view : views) {
    // In wrap-around mode only names are streamed.
    if (config_.mode == COLLECTION_MODE_WRAP && view.kind != PITRACE_BUFFER_MTE) continue;
    records += view.counts.written - in_file[{view.cpu, view.kind}];
    lost += view.counts.lost[PITRACE_LOST_FULL];
  }
  std::string lacks;
  if (unwritten.records)
    lacks += fmt::format(
        " The newest {} records are not in the file, and {} more were lost because the buffers "
        "were full.",
        records, lost);
  if (unwritten.kernel)
    lacks += " The kernel's symbols are not in the file: kernel code has no names.";
  if (unwritten.code)
    lacks += " The kernel's code is not in the file: its instructions cannot be shown.";
  return {PU_ERROR_FILE,
          fmt::format("The trace is off, but '{}' is not complete: {}.{} The part that was written "
                      "can be read. Free disk space, or give another file (swtrace init -f), and "
                      "record again.",
                      stream_->name(), errno_text(unwritten.error), lacks)};
}

Status Trace::write(const std::string& wanted) {
  const auto now = status();
  if (!now) return now.error();
  if (!recorded_)
    return Error{PU_ERROR_INCORRECT_STATE,
                 "Nothing has been recorded yet; turn the trace on first."};
  const std::string name = wanted.empty() ? config_.file_name : wanted;
  if (config_.mode == COLLECTION_MODE_WRAP) return write_snapshot(name, *now);
  if (now->on)
    return Error{PU_ERROR_INCORRECT_STATE,
                 config_.mode == COLLECTION_MODE_NORMAL
                     ? "The trace is on; turn it off before you write it."
                     : fmt::format("The trace is on and being written to '{}'; turn it off first.",
                                   config_.file_name)};
  if (config_.mode == COLLECTION_MODE_NORMAL) return write_buffers(name, *now);
  if (name == config_.file_name) return {};
  auto copy = stream_->copy_to(name);
  if (!copy) return copy.error();
  return finish_file(copy->file, name);
}

Status Trace::write_buffers(const std::string& name, const CollectorStatus& now) {
  TraceContent content;
  content.buffers = collector_->buffers();
  content.start_time = now.start_time;
  content.stop_time = now.stop_time;
  content.interval_id = now.interval_id;
  content.full = now.full;
  content.info = describe_trace(*collector_, now, notes(), counts());
  content.build_ids = read_build_ids(content.buffers, config_.proc_path, content.info);
  uint32_t known = 0;
  content.frame_names = collector_->frame_names(known);
  see_kernel_code(content.buffers);
  content.kernel_code = code_or_note(*kernel_code_, content.info);
  content.kernel = read_kernel_texts(config_.proc_path);
  return write_trace_file(name, content);
}

// For buffers that do not stream; StreamWriter does the same with sections as it writes them.
void Trace::see_kernel_code(const std::vector<BufferView>& buffers) {
  if (!kernel_code_) kernel_code_.emplace(config_.proc_path);
  for (const auto& view : buffers)
    if (view.kind == PITRACE_BUFFER_TRACE) kernel_code_->see(view.records);
}

// Copies the rings first, then the names, so that the names of all copied records are included.
Status Trace::write_snapshot(const std::string& name, const CollectorStatus& now) {
  if (name == stream_->name())
    return Error{PU_ERROR_INVALID_PARAMETER,
                 fmt::format("'{}' is the file of the names (MTE). Give another file.", name)};
  auto rings = OutputFile::create(name);
  if (!rings) return rings.error();
  std::vector<StreamCounts> all;
  KernelCode kernel_code(config_.proc_path);
  int error = 0;
  collector_->copy_trace([&](const BufferCopy& copy) {
    const bool is_trace = copy.kind == PITRACE_BUFFER_TRACE;
    if (is_trace) kernel_code.see(copy.records);
    const SectionFacts section{is_trace ? nrm2::section_trace : nrm2::section_stacks, copy.cpu,
                               copy.last_time, copy.counts.produced - copy.counts.written, false};
    if (error == 0)
      error = rings->append(make_header(stream_->facts(), section, copy.records), copy.records);
    all.push_back({copy.cpu, copy.kind, copy.counts, copy.counts.written - copy.kept});
  });
  if (now.on) stream_->take_all();
  auto target = stream_->copy_to(name);
  if (!target) return target.error();
  if (error == 0) error = target->file.append_file(rings->fd());
  for (const auto& view : collector_->buffers()) {
    StreamCounts names{view.cpu, view.kind, view.counts};
    // While the trace is on, more names are recorded meanwhile: count those that are in the file.
    const uint64_t in_file = target->in_file[{view.cpu, view.kind}];
    if (now.on)
      names.counts = {in_file + view.counts.produced - view.counts.written, in_file,
                      view.counts.lost};
    names.unwritten = names.counts.written - in_file;
    all.push_back(names);
  }
  InfoText described = describe_trace(*collector_, now, notes(), all);
  described.add(nrm2::info::ended, now.on ? "snapshot" : "off");
  described.add(nrm2::info::kallsyms, target->kernel_state);
  const std::string code = code_or_note(kernel_code, described);
  const auto add_text = [&](uint32_t type, const std::string& text) {
    SectionFacts facts;
    facts.type = type;
    const Bytes data = bytes_of(text);
    if (error == 0) error = target->file.append(make_header(stream_->facts(), facts, data), data);
  };
  if (!code.empty()) add_text(nrm2::section_kernel_code, code);
  add_text(nrm2::section_info, described.text());
  if (error != 0)
    return Error{PU_ERROR_FILE,
                 fmt::format("Cannot write '{}': {}. Free disk space or give another "
                             "file, and write it again.",
                             name, errno_text(error))};
  const auto done = finish_file(target->file, name);
  taken_ = done && !now.on;
  return done;
}

}  // namespace pi::perfutil
