// SPDX-License-Identifier: MIT
// Finds and loads definitions of user-defined events: pitrace-events(5).
#include <unistd.h>

#include <climits>
#include <cstdlib>

#include "cli.h"
#include "commands.h"
#include "perfutil.h"

namespace pi::mpevt {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The system's file first, so that the user's definitions override it.
std::vector<std::string> usual_files() {
  if (const std::string named = variable("PITRACE_EVENTS"); !named.empty()) return {named};
  std::vector<std::string> files{"/etc/pitrace/events"};
  std::string directory = variable("XDG_CONFIG_HOME");
  if (directory.empty() && !variable("HOME").empty()) directory = variable("HOME") + "/.config";
  if (directory.starts_with('/')) files.push_back(directory + "/pitrace/events");
  return files;
}

// The counter daemon has another working directory.
std::string absolute(const std::string& name) {
  char path[PATH_MAX];
  return ::realpath(name.c_str(), path) == nullptr ? name : path;
}

}  // namespace

bool load_definitions(const std::vector<std::string>& files, std::vector<std::string>& loaded) {
  for (const auto& file : usual_files()) {
    if (::access(file.c_str(), F_OK) != 0) continue;
    if (PiLoadEventDefinitions(file.c_str()) == PU_SUCCESS)
      loaded.push_back(absolute(file));
    else
      cli::warning(std::string(PiErrorText()) + " Its events are ignored.");
  }
  for (const auto& file : files) {
    if (PiLoadEventDefinitions(file.c_str()) != PU_SUCCESS) {
      cli::error(PiErrorText());
      return false;
    }
    loaded.push_back(absolute(file));
  }
  return true;
}

}  // namespace pi::mpevt
