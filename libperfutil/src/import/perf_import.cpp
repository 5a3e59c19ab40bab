// SPDX-License-Identifier: MIT
// Converts a recording of perf (perf.data) to a trace file.
#include "perf_import.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <pi/budget.h>
#include <pi/files.h>
#include <pi/printable.h>
#include <pi/unique_fd.h>

#include "file/stream_file.h"
#include "import_info.h"
#include "perfutil.h"
#include "system/text.h"

namespace pi::perfutil {
namespace {

// Of records that are sorted. perf's rings have half a megabyte for each CPU.
constexpr size_t max_sorted_bytes = 256 << 20;

// The file to be written: it exists once there is a record, whose time is in its head.
class ImportedTrace {
 public:
  explicit ImportedTrace(std::string name) : name_(std::move(name)) {}

  int take(const BufferView& view, uint64_t start_time, uint32_t cpus) {
    if (const int error = open(start_time, cpus); error != 0) return error;
    const uint32_t type = view.kind == PITRACE_BUFFER_MTE ? nrm2::section_mte : nrm2::section_trace;
    uint64_t counted = 0;
    const size_t bytes = whole_records(view.records, view.records.size(), counted);
    return file_->add(
        {type, view.cpu, view.last_time, view.counts.produced - view.counts.written, false},
        view.records.first(bytes), counted);
  }

  // Adds the texts and gives the file its name.
  Status finish(const std::string& info, const std::string& build_ids, const KernelTexts& kernel,
                uint32_t cpus) {
    int error = open(0, cpus);
    if (error == 0) error = file_->add_kernel(kernel);
    if (error == 0) error = file_->add_text(nrm2::section_build_ids, build_ids);
    if (error == 0) error = file_->add_text(nrm2::section_info, info);
    if (error == 0) error = file_->set_cpus(cpus);
    if (error == 0) error = file_->sync();
    if (error == 0) error = file_->publish(false);
    return error == 0 ? Status() : failed(error);
  }

  Status failed(int error) const {
    if (problem_) return *problem_;
    return Error{PU_ERROR_FILE,
                 fmt::format("Cannot write '{}': {}. Free disk space, or name another directory "
                             "with -o.",
                             name_, errno_text(error))};
  }

 private:
  int open(uint64_t start_time, uint32_t cpus) {
    if (file_) return 0;
    auto created = StreamFile::create(name_, {PITRACE_MODE_CONTINUOUS, start_time, 1, cpus});
    if (!created) {
      problem_ = created.error();
      return EIO;
    }
    file_.emplace(std::move(*created));
    return 0;
  }

