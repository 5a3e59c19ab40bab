// SPDX-License-Identifier: MIT
// The process into which the agent is loaded: identified by a pidfd and its /proc directory, so
// that a later process with the same id is never used.
#include "target.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <functional>
#include <vector>

#include <fmt/format.h>
#include <pi/files.h>

namespace pi::attach {
namespace {

constexpr size_t max_status_bytes = 4 << 20;  // 65,536 groups and more
constexpr size_t max_maps_bytes = 512 << 20;  // 65,536 mappings of the longest paths
constexpr size_t max_line_bytes = 32 << 10;   // four characters for each byte of a path

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (size_t at = text.find_first_not_of(" \t"); at != text.npos;) {
    const size_t end = std::min(text.find_first_of(" \t", at), text.size());
    words.push_back(text.substr(at, end - at));
    at = text.find_first_not_of(" \t", end);
  }
  return words;
}

template <class Number>
bool to_number(std::string_view text, Number& value, int base = 10) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return error == std::errc() && end == text.data() + text.size();
}

// "Uid:" and "Gid:" have four ids.
template <class Id>
bool read_ids(std::string_view text, Id& id, bool& same) {
  const auto words = words_of(text);
  if (words.size() != 4 || !to_number(words[0], id)) return false;
  same = std::ranges::count(words, words[0]) == 4;
  return true;
}

bool each_line(int directory, const char* name, size_t limit,
               const std::function<bool(std::string_view)>& use) {
  const UniqueFd file(::openat(directory, name, O_RDONLY | O_CLOEXEC));
  if (!file) return false;
  std::string pending;
  char part[16 << 10];
  for (size_t total = 0; total < limit;) {
    const auto got = read_on(file.get(), std::as_writable_bytes(std::span(part)));
    errno = got.error;
    if (got.error != 0) return false;
    if (got.bytes == 0) return true;
    total += got.bytes;
    pending.append(part, got.bytes);
    size_t begin = 0;
    for (size_t end; (end = pending.find('\n', begin)) != pending.npos; begin = end + 1)
      if (!use(std::string_view(pending).substr(begin, end - begin))) return true;
    pending.erase(0, begin);
    if (pending.size() > limit) return false;
  }
  return false;
}

Error no_process(pid_t pid, int error) {
  if (error == EINVAL || error == ENOENT)
    return {1,
            fmt::format("{} is the id of a thread, not of a process. Give the process's id.", pid)};
  return {1, fmt::format("Cannot open process {}: {}.", pid, std::strerror(error))};
}

// In a /proc of another pid namespace the same number is another process.
bool is_same_process(int pidfd, pid_t pid) {
  const std::string name = fmt::format("/proc/self/fdinfo/{}", pidfd);
  bool same = false;
  each_line(AT_FDCWD, name.c_str(), 64 << 10, [&](std::string_view line) {
    if (!line.starts_with("Pid:")) return true;
    const auto words = words_of(line.substr(4));
    pid_t found = 0;
    same = words.size() == 1 && to_number(words[0], found) && found == pid;
    return false;
  });
  return same;
}

}  // namespace

std::optional<ProcStatus> parse_status(std::string_view text) {
  ProcStatus status;
  bool one_uid = false, one_gid = false;
  unsigned found = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const size_t colon = line.find(':');
    if (colon == line.npos) continue;
    const std::string_view key = line.substr(0, colon), value = line.substr(colon + 1);
    if (key == "State") {
      const auto words = words_of(value);
      status.stopped = !words.empty() && (words[0] == "T" || words[0] == "t");
      found |= 1;
    } else if (key == "Uid") {
      if (read_ids(value, status.uid, one_uid)) found |= 2;
    } else if (key == "Gid") {
      if (read_ids(value, status.gid, one_gid)) found |= 4;
    } else if (key == "NSpid") {
      const auto words = words_of(value);
      status.in_namespace = words.size() > 1;
      if (!words.empty() && to_number(words.back(), status.inner_pid) && status.inner_pid > 0)
        found |= 8;
    } else if (key == "SigCgt") {
      const auto words = words_of(value);
      uint64_t mask = 0;
      if (words.size() == 1 && to_number(words[0], mask, 16)) found |= 16;
      status.catches_quit = (mask >> (SIGQUIT - 1) & 1) != 0;
    }
  }
  if (found != 31) return std::nullopt;
  status.one_user = one_uid && one_gid;
  return status;
}

