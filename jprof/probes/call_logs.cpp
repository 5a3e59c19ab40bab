// SPDX-License-Identifier: MIT
// The numbered logs of call flow and of call-stack sampling.
#include "probes/call_logs.h"

#include <unistd.h>

#include <ctime>
#include <system_error>

#include "name_logs.h"
#include "return_codes.h"

namespace pi::jprof {

Status write_and_close(LogFile& log, const Format& format) {
  int error = log.begin_whole();
  if (error == 0) error = format([&log](std::string_view part) { return log.append(part); });
  if (error == 0) error = log.finish();
  if (error == 0) return {};
  log.discard();
  log.close();
  return Error{no_logs,
               "cannot write '" + log.path() + "': " + std::generic_category().message(error)};
}

Status write_file(const std::string& path, const Format& format, LogFile::ChosenBy options) {
  LogFile file;
  if (const auto opened = file.open(path, options); !opened)
    return Error{no_logs, opened.error().message};
  return write_and_close(file, format);
}

std::string log_heading(const std::string& jvm, const std::string& source) {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  char time[32];
  ::gmtime_r(&now, &parts);
  (void)std::strftime(time, sizeof time, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return " JProf " JPROF_VERSION " JVMTI" + source + "\n JVM :: " + jvm + "\n Written :: " + time +
         "\n Process_Number_ID=" + std::to_string(::getpid()) + "\n";
}

Status CallLogs::open(LogFile& log, const Options& options, const char* kind) {
  const std::string numbered = std::string(kind) + "." + std::to_string(written_ + 1);
  const auto path = log_path(options, numbered.c_str(), static_cast<uint32_t>(::getpid()));
  if (log.is_open() && log.path() == path) return {};
  if (log.is_open()) log.remove_if_empty();
  const auto opened = log.open(path);
  return opened ? Status{} : Error{no_logs, opened.error().message};
}

Status CallLogs::open(const Options& options) {
  Status opened;
  if (options.call_tree || options.samples()) opened = open(tree_, options, "rt");
  if (opened && options.call_trace) opened = open(events_, options, "gen");
  if (opened && options.records_calls()) opened = open(unrecorded_, options, "unrecorded");
  return opened;
}

void CallLogs::discard() {
  for (LogFile* const log : {&tree_, &events_, &unrecorded_}) {
    if (log->is_open()) log->remove_if_empty();
    log->close();
  }
}

}  // namespace pi::jprof