  const std::string name_;
  std::optional<StreamFile> file_;
  std::optional<Error> problem_;  // why it could not be created
};

Error about(const PerfImport& import, const std::string& what) {
  return {PU_ERROR_FILE, fmt::format("'{}' {}", printable(import.recording), printable(what))};
}

// The events with the most samples, each with their number.
std::string sampled_list(const std::map<std::string, uint64_t>& events) {
  constexpr size_t max_named = 5;
  std::vector<std::pair<uint64_t, std::string>> sorted;
  for (const auto& [name, count] : events) sorted.emplace_back(count, name);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string text;
  for (const auto& [count, name] : std::span(sorted).first(std::min(sorted.size(), max_named)))
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", name, count);
  if (sorted.size() > max_named) text += fmt::format(" and {} more", sorted.size() - max_named);
  return text;
}

// The samples of the wanted event, or why there are none.
Status check_ticks(const PerfImport& import, const PerfFile& file, const Recording& recording) {
  const RecordedTicks& ticks = recording.ticks();
  const auto& others = recording.left_out().other_events;
  if (ticks.count == 0 && others.empty()) {
    if (file.has_counts) return about(import, "has counts of 'perf stat record' and no samples.");
    if (file.has_tracer_data)
      return about(import,
                   "has no samples, but data of a tracer such as Intel PT, which is not read.");
  }
  if (ticks.count != 0 || (ticks.event.empty() && import.event.empty() && others.empty()))
    return {};
  if (!import.event.empty() && ticks.event.empty())
    return about(import, fmt::format("has no samples of an event {}; it has the events {}.",
                                     import.event, fmt::join(recording.sampled_events(), ", ")));
  if (others.empty()) return {};
  return about(import, fmt::format("has no samples of {}; choose another event with --event: {}.",
                                   ticks.event, sampled_list(others)));
}

uint32_t cpus_of(const PerfFile& file, const Recording& recording) {
  uint32_t cpus = file.cpus;
  for (const BufferView& view : recording.buffers()) cpus = std::max(cpus, view.cpu + 1);
  return cpus;
}

RecordedKernel kernel_of(const PerfFile& file, const Recording& recording) {
  RecordedKernel kernel = recording.kernel();
  kernel.host = file.host;
  kernel.release = file.kernel;
  if (const auto id = file.build_ids.find("[kernel.kallsyms]"); id != file.build_ids.end())
    kernel.build_id = id->second;
  return kernel;
}

std::string damage_of(const PerfFile& file, std::span<PerfStream* const> streams, bool has_gap) {
  if (has_gap) return "one of its files is missing, as the numbers of the others show";
  for (const PerfStream* stream : streams)
    if (!stream->damage().empty()) return stream->damage();
  if (file.cut_off) return "perf did not end it, or the file is cut off";
  return file.bad_features ? "build-ids or facts about its machine, at its end, cannot be read"
                           : "";
}

// data: the files with records only, of a recording that is a directory. has_gap: one is missing.
Status convert(const PerfImport& import, const RegularFile& main,
               const std::vector<RegularFile>& data, bool has_gap = false) {
  const int fd = main.fd.get();
  auto file = read_perf_file(fd, static_cast<uint64_t>(main.status.st_size));
  if (!file) return about(import, file.error().message);
  if (file->directory_version > 1)
    return about(import, fmt::format("is a directory of the version {}, which is not known.",
                                     file->directory_version));
  std::vector<std::unique_ptr<PerfStream>> opened;
  opened.push_back(std::make_unique<PerfStream>(fd, file->begin, file->end));
  for (const RegularFile& each : data)
    opened.push_back(std::make_unique<PerfStream>(
        each.fd.get(), 0, static_cast<uint64_t>(each.status.st_size), true));
  std::vector<PerfStream*> streams;
  for (const auto& stream : opened) streams.push_back(stream.get());
  ImportedTrace trace(import.trace);
  const Recording* source = nullptr;
  Recording recording(
      *file, import.event, max_sorted_bytes,
      [&](const BufferView& view) { return trace.take(view, source->start_time(), file->cpus); },
      import.code);
  source = &recording;
  const Status converted = recording.convert(streams);
  if (!converted && converted.error().message.empty()) return trace.failed(converted.error().code);
  if (!converted) return about(import, converted.error().message);
  if (const Status good = check_ticks(import, *file, recording); !good) return good;
  if (import.code != nullptr)
    for (const auto& [path, id] : import.code->found_build_ids()) file->add_build_id(path, id);
  const KernelTexts kernel =
      find_kernel_texts(kernel_of(*file, recording), import.proc, import.cache);
  const InfoText info =
      describe_import(*file, recording, damage_of(*file, streams, has_gap), kernel.kallsyms_state);
  return trace.finish(info.text(), build_id_lines(*file), kernel, cpus_of(*file, recording));
}

// Why a file is no recording, or is no part of one; "": it can be.
std::string refusal(const RegularFile& file) {
  const auto size = static_cast<uint64_t>(file.status.st_size);
  if (size > sparse_file.of(real_size(file.fd.get(), file.status)))
    return "consists mostly of holes; it is no recording.";
  return {};
}

// Of a recording that is a directory.
constexpr size_t max_files = 1024;

// Of the files 'data.NUMBER' in a directory.
std::set<uint32_t> data_numbers(const std::string& directory) {
  constexpr std::string_view begin = "data.";
  std::set<uint32_t> numbers;
  std::error_code problem;
  std::filesystem::directory_iterator at(directory, problem);
  for (; !problem && at != std::filesystem::directory_iterator(); at.increment(problem)) {
    const std::string name = at->path().filename();
    if (!name.starts_with(begin)) continue;
    const auto number = parse_number(name.substr(begin.size()));
    if (number && *number < UINT32_MAX && name == fmt::format("{}{}", begin, *number))
      numbers.insert(static_cast<uint32_t>(*number));
    if (numbers.size() > max_files) break;
  }
  return numbers;
}

bool is_directory(const std::string& path) {
  struct stat facts {};
  return ::stat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode);
}

// What 'perf record --threads' writes: a file 'data', and for each thread of perf 'data.NUMBER'
// with the records of some CPUs.
Status convert_directory(const PerfImport& import) {
  const UniqueFd directory(::open(import.recording.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!directory) return about(import, fmt::format("cannot be opened: {}.", errno_text(errno)));
  const auto open_part = [&](const std::string& name) -> Result<RegularFile> {
    auto file = open_regular_below(path_of(directory.get()), name);
    if (file || file.error().code != EXDEV) return file;
    return Error{EXDEV, "a symbolic link leads out of the directory"};
  };
  auto main = open_part("data");
  if (!main)
    return about(import, fmt::format("is a directory without a recording: 'data' cannot be opened: "
                                     "{}.",
                                     main.error().message));
  if (const std::string why = refusal(*main); !why.empty()) return about(import, why);
  const std::set<uint32_t> numbers = data_numbers(path_of(directory.get()));
  std::vector<RegularFile> files;
  for (const uint32_t number : numbers) {
    const std::string name = fmt::format("data.{}", number);
    auto file = open_part(name);
    if (!file)
      return about(import, fmt::format("has a file '{}' that cannot be opened: {}.", name,
                                       file.error().message));
    if (files.size() == max_files)
      return about(import, fmt::format("has more than {} files.", max_files));
    if (const std::string why = refusal(*file); !why.empty()) return about(import, why);
    files.push_back(std::move(*file));
  }
  // perf numbers them from 0.
  const bool has_gap = !numbers.empty() && *numbers.rbegin() + 1 != numbers.size();
  return convert(import, *main, files, has_gap);
}

}  // namespace

Status import_perf_recording(const PerfImport& import) {
  if (is_directory(import.recording)) return convert_directory(import);
  auto file = open_regular(import.recording);
  if (!file) return about(import, fmt::format("cannot be opened: {}.", file.error().message));
  if (file->status.st_size == 0)
    return about(import, "is empty: perf record has failed, or still runs.");
  if (const std::string why = refusal(*file); !why.empty()) return about(import, why);
  return convert(import, *file, {});
}

}  // namespace pi::perfutil
