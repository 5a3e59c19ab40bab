// SPDX-License-Identifier: MIT
// The files that hookit writes.
#include "logs.h"

#include <sys/utsname.h>
#include <time.h>

#include <cstring>

#include <pi/files.h>
#include <pi/printable.h>

namespace pi::hookit {

std::string log_name(const Options& options, std::string_view kind, unsigned number, int pid) {
  std::string name = options.log_path + '/' + options.log_prefix + '-' + std::string(kind) + '.' +
                     std::to_string(number);
  if (options.pid_in_names) name += '_' + std::to_string(pid);
  return name + options.log_suffix;
}

Status write_log(const std::string& path,
                 const std::function<int(const pi::callflow::Sink&)>& format,
                 jprof::LogFile::ChosenBy options) {
  jprof::LogFile file;
  if (const auto opened = file.open(path, options); !opened) return opened.error();
  int error = file.begin_whole();
  if (!error) error = format([&file](std::string_view part) { return file.append(part); });
  if (!error) error = file.finish();
  if (!error) return {};
  file.discard();
  return Error{error, "'" + path + "' cannot be written: " + std::strerror(error)};
}

std::string log_heading(int pid, const std::vector<std::string>& minima_notes) {
  std::string text = " hookit " HOOKIT_VERSION ", call flow of C functions\n";
  if (const auto command = read_system_file("/proc/thread-self/cmdline", 4096)) {
    std::string words = *command;
    for (char& c : words)
      if (c == '\0') c = ' ';
    text += " Command :: " + printable(words) + '\n';
  }
  utsname system{};
  if (::uname(&system) == 0)
    text += std::string(" Host :: ") + printable(system.nodename) + ", " + system.sysname + ' ' +
            system.release + ' ' + system.machine + '\n';
  const time_t now = ::time(nullptr);
  tm local{};
  char when[64];
  if (::localtime_r(&now, &local) && ::strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S %z", &local))
    text += std::string(" Written :: ") + when + '\n';
  for (const std::string& note : minima_notes) text += " Minima :: " + note + '\n';
  return text + " Process_Number_ID=" + std::to_string(pid) + '\n';
}

}  // namespace pi::hookit
