// SPDX-License-Identifier: MIT
// Paths at which runtimes write events of a process.
#include "runtime_logs.h"

#include <dirent.h>
#include <fmt/format.h>
#include <pi/jit_log.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <iterator>
#include <memory>

#include "text/text.h"

namespace post {
namespace {

std::string root_of(const ProcessIds& process) {
  return fmt::format("/proc/{}/root", process.pid);
}

uint32_t inner(const ProcessIds& process) {
  return process.inner_pid != 0 ? process.inner_pid : process.pid;
}

constexpr std::string_view archive_folder = "logs/";
// In the order of LogKind.
constexpr std::string_view kind_words[] = {"jita2n", "jtnm", "jitdump", "perfmap"};

}  // namespace

std::string archived_name(const LogKey& log) {
  return fmt::format("{}{}_{}", archive_folder, kind_words[static_cast<size_t>(log.kind)], log.pid);
}

std::optional<LogKey> log_of_name(std::string_view name) {
  if (!name.starts_with(archive_folder)) return std::nullopt;
  name.remove_prefix(archive_folder.size());
  const size_t end = name.find('_');
  uint64_t pid = 0;
  if (end == name.npos || !parse_number(name.substr(end + 1), pid) || pid > UINT32_MAX)
    return std::nullopt;
  const auto word = std::ranges::find(kind_words, name.substr(0, end));
  if (word == std::end(kind_words)) return std::nullopt;
  return LogKey{static_cast<LogKind>(word - kind_words), static_cast<uint32_t>(pid)};
}

std::string log_prefix(const std::string& jdir, const std::string& trace_file) {
  const std::string prefix = jdir.empty() ? pi::jit_log::default_prefix : jdir;
  if (prefix.find('/') != std::string::npos) return prefix;
  return trace_file.substr(0, trace_file.rfind('/') + 1) + prefix;
}

std::vector<std::string> jprof_logs(const std::string& prefix, const char* kind,
                                    const ProcessIds& process) {
  std::vector<std::string> paths{fmt::format("{}-{}_{}", prefix, kind, inner(process))};
  if (process.inner_pid != 0) paths.push_back(fmt::format("{}-{}_{}", prefix, kind, process.pid));
  return paths;
}

std::vector<std::string> perf_maps(const ProcessIds& process) {
  const std::string path = fmt::format("/tmp/perf-{}.map", inner(process));
  std::vector<std::string> paths{root_of(process) + path};
  if (process.inner_pid == 0) paths.push_back(path);
  return paths;
}

DirectoryNames::Names DirectoryNames::read(const std::string& directory) {
  constexpr size_t most = 1 << 18;
  Names found;
  const std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir(directory.c_str()), ::closedir);
  if (!open) {
    found.all = errno == ENOENT || errno == ENOTDIR;
    return found;
  }
  errno = 0;
  while (const dirent* const entry = ::readdir(open.get())) {
    if (found.names.size() == most) return {};
    found.names.emplace(entry->d_name);
  }
  found.all = errno == 0;
  return found;
}

bool DirectoryNames::may_have(const std::string& path) {
  constexpr std::string_view processes = "/proc/";
  const bool of_process = path.starts_with(processes);
  const size_t name = of_process ? processes.size() : path.rfind('/') + 1;
  const std::string_view directory =
      name == 0 ? std::string_view(".") : std::string_view(path).substr(0, name);
  auto known = directories_.find(directory);
  if (known == directories_.end())
    known = directories_.emplace(std::string(directory), read(std::string(directory))).first;
  const size_t end = of_process ? path.find('/', name) : path.size();
  return !known->second.all || known->second.names.contains(path.substr(name, end - name));
}

bool is_jit_dump(const std::string& module) {
  std::string_view name = std::string_view(module).substr(module.rfind('/') + 1);
  if (!name.starts_with("jit-") || !name.ends_with(".dump")) return false;
  name = name.substr(4, name.size() - 9);
  return !name.empty() && std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; });
}

std::vector<std::string> jit_dumps(const std::string& module, const ProcessIds& process) {
  std::vector<std::string> paths{root_of(process) + module};
  if (process.inner_pid == 0) paths.push_back(module);
  return paths;
}

}  // namespace post
