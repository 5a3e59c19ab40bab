// SPDX-License-Identifier: MIT
// The thread that writes sections from a collector's buffers to a trace file, as they fill.
#include "stream_writer.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <new>
#include <system_error>

#include <fmt/format.h>

#include "perfutil.h"
#include "system/limits.h"
#include "system/text.h"

namespace pi::perfutil {
namespace {

using Clock = std::chrono::steady_clock;

Error file_error(const std::string& name, int error) {
  return {PU_ERROR_FILE, fmt::format("'{}' cannot be written: {}.", name, errno_text(error))};
}

uint32_t section_type_of(uint32_t kind) {
  return kind == PITRACE_BUFFER_MTE      ? nrm2::section_mte
         : kind == PITRACE_BUFFER_STACKS ? nrm2::section_stacks
                                         : nrm2::section_trace;
}

}  // namespace

StreamWriter::StreamWriter(Collector& collector, std::unique_ptr<StreamFile> file, Setup setup)
    : collector_(collector),
      setup_(std::move(setup)),
      file_(std::move(file)),
      build_id_reader_([proc = setup_.proc_path](const WantedFile& wanted) {
        return build_id_line(wanted, proc);
      }),
      stop_event_(::eventfd(0, EFD_CLOEXEC)) {}

Result<std::unique_ptr<StreamWriter>> StreamWriter::create(Collector& collector, Setup setup) {
  auto file = StreamFile::create(setup.name, setup.facts);
  if (!file) return file.error();
  if (const int error = file->add_text(nrm2::section_info, setup.info.text()); error != 0)
    return file_error(setup.name, error);
  return std::unique_ptr<StreamWriter>(new StreamWriter(
      collector, std::make_unique<StreamFile>(std::move(*file)), std::move(setup)));
}

Status StreamWriter::start() {
  if (const int error = file_->publish(true); error != 0) return file_error(setup_.name, error);
  try {
    stopping_ = false;
    reader_ = std::thread([this] { read_sections(); });
    syncer_ = std::thread([this] { sync_each_second(); });
  } catch (const std::system_error&) {
    stop();
    return no_thread("writing the trace");
  }
  return {};
}

void StreamWriter::stop() {
  stopping_ = true;
  ::eventfd_write(stop_event_.get(), 1);
  if (reader_.joinable()) reader_.join();
  if (syncer_.joinable()) syncer_.join();
}

// Waits until there is a section, at most a second.
void StreamWriter::read_sections() {
  auto next_second = Clock::now() + std::chrono::seconds(1);
  bool failing = false, has_kernel = false;
  while (!stopping_) {
    const auto left = next_second - Clock::now();
    const auto left_ms = std::chrono::duration_cast<std::chrono::milliseconds>(left).count();
    pollfd waiting[] = {{stop_event_.get(), POLLIN, 0}, {collector_.ready_fd(), POLLIN, 0}};
    // Records that cannot be written keep ready_fd() readable: try again in a second instead.
    const nfds_t watched = failing ? 1 : 2;
    ::poll(waiting, watched, static_cast<int>(std::max<int64_t>(left_ms + 1, 0)));
    const bool second_over = Clock::now() >= next_second;
    if (second_over) next_second = Clock::now() + std::chrono::seconds(1);
    if (failing && !second_over) continue;
    const std::lock_guard lock(mutex_);
    try {
      take(second_over ? Take::names : Take::sections);
      failing = !trouble_.empty();
      if (second_over && !failing && !has_kernel) has_kernel = add_kernel_and_info() == 0;
    } catch (const std::bad_alloc&) {
      // Records that were not taken stay in the buffers.
    }
  }
}

void StreamWriter::sync_each_second() {
  while (!stopping_) {
    pollfd waiting{stop_event_.get(), POLLIN, 0};
    constexpr int second_ms = 1000;
    ::poll(&waiting, 1, second_ms);
    if (!unsynced_.exchange(false)) continue;
    UniqueFd fd;
    {
      const std::lock_guard lock(mutex_);
      fd = file_->duplicate();
    }
    if (fd) (void)::fdatasync(fd.get());
  }
}

void StreamWriter::fail(int error) {
  trouble_error_ = error;
  trouble_ = fmt::format(
      "Cannot write '{}': {}. Records that do not fit into the buffers until this is fixed are "
      "lost.",
      setup_.name, errno_text(error));
}

void StreamWriter::take(Take what) {
  trouble_.clear();
  const auto views = collector_.unread();
  const bool trace_is_due = std::any_of(views.begin(), views.end(), [&](const BufferView& view) {
    return view.kind == PITRACE_BUFFER_TRACE && view.records.size() >= setup_.section_bytes;
  });
  // Names and stacks before the records that need them, so that they are in the file whatever ends
  // it.
  if (!add_frame_names()) return;
  for (const uint32_t kind : {PITRACE_BUFFER_MTE, PITRACE_BUFFER_STACKS, PITRACE_BUFFER_TRACE}) {
    const bool partial = what == Take::all ||
                         (kind != PITRACE_BUFFER_TRACE && (what == Take::names || trace_is_due));
    for (const auto& view : views)
      if (view.kind == kind && !take_view(view, partial)) return;
  }
  take_build_ids();
}

// Writes whole sections; partial: also the rest. False when the file cannot be written.
bool StreamWriter::take_view(BufferView view, bool partial) {
  const bool is_mte = view.kind == PITRACE_BUFFER_MTE;
  while (view.records.size() >= setup_.section_bytes || (partial && !view.records.empty())) {
    uint64_t counted = 0;
    const size_t bytes = whole_records(view.records, setup_.section_bytes, counted);
    if (bytes == 0) return true;
    const auto section = view.records.first(bytes);
    const SectionFacts facts{section_type_of(view.kind), view.cpu, view.last_time,
                             view.counts.produced - view.counts.written, false};
    if (const int error = file_->add(facts, section, counted); error != 0) {
      fail(error);
      return false;
    }
    unsynced_ = true;
    if (is_mte)
      build_ids_.see(view.cpu, section);
    else if (view.kind == PITRACE_BUFFER_TRACE)
      kernel_code_.see(section);
    collector_.consumed(view, bytes);
    view.records = view.records.subspan(bytes);
    view.position += bytes;
  }
  return true;
}

// Adds the build-ids that were read until now, without waiting: the rings must not wait for a file
// system.
void StreamWriter::take_build_ids() {
  build_id_reader_.want(build_ids_.take());
  add_build_ids(build_id_reader_.take_lines());
}

void StreamWriter::add_build_ids(const std::string& lines) {
  unwritten_build_ids_ += lines;
  if (unwritten_build_ids_.empty()) return;
  if (const int error = file_->add_text(nrm2::section_build_ids, unwritten_build_ids_); error != 0)
    return fail(error);
  unwritten_build_ids_.clear();
}

bool StreamWriter::add_frame_names() {
  unwritten_frame_names_ += collector_.frame_names(frame_names_);
  if (unwritten_frame_names_.empty()) return true;
  if (const int error = file_->add_text(nrm2::section_frame_names, unwritten_frame_names_);
      error != 0) {
    fail(error);
    return false;
  }
  unwritten_frame_names_.clear();
  unsynced_ = true;
  return true;
}

// Adds the kernel's texts unless the file already holds the same.
int StreamWriter::add_kernel() {
  const KernelTexts kernel = read_kernel_texts(setup_.proc_path);
  if (file_->has_kernel(kernel)) return 0;
  if (const int error = file_->add_kernel(kernel); error != 0) return error;
  kernel_state_ = kernel.kallsyms_state;
  return 0;
}

// Adds an info section with the state of the kernel's symbols as well.
int StreamWriter::add_kernel_and_info() {
  if (const int error = add_kernel(); error != 0) return error;
  InfoText info = setup_.info;
  info.add(nrm2::info::kallsyms, kernel_state_);
  return file_->add_text(nrm2::section_info, info.text());
}

void StreamWriter::take_all() {
  const std::lock_guard lock(mutex_);
  take(Take::all);
}

Result<StreamWriter::Unwritten> StreamWriter::finish(const MakeInfo& make_info, uint32_t cpus) {
  const std::string lines = build_id_reader_.wait_for_lines();
  const std::lock_guard lock(mutex_);
  add_build_ids(lines + build_id_reader_.give_up());
  (void)add_frame_names();
  Unwritten unwritten;
  const auto missing = [&unwritten](int why) {
    if (why != 0) unwritten.error = why;
    return why != 0;
  };
  unwritten.kernel = missing(add_kernel());
  InfoText late_notes;
  if (const auto unread = build_id_reader_.trouble(); !unread.empty())
    late_notes.add(nrm2::info::note, unread);
  const std::string code = code_or_note(kernel_code_, late_notes);
  if (!code.empty()) unwritten.code = missing(file_->add_text(nrm2::section_kernel_code, code));
  unwritten.records = missing(trouble_.empty() ? 0 : trouble_error_);
  if (unwritten.kernel)
    late_notes.add(nrm2::info::note,
                   "The disk was full: the kernel's symbols are not in the file, so that kernel "
                   "code has no names.");
  if (unwritten.code)
    late_notes.add(nrm2::info::note,
                   "The disk was full: the kernel's code is not in the file, so that its "
                   "instructions cannot be shown.");
  int error = 0;
  for (;;) {
    const bool whole = !unwritten.records && !unwritten.kernel && !unwritten.code;
    InfoText info = make_info(file_->records(), whole);
    info.add(nrm2::info::kallsyms, kernel_state_);
    error = file_->add_text(nrm2::section_info, info.text() + late_notes.text());
    if (error == 0 || file_->drop_last_records() != 0) break;
    unwritten.records = missing(error);
  }
  if (error == 0) error = file_->set_cpus(cpus);
  if (error == 0) error = file_->sync();
  if (error != 0) return file_error(setup_.name, error);
  return unwritten;
}

InFile StreamWriter::records() {
  const std::lock_guard lock(mutex_);
  return file_->records();
}

// The file first: when the collector fails after that, its records are missing in the file, and the
// counts say so.
Status StreamWriter::discard_trace() {
  const std::lock_guard lock(mutex_);
  auto other = file_->without_trace();
  if (!other) return other.error();
  if (const int error = other->publish(false); error != 0) return file_error(setup_.name, error);
  file_ = std::make_unique<StreamFile>(std::move(*other));
  kernel_code_.clear();
  return collector_.discard();
}

Result<StreamWriter::Copy> StreamWriter::copy_to(const std::string& name) {
  const std::string lines = build_id_reader_.wait_for_lines();
  const std::lock_guard lock(mutex_);
  add_build_ids(lines);
  (void)add_frame_names();
  if (kernel_state_ == "missing") (void)add_kernel();
  auto file = OutputFile::create(name);
  if (!file) return file.error();
  if (const int error = file_->append_to(*file); error != 0) return file_error(name, error);
  return Copy{std::move(*file), file_->records(), kernel_state_};
}

std::string StreamWriter::trouble() {
  const std::lock_guard lock(mutex_);
  return trouble_;
}

}  // namespace pi::perfutil
