// SPDX-License-Identifier: MIT
// swtrace get: makes the recorder write the trace file, and prints the sizes of its parts.
#include <limits.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include <fmt/format.h>
#include <pi/files.h>
#include <pi/nrm2.h>

#include "cli.h"
#include "commands.h"
#include "perfutil.h"

namespace pi::swtrace {

std::string absolute_path(const std::string& name) {
  std::array<char, PATH_MAX> directory{};
  if (name.empty() || name.starts_with("/")) return name;
  if (::getcwd(directory.data(), directory.size()) == nullptr) return "";
  return fmt::format("{}/{}", directory.data(), name);
}

void print_file_sizes(const std::string& name) {
  const auto file = open_regular(name);
  std::array<std::byte, nrm2::header_size> header{};
  if (!file || read_at(file->fd.get(), 0, header).bytes != header.size()) return;
  const auto number = [&](size_t offset) {
    uint64_t value;
    std::memcpy(&value, header.data() + offset, sizeof value);
    return value;
  };
  const uint64_t kallsyms = number(nrm2::offset::kallsyms_size);
  const uint64_t modules = number(nrm2::offset::modules_size);
  const auto total = static_cast<uint64_t>(file->status.st_size);
  fmt::print("{}: {} bytes written: trace {}, kernel symbols {}, kernel modules {}\n", name, total,
             total - kallsyms - modules, kallsyms, modules);
}

int cmd_get(const Words& words) {
  cli::OptionTable table(
      {"swtrace get [FILE]",
       "Writes the trace to FILE. The default is swtrace.nrm2, or the file of 'swtrace init -f'. "
       "Only the owner can read the file. An existing file is replaced when the new one is "
       "complete. A symbolic link is refused. In wrap-around mode the command writes a snapshot, "
       "also while the trace is on.",
       {"swtrace get", "swtrace get /tmp/run7.nrm2"},
       "Exit status: 0 done, 1 failed, 255 wrong use."});
  table.positional("file", 1);
  const auto outcome = table.parse(words);
  if (outcome.exit) return *outcome.exit;
  const bool named = outcome.values.has("file");
  const std::string name = named ? outcome.values.words("file").front() : PI_FILE_NAME_DEFAULT;
  if (name.empty()) {
    cli::error("The name of the trace file is empty. Give a name, or omit it for swtrace.nrm2.");
    return cli::exit_usage;
  }
  const std::string path = absolute_path(name);
  if (path.empty()) {
    cli::error("The current directory was deleted. Give FILE as an absolute path.");
    return cli::exit_failure;
  }
  const auto reply = ask({named ? "get" : "get-default", path});
  if (!reply) return cli::exit_failure;
  if (reply->rc != PU_SUCCESS) {
    cli::error(reply->text);
    return cli::exit_failure;
  }
  const std::string written = value_of(reply->text, "file");
  print_file_sizes(written == path ? name : written);
  return cli::exit_good;
}

}  // namespace pi::swtrace
