// SPDX-License-Identifier: MIT
// post --import: unwinds the copies of user stacks in a recording of perf.
#include "recorded_stacks.h"

#include <a2n_context.h>
#include <file/elf_note.h>
#include <pi/printable.h>

#include <cerrno>
#include <chrono>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "stacks/table_compiler.h"
#include "stacks/table_work.h"

namespace post {
namespace {

using pi::Error;
using pi::Result;
using pi::UniqueFd;
namespace swtrace = pi::swtrace;

// For the files of root, and for those of all others.
constexpr std::chrono::minutes time_for_tables{5};
constexpr size_t max_files = 1 << 16;  // as many as a recording's build-ids

swtrace::TableFiles::Limits limits() {
  swtrace::TableFiles::Limits limits;
  limits.time = time_for_tables;
  return limits;
}

}  // namespace

RecordedStacks::RecordedStacks(std::string search_path, std::string cache)
    : files_(std::make_shared<RecordedFiles>(std::move(search_path), std::move(cache))),
      resolver_(swtrace::compile_by_child, limits(),
                [files = files_](const swtrace::MappedAs& place) { return files->open(place); }) {}

void RecordedFiles::add(const pi::perfutil::RecordedFile& file) {
  const std::lock_guard lock(mutex_);
  if (known_.size() < max_files || known_.contains(file.path))
    known_.insert_or_assign(file.path, Known{file.build_id, file.of_this_host});
}

std::map<std::string, std::string> RecordedFiles::found_build_ids() const {
  const std::lock_guard lock(mutex_);
  return found_;
}

Result<UniqueFd> RecordedFiles::open(const swtrace::MappedAs& place) {
  Known known;
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = known_.find(place.path); found != known_.end()) known = found->second;
  }
  if (place.path == swtrace::vdso_path) return open_vdso(known);
  auto file = open_known(place, known);
  if (!file || !known.build_id.empty()) return file;
  if (const auto id = pi::perfutil::build_id_of_file(file->get()); id && !id->empty()) {
    const std::lock_guard lock(mutex_);
    found_.emplace(place.path, *id);
  }
  return file;
}

// The file itself is asked for first: perf's cache may be that of another program.
Result<UniqueFd> RecordedFiles::open_known(const swtrace::MappedAs& place,
                                           const Known& known) const {
  if (known.build_id == "?") return Error{ESTALE, "several files had this path"};
  if (!known.build_id.empty()) {
    auto file = open_file(place.path, known.build_id, 0);
    if (file) return file;
    if (auto cached = open_cached(known.build_id, "elf")) return cached;
    return file;
  }
  if (!known.of_this_host || place.inode == 0)
    return Error{ESTALE, "the recording has no build-id of it"};
  return open_file(place.path, {}, place.inode);
}

Result<UniqueFd> RecordedFiles::open_file(const std::string& path, const std::string& build_id,
                                          uint64_t inode) const {
  // A new one each time: with the build-id of one file it expects those of all others.
  const std::unique_ptr<a2n_context, void (*)(a2n_context*)> context(a2n_context_new(),
                                                                     a2n_context_free);
  if (!search_path_.empty()) a2n_set_search_path(context.get(), search_path_.c_str());
  if (!build_id.empty() &&
      a2n_set_build_id(context.get(), path.c_str(), 0, build_id.c_str()) != A2N_SUCCESS)
    return Error{ESTALE, "its build-id is damaged"};
  int fd = -1;
  switch (a2n_open_file(context.get(), path.c_str(), inode, &fd)) {
    case A2N_SUCCESS:
      return UniqueFd(fd);
    case A2N_FILE_NOT_FOUND:
      return Error{ENOENT, "it is not here"};
    case A2N_MEMORY_ERROR:
      return Error{ENOMEM, "no memory"};
    default:
      return Error{ESTALE, build_id.empty() ? "the file here is another one"
                                            : "the file here has another build-id, or is no file"};
  }
}

Result<UniqueFd> RecordedFiles::open_vdso(const Known& known) const {
  if (known.build_id.empty() ? known.of_this_host
                             : known.build_id == pi::perfutil::build_id_of_vdso()) {
    UniqueFd copy = swtrace::copy_of_vdso();
    if (copy) return copy;
  }
  if (auto cached = open_cached(known.build_id, "vdso")) return cached;
  return Error{ENOENT, "it is that of another kernel"};
}

// perf keeps what it has recorded as .build-id/01/23456789.../elf.
Result<UniqueFd> RecordedFiles::open_cached(const std::string& build_id, const char* name) const {
  if (cache_.empty() || build_id.size() < 3) return Error{ENOENT, "it is not here"};
  return open_file(
      fmt::format("{}/.build-id/{}/{}/{}", cache_, build_id.substr(0, 2), build_id.substr(2), name),
      build_id, 0);
}

}  // namespace post
