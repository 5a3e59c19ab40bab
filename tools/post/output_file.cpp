// SPDX-License-Identifier: MIT
// A report file that appears under its name only when it is complete.
#include "output_file.h"

#include <fmt/format.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace post {
namespace {

// The temporary files' names for the signal handler, null where there is none. Each points into an
// OutputFile that exists.
std::array<std::atomic<const char*>, 4> unfinished{};

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

extern "C" void on_signal(int number) {
  for (const auto& place : unfinished)
    if (const char* name = place.load()) ::unlink(name);
  ::raise(number);  // the handler was reset, so this ends the program as soon as it returns
}

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

mode_t current_umask() {
  const mode_t mask = ::umask(077);
  ::umask(mask);
  return mask;
}

}  // namespace

void remove_unfinished_on_signals() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before {};
    // A signal that is ignored (nohup) stays ignored.
    if (::sigaction(number, nullptr, &before) == 0 && before.sa_handler != SIG_IGN)
      ::sigaction(number, &action, nullptr);
  }
}

pi::Result<std::unique_ptr<OutputFile>> OutputFile::create(const std::string& path, mode_t mode) {
  std::string temporary = folder_of(path) + ".post-XXXXXX";
  pi::UniqueFd fd(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!fd)
    return pi::Error{errno, fmt::format("cannot write {}: {}. Choose another directory with -o.",
                                        path, std::strerror(errno))};
  if (::fchmod(fd.get(), mode & ~current_umask()) != 0) {
    const int reason = errno;
    ::unlink(temporary.c_str());
    return pi::Error{reason,
                     fmt::format("cannot set the mode of {}: {}.", path, std::strerror(reason))};
  }
  return std::unique_ptr<OutputFile>(new OutputFile(path, std::move(temporary), std::move(fd)));
}

OutputFile::OutputFile(std::string path, std::string temporary, pi::UniqueFd fd)
    : path_(std::move(path)), temporary_(std::move(temporary)), fd_(std::move(fd)) {
  remember(temporary_.c_str());
}

OutputFile::~OutputFile() {
  if (fd_) ::unlink(temporary_.c_str());
  forget(temporary_.c_str());
}

bool OutputFile::write(std::string_view text) {
  while (!text.empty() && write_error_ == 0) {
    const ssize_t count = ::write(fd_.get(), text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0)
      write_error_ = errno;
    else
      text.remove_prefix(static_cast<size_t>(count));
  }
  return write_error_ == 0;
}

bool OutputFile::rewrite(uint64_t offset, std::string_view text) {
  while (!text.empty() && write_error_ == 0) {
    const ssize_t count = ::pwrite(fd_.get(), text.data(), text.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      write_error_ = errno;
    } else {
      text.remove_prefix(static_cast<size_t>(count));
      offset += static_cast<uint64_t>(count);
    }
  }
  return write_error_ == 0;
}

pi::Error OutputFile::error(const char* what) const {
  const int reason = errno;
  const char* hint =
      reason == ENOSPC || reason == EDQUOT ? " Make room or choose another directory with -o." : "";
  return {reason, fmt::format("cannot {} {}: {}.{}", what, path_, std::strerror(reason), hint)};
}

pi::Status OutputFile::commit() {
  errno = write_error_;
  if (write_error_ != 0) return error("write");
  // Some file systems tell only here that there was no room.
  if (::close(fd_.release()) != 0) {
    const pi::Error problem = error("write");
    ::unlink(temporary_.c_str());
    return problem;
  }
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) {
    const pi::Error problem = error("replace");
    ::unlink(temporary_.c_str());
    return problem;
  }
  forget(temporary_.c_str());
  return {};
}

}  // namespace post
