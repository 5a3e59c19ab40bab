// SPDX-License-Identifier: MIT
// Where ptt dump writes: the standard output, or a file that has only whole dumps.
#include "dump_file.h"

#include <unistd.h>

#include <utility>

#include <pi/files.h>

namespace pi::ptt {

Result<DumpFile> DumpFile::create(const std::string& path) {
  DumpFile out;
  if (path.empty()) return out;
  auto file = NewFile::create(path, ".ptt-", 0666, Umask::applied);
  if (!file) return file.error();
  out.file_.emplace(std::move(*file));
  return out;
}

int DumpFile::add(std::string_view dump) {
  if (!file_) return write_all(STDOUT_FILENO, text_bytes(dump));
  const int error = write_all_at(file_->fd(), size_, text_bytes(dump));
  if (error != 0) {
    (void)!::ftruncate(file_->fd(), static_cast<off_t>(size_));
    return error;
  }
  size_ += dump.size();
  return file_->publish(false);
}

int DumpFile::finish() {
  return file_ ? file_->commit() : 0;
}

}  // namespace pi::ptt
