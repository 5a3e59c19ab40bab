// SPDX-License-Identifier: MIT
// Paths at which runtimes write events of a process: JProf's logs, perf-PID.map, jitdump files.
#ifndef POST_RUNTIME_LOGS_H
#define POST_RUNTIME_LOGS_H

#include <compare>
#include <cstdint>
#include <optional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace post {

// The ids of a process in the trace and in its own PID namespace.
struct ProcessIds {
  uint32_t pid = 0;
  uint32_t inner_pid = 0;      // NSpid, in its own PID namespace; 0: it has none
  uint32_t pid_namespace = 0;  // the namespace's inode; 0: not known
};

enum class LogKind : uint8_t {
  code,
  threads,
  dump,
  map
};  // log-jita2n, log-jtnm, jitdump, perf-map

// A log of a process, by the process's id in the trace.
struct LogKey {
  LogKind kind;
  uint32_t pid;
  auto operator<=>(const LogKey&) const = default;
};

// Convert a log to its name in an archive, "logs/jita2n_4711", and back; nothing for other names.
std::string archived_name(const LogKey& log);
std::optional<LogKey> log_of_name(std::string_view name);

// DIRECTORY/PREFIX of the logs: from -jdir, or the directory of the trace.
std::string log_prefix(const std::string& jdir, const std::string& trace_file);

// The paths that a log of JProf may have, the likeliest first; kind as in pi/jit_log.h.
std::vector<std::string> jprof_logs(const std::string& prefix, const char* kind,
                                    const ProcessIds& process);

// The paths of its perf-PID.map, on the machine on which it runs or ran.
std::vector<std::string> perf_maps(const ProcessIds& process);

// The names in directories, each of which is read once: a trace can have a million processes, few
// of which have logs.
class DirectoryNames {
 public:
  // False if there is no such file. Of a file below /proc/PID only that directory is looked for.
  bool may_have(const std::string& path);

 private:
  struct Names {
    bool all = false;  // false: the directory cannot be read, or has too many
    std::unordered_set<std::string> names;
  };
  static Names read(const std::string& directory);

  std::map<std::string, Names, std::less<>> directories_;
};

// Whether a mapping's name is that of a jitdump file, which runtimes map to be found by it.
bool is_jit_dump(const std::string& module);

// The paths at which that file may be on this machine.
std::vector<std::string> jit_dumps(const std::string& module, const ProcessIds& process);

}  // namespace post

#endif  // POST_RUNTIME_LOGS_H
