// SPDX-License-Identifier: MIT
// swtrace init: starts a recorder, which sets up the trace.
#include <set>

#include <fmt/format.h>

#include "cli.h"
#include "commands.h"
#include "perfutil.h"
#include "recorder.h"

namespace pi::swtrace {
namespace {

cli::OptionTable options() {
  cli::OptionTable table(
      {"swtrace init [OPTION]...",
       "Allocates trace buffers for every CPU and starts the recorder, a process that owns them "
       "until 'swtrace free'. No major is enabled yet, and recording is off.",
       {"swtrace init", "swtrace init -s 16 -sm 8", "swtrace init -t cont -f /var/tmp/run.nrm2",
        "swtrace init --source perf --pid 4711"},
       "Exit status: 0 done, 1 failed, 255 wrong options."});
  table.group("Buffers (sizes in MB; K and M may be given as unit)")  //
      ("s", cli::text("SIZE", "3"),
       "trace buffer of each CPU")  //
      ("sm", cli::text("SIZE", "5"),
       "MTE buffer of each CPU: process and mapping metadata, that is, names")  //
      ("t", cli::text("norm|wrap|cont", "norm"),
       "norm: recording stops when a buffer is full; wrap: the buffers keep the newest records; "
       "cont: records are written to a file while the trace runs")  //
      ("anon", cli::text("0|1", "1"),
       "1: record executable mappings without a file; 0: do not")  //
      ("f", cli::text("FILE"),
       "trace file for cont and wrap (default swtrace.nrm2); wrap writes names to FILE.mte")  //
      ("ss", cli::text("SIZE"),
       "section (sub-buffer) size for cont and wrap, in KB (default 64): how much is written to "
       "the file at a time");
  table.group("Source")  //
      ("source", cli::text("auto|driver|perf", "auto"),
       "auto: the pitrace module if it can be used, otherwise perf")  //
      ("scope", cli::text("auto|system|process", "auto"),
       "perf only; auto: the system if permitted, otherwise the process")  //
      ("pid", cli::text("PID"),
       "the process that the trace is about; if perf may not trace the system, only it is traced, "
       "with its descendants");
  return table;
}

// The index of word in the list, or -1 with a message.
int choose(const char* option, const std::string& word,
           std::initializer_list<const char*> choices) {
  int index = 0;
  std::string expected;
  for (const char* choice : choices) {
    if (word == choice) return index;
    expected += fmt::format("{}{}", index++ == 0 ? "" : ", ", choice);
  }
  cli::error(fmt::format("{}: '{}' is not one of {}.", option, word, expected));
  return -1;
}

bool read_size(const char* option, const std::string& text, uint32_t& bytes) {
  const auto size = parse_size(text);
  if (!size) {
    cli::error(fmt::format("{}: '{}' is not a size from 64K to 4095M.", option, text));
    return false;
  }
  if (*size < PI_BUFFER_BYTES_MIN)
    cli::warning(fmt::format("{}: '{}' is less than the minimum; the size is {}K.", option, text,
                             PI_BUFFER_BYTES_MIN >> 10));
  bytes = *size;
  return true;
}

bool read_pid(const cli::Values& values, InitRequest& request) {
  if (values.has("pid")) {
    const auto pid = parse_number(values.text("pid"), INT32_MAX);
    if (!pid || *pid == 0) {
      cli::error(fmt::format("--pid: '{}' is not a process id.", values.text("pid")));
      return false;
    }
    request.pid = *pid;
  }
  if (request.scope == TRACE_SCOPE_PROCESS && request.pid == 0) {
    cli::error("--scope process needs a process id: --pid PID.");
    return false;
  }
  return true;
}

bool read_request(const cli::Values& values, InitRequest& request) {
  const auto text = [&](const char* name) { return values.text(name); };
  if (!read_size("-s", text("s"), request.trace_bytes) ||
      !read_size("-sm", text("sm"), request.mte_bytes))
    return false;
  const int anonymous = choose("-anon", text("anon"), {"0", "1"});
  request.source = choose("--source", text("source"), {"auto", "driver", "perf"});
  const int scope = choose("--scope", text("scope"), {"system", "process", "auto"});
  if (anonymous < 0 || request.source < 0 || scope < 0) return false;
  request.anonymous = anonymous == 1;
  request.scope = scope;
  return read_pid(values, request);
}

// The mode, and options only for the modes that write during the trace.
bool read_mode(const cli::Values& values, InitRequest& request) {
  request.mode = choose("-t", values.text("t"), {"norm", "wrap", "cont"});
  if (request.mode < 0) return false;
  request.section_bytes = PI_SECTION_BYTES_DEFAULT;
  request.file = absolute_path(PI_FILE_NAME_DEFAULT);
  if (request.mode == COLLECTION_MODE_NORMAL) {
    for (const char* name : {"f", "ss"})
      if (values.has(name))
        cli::warning(
            fmt::format("-{} has no effect in normal mode, where 'swtrace get [FILE]' writes the "
                        "trace file.",
                        name));
    return true;
  }
  if (values.has("ss")) {
    const std::string& text = values.text("ss");
    const auto size = parse_size(text, 1 << 10);
    if (!size || *size < PI_SECTION_BYTES_MIN) {
      cli::error(
          fmt::format("-ss: '{}' is not a size of {}K or more.", text, PI_SECTION_BYTES_MIN >> 10));
      return false;
    }
    request.section_bytes = *size;
  }
  if (values.has("f")) request.file = absolute_path(values.text("f"));
  if (!request.file.empty()) return true;
  cli::error(
      "-f: the file name is empty, or the current directory was deleted. Give an absolute path.");
  return false;
}

void print_setup(const std::string& lines) {
  const std::string mode = value_of(lines, "mode");
  fmt::print(
      "Trace initialised: source {}, scope {}, {} CPUs, {} KB trace and {} KB MTE buffer each, "
      "{}recorder pid {}\n",
      value_of(lines, "source"), value_of(lines, "scope"), value_of(lines, "cpus"),
      std::stoull("0" + value_of(lines, "trace_bytes")) >> 10,
      std::stoull("0" + value_of(lines, "mte_bytes")) >> 10,
      mode == "normal" ? "" : fmt::format("{} mode to {}, ", mode, value_of(lines, "file")),
      value_of(lines, "recorder"));
}

}  // namespace

int cmd_init(const Words& words) {
  const auto outcome = options().parse(words);
  if (outcome.exit) return *outcome.exit;
  InitRequest request;
  if (!read_mode(outcome.values, request) || !read_request(outcome.values, request))
    return cli::exit_usage;
  const auto path = service::socket_path(recorder_names);
  if (!path) {
    cli::error(path.error().message);
    return cli::exit_failure;
  }
  const Reply reply = start_recorder(request, *path);
  if (reply.rc != PU_SUCCESS) {
    cli::error(reply.text);
    if (reply.rc == PU_ERROR_NOT_ENOUGH_MEMORY) cli::hint("give smaller buffers with -s and -sm");
    // The texts of other errors contain what to do.
    const std::set<int> of_the_system{PU_FAILURE, PU_ERROR_ACCESS_DENIED,
                                      PU_ERROR_DRIVER_NOT_LOADED, PU_ERROR_NOT_SUPPORTED};
    if (of_the_system.count(reply.rc) != 0)
      cli::hint(
          "'swtrace check' checks what tracing needs; the system log (dmesg) may show the cause");
    return cli::exit_failure;
  }
  print_setup(reply.text);
  for (const auto& note : values_of(reply.text, "note")) cli::warning(note);
  return cli::exit_good;
}

}  // namespace pi::swtrace
