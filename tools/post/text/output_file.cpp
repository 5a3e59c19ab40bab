// SPDX-License-Identifier: MIT
// A report file that appears under its name only when it is complete.
#include "output_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <pi/files.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>
#include <utility>

namespace post {
namespace {

// The temporary files' names for the signal handler; null for an unused entry. Each points into an
// existing OutputFile.
std::array<std::atomic<const char*>, 64> unfinished{};

void remember(const char* name) {
  for (auto& place : unfinished) {
    const char* none = nullptr;
    if (place.compare_exchange_strong(none, name)) return;
  }
}

void forget(const char* name) {
  for (auto& place : unfinished) {
    const char* known = name;
    if (place.compare_exchange_strong(known, nullptr)) return;
  }
}

extern "C" void remove_unfinished() {
  for (const auto& place : unfinished)
    if (const char* name = place.load()) ::unlink(name);
}

extern "C" void on_signal(int number) {
  remove_unfinished();
  ::raise(number);  // the handler was reset, so this ends the program as soon as it returns
}

}  // namespace

constexpr int ending_signals[] = {SIGINT, SIGTERM, SIGHUP};

SignalsWait::SignalsWait() {
  sigset_t signals;
  ::sigemptyset(&signals);
  for (const int number : ending_signals) ::sigaddset(&signals, number);
  ::pthread_sigmask(SIG_BLOCK, &signals, &before_);
}

SignalsWait::~SignalsWait() {
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void remove_unfinished_on_signals() {
  std::at_quick_exit(remove_unfinished);
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (const int number : ending_signals) {
    struct sigaction before {};
    // A signal that is ignored (nohup) stays ignored.
    if (::sigaction(number, nullptr, &before) == 0 && before.sa_handler != SIG_IGN)
      ::sigaction(number, &action, nullptr);
  }
}

namespace {

// Device and inode.
using Identity = std::pair<dev_t, ino_t>;

std::set<Identity>& kept_files() {
  static std::set<Identity> files;
  return files;
}

std::set<std::string>& used_paths() {
  static std::set<std::string> paths;
  return paths;
}

// Why a file cannot be written under that name; "" if it can. Adds the name to `taken`.
std::string refusal(const std::string& path, std::set<std::string>& taken) {
  struct stat facts {};
  // A link is replaced, not what it refers to.
  if (::lstat(path.c_str(), &facts) == 0 && kept_files().contains({facts.st_dev, facts.st_ino}))
    return fmt::format(
        "{} is read: it cannot be replaced by what is made of it. Choose another "
        "name.",
        path);
  std::error_code problem;
  const std::string whole = std::filesystem::absolute(path, problem).lexically_normal().string();
  if (!taken.insert(whole).second)
    return fmt::format("two files are to be written to {}. Choose another name for one.", path);
  return {};
}

}  // namespace

void OutputFile::keep(const std::string& path) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) == 0) kept_files().insert({facts.st_dev, facts.st_ino});
}

pi::Status OutputFile::check(const std::vector<std::string>& paths) {
  std::set<std::string> taken;
  for (const std::string& path : paths)
    if (const std::string reason = refusal(path, taken); !reason.empty())
      return pi::Error{-1, reason};
  return {};
}

pi::Result<std::unique_ptr<OutputFile>> OutputFile::create(const std::string& path, mode_t mode) {
  if (const std::string why = refusal(path, used_paths()); !why.empty()) return pi::Error{-1, why};
  auto file = pi::NewFile::create(path, ".post-", mode, pi::Umask::applied);
  if (!file)
    return pi::Error{file.error().code,
                     fmt::format("cannot write {}: {}. Choose another directory (of reports: -o).",
                                 path, file.error().message)};
  return std::unique_ptr<OutputFile>(new OutputFile(path, mode, std::move(*file)));
}

