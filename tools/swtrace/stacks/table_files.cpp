// SPDX-License-Identifier: MIT
// The files that processes have mapped, and their tables.
#include "table_files.h"

#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "table_work.h"

namespace pi::swtrace {
namespace {

// A path has up to 4 KB, and programs can map a million files.
constexpr size_t max_path_bytes = 64 << 20, max_path_bytes_of_others = 48 << 20;
constexpr size_t max_shared = 1 << 14;

}  // namespace

TableFiles::TableFiles(Compile compile, const Limits& limits, Open open, When when, Find find)
    : work_(std::make_shared<TableWork>(std::move(compile), limits, std::move(open),
                                        std::move(find))),
      when_(when) {}

TableFiles::TableFiles(Compile compile, const Limits& limits, const std::string& proc)
    : TableFiles(
          std::move(compile), limits,
          [proc](const MappedAs& place) { return open_mapped(place, proc); }, When::early,
          [proc](const MappedAs& place) { return find_mapped(place, proc); }) {}

TableFiles::~TableFiles() {
  const bool ended = work_->stop();
  for (std::thread& thread : threads_) ended ? thread.join() : thread.detach();
}

bool TableFiles::start() {
  try {
    for (; lanes_ < TableWork::lanes; ++lanes_)
      threads_.emplace_back([work = work_, lane = lanes_] { work->compile_files(lane); });
  } catch (const std::system_error&) {
    return false;  // tried again with the next file
  }
  return start_opener();
}

bool TableFiles::start_opener() {
  if (!work_->wants_opener()) return true;
  try {
    threads_.emplace_back([work = work_] { work->open_files(); });
  } catch (const std::system_error&) {
    work_->has_no_opener();
    return false;
  }
  return true;
}

std::shared_ptr<TableFile> TableFiles::mapped(const MappedAs& place) {
  if (place.path != vdso_path && !place.path.starts_with('/')) return nullptr;
  if (place.path.starts_with("//")) return nullptr;  // "//anon"
  if (when_ == When::when_wanted) {
    if (shared_.size() >= max_shared)
      std::erase_if(shared_, [](const auto& entry) { return entry.second.expired(); });
    if (shared_.size() >= max_shared) return make(place);
    auto& known = shared_[{place.path, place.inode}];
    auto file = known.lock();
    if (!file) known = file = make(place);
    return file;
  }
  auto file = make(place);
  if (file && start()) work_->open_soon(file);
  return file;
}

bool TableFiles::has_space(const MappedAs& place) const {
  const size_t sum = *path_bytes_ + place.path.size();
  if (sum <= max_path_bytes_of_others) return true;
  return sum <= max_path_bytes && (!is_own_ || is_own_(place.pid));
}

std::shared_ptr<TableFile> TableFiles::make(const MappedAs& place) {
  if (!has_space(place)) {
    ++paths_refused_;
    return nullptr;
  }
  return std::make_shared<TableFile>(place, path_bytes_);
}

void TableFiles::ask(const std::shared_ptr<TableFile>& file, TableWish wish) {
  if (when_ == When::when_wanted && wish != TableWish::wanted) return;
  if (!file->is_done_ && start()) work_->ask(file, wish);
}

bool TableFiles::is_done(TableFile& file) {
  if (!file.is_done_) {
    (void)start_opener();
    file.is_done_ = work_->is_done(file, file.table_, file.refusal_);
  }
  return file.is_done_;
}

std::vector<std::string> TableFiles::notes() const {
  auto notes = work_->notes(when_ == When::early);
  if (paths_refused_ != 0)
    notes.push_back(
        fmt::format("{} mapped file(s) have no unwind tables, since the recorder keeps a limited "
                    "number of bytes of paths.",
                    paths_refused_));
  return notes;
}

}  // namespace pi::swtrace