bool has_same_ids(const ProcStatus& before, const ProcStatus& now) {
  return before.one_user == now.one_user && before.uid == now.uid && before.gid == now.gid;
}

bool maps_code_of(std::string_view line, std::string_view name) {
  constexpr std::string_view deleted = " (deleted)";
  const size_t permissions = line.find(' ');
  if (permissions == line.npos || line.size() < permissions + 5 || line[permissions + 3] != 'x')
    return false;
  if (line.ends_with(deleted)) line.remove_suffix(deleted.size());
  const size_t path = line.find('/');
  return path != line.npos && line.substr(line.rfind('/') + 1) == name;
}

Result<Target> Target::open(pid_t pid) {
  Target target;
  target.pid_ = pid;
  target.pidfd_ = UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!target.pidfd_) return no_process(pid, errno);
  target.proc_ =
      UniqueFd(::open(fmt::format("/proc/{}", pid).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!target.proc_) return no_process(pid, errno == ENOENT ? ESRCH : errno);
  if (!is_same_process(target.pidfd_.get(), pid))
    return Error{1,
                 "The /proc that is mounted here belongs to another pid namespace. Mount one "
                 "for this namespace."};
  const auto status = target.read_status();
  // It is alive after its /proc directory was opened: pidfd and directory refer to the same
  // process.
  if (!status || !target.is_alive()) return Error{1, fmt::format("Process {} has ended.", pid)};
  target.status_ = *status;
  struct stat facts {};
  if (::fstatat(target.proc_.get(), "ns/pid", &facts, 0) == 0) target.pid_namespace_ = facts.st_ino;
  return target;
}

bool Target::is_alive() const {
  pollfd waiting{pidfd_.get(), POLLIN, 0};
  return ::poll(&waiting, 1, 0) == 0;
}

std::optional<ProcStatus> Target::read_status() const {
  std::string text;
  const bool whole = each_line(proc_.get(), "status", max_status_bytes, [&](std::string_view line) {
    text.append(line).append(1, '\n');
    return true;
  });
  return whole ? parse_status(text) : std::nullopt;
}

Status Target::has_ids_of_status() const {
  const auto now = read_status();
  if (!now) return Error{1, fmt::format("process {} has ended", pid_)};
  if (has_same_ids(status_, *now)) return {};
  return Error{1,
               fmt::format("process {} changed its user or group meanwhile. Run this again", pid_)};
}

Status Target::looks_like_jvm() const {
  bool hotspot = false, openj9 = false;
  const bool read = each_line(proc_.get(), "maps", max_maps_bytes, [&](std::string_view line) {
    if (line.size() > max_line_bytes) return true;
    hotspot = hotspot || maps_code_of(line, "libjvm.so");
    openj9 = openj9 || line.ends_with("/libj9vm29.so");
    return !openj9;
  });
  if (!read && is_alive())
    return Error{1, fmt::format("cannot read /proc/{}/maps: {}", pid_, std::strerror(errno))};
  if (!read) return Error{1, fmt::format("process {} has ended", pid_)};
  if (!hotspot)
    return Error{not_a_jvm, fmt::format("process {} is not a Java virtual machine", pid_)};
  if (openj9)
    return Error{not_a_jvm,
                 fmt::format("process {} is an OpenJ9 JVM. Only HotSpot is supported", pid_)};
  return {};
}

}  // namespace pi::attach