pi::Result<std::unique_ptr<OutputFile>> OutputFile::create_in_folder(const std::string& path,
                                                                     mode_t mode) {
  if (const std::string why = refusal(path, used_paths()); !why.empty()) return pi::Error{-1, why};
  const std::filesystem::path whole = path;
  const std::string folder = whole.parent_path();
  const bool made = ::mkdir(folder.c_str(), 0777) == 0;
  const auto refused = [&](int code, const std::string& reason) {
    if (made) ::rmdir(folder.c_str());
    return pi::Error{
        code,
        fmt::format("cannot use the folder {}: {}. Choose another directory (of reports: -o).",
                    folder, reason)};
  };
  if (!made && errno != EEXIST) return refused(errno, std::strerror(errno));
  const pi::UniqueFd directory(
      ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat facts {};
  if (!directory || ::fstat(directory.get(), &facts) != 0)
    return refused(errno, std::strerror(errno));
  if (facts.st_uid != ::geteuid()) return refused(EPERM, "it belongs to another user");
  auto file =
      pi::NewFile::create_in(directory.get(), whole.filename(), ".post-", mode, pi::Umask::applied);
  if (!file) return refused(file.error().code, file.error().message);
  std::unique_ptr<OutputFile> output(new OutputFile(path, mode, std::move(*file), folder + "/"));
  if (made) output->made_folder_ = folder;
  return output;
}

OutputFile::OutputFile(std::string path, mode_t mode, pi::NewFile file, const std::string& folder)
    : path_(std::move(path)),
      mode_(mode),
      file_(std::move(file)),
      folder_(folder),
      temporary_(folder + file_.temporary()) {
  remember(temporary_.c_str());
}

OutputFile::~OutputFile() {
  forget(temporary_.c_str());
  beside_.clear();
  { const pi::NewFile unfinished_goes = std::move(file_); }
  if (!made_folder_.empty()) ::rmdir(made_folder_.c_str());
}

// A system call for each small piece would take longer than making it.
bool OutputFile::write(std::string_view text) {
  constexpr size_t full = 256 << 10;
  buffer_ += text;
  size_ += text.size();
  if (buffer_.size() >= full) flush();
  return write_error_ == 0;
}

void OutputFile::flush() {
  if (write_error_ == 0) write_error_ = pi::write_all(file_.fd(), pi::text_bytes(buffer_));
  buffer_.clear();
}

bool OutputFile::rewrite(uint64_t offset, std::string_view text) {
  flush();
  if (write_error_ == 0) write_error_ = pi::write_all_at(file_.fd(), offset, pi::text_bytes(text));
  return write_error_ == 0;
}

// In the same directory, whatever has its name now.
void OutputFile::write_beside(const std::string& name, const std::function<void(Sink&)>& content) {
  auto file = pi::NewFile::create_in(file_.directory(), name, ".post-", mode_, pi::Umask::applied);
  if (!file) return fail(file.error().code);
  std::unique_ptr<OutputFile> other(new OutputFile(name, mode_, std::move(*file), folder_));
  content(*other);
  if (const pi::Status status = other->complete(); !status) return fail(status.error().code);
  // Each needs two descriptors.
  constexpr size_t most = 200;
  if (beside_.size() < most)
    beside_.push_back(std::move(other));
  else if (const pi::Status status = other->commit(); !status)
    fail(status.error().code);
}

void OutputFile::remove_beside(const std::string& beginning,
                               const std::vector<std::string>& except) {
  unwanted_ = beginning;
  wanted_ = except;
}

void OutputFile::remove_unwanted() {
  const auto close = [](DIR* list) { ::closedir(list); };
  const int fd = ::openat(file_.directory(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, decltype(close)> list(fd < 0 ? nullptr : ::fdopendir(fd), close);
  if (!list) return fail(errno);
  while (const dirent* entry = ::readdir(list.get())) {
    const std::string name = entry->d_name;
    if (!name.starts_with(unwanted_) || std::ranges::find(wanted_, name) != wanted_.end()) continue;
    const std::string_view number = std::string_view(name).substr(unwanted_.size());
    if (number.empty() || number.find_first_not_of("0123456789") != number.npos) continue;
    if (::unlinkat(file_.directory(), name.c_str(), 0) != 0) fail(errno);
  }
}

pi::Status OutputFile::complete() {
  if (completed_) return {};
  flush();
  if (write_error_ == 0) write_error_ = file_.sync();
  completed_ = write_error_ == 0;
  return completed_ ? pi::Status() : problem("write", write_error_);
}

pi::Status OutputFile::commit() {
  if (const pi::Status status = complete(); !status) return status;
  for (const auto& file : beside_)
    if (const pi::Status status = file->commit(); !status) return status;
  if (!unwanted_.empty()) remove_unwanted();
  if (write_error_ != 0) return problem("write", write_error_);
  if (const int reason = file_.complete(); reason != 0) return problem("write", reason);
  const int reason = file_.commit();
  return reason == 0 ? pi::Status() : problem("replace", reason);
}

pi::Error OutputFile::problem(const char* what, int reason) const {
  const char* hint = reason == ENOSPC || reason == EDQUOT
                         ? " Free space or choose another directory (of reports: -o)."
                         : "";
  return pi::Error{reason,
                   fmt::format("cannot {} {}: {}.{}", what, path_, std::strerror(reason), hint)};
}

}  // namespace post
