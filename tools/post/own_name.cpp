// SPDX-License-Identifier: MIT
// How the user names a file and this program in the next command.
#include "own_name.h"

#include <cstdlib>
#include <filesystem>
#include <sstream>

namespace post {

std::string short_path(const std::string& path) {
  std::error_code problem;
  const std::string here = std::filesystem::current_path(problem).string();
  if (problem) return path;
  if (path == here) return ".";
  return path.starts_with(here + "/") ? path.substr(here.size() + 1) : path;
}

std::string own_name() {
  namespace fs = std::filesystem;
  std::error_code problem;
  const fs::path self = fs::read_symlink("/proc/self/exe", problem);
  const char* const path = std::getenv("PATH");
  std::istringstream directories(path ? path : "");
  for (std::string directory; std::getline(directories, directory, ':');)
    if (fs::exists(fs::path(directory) / "post", problem))
      return fs::equivalent(fs::path(directory) / "post", self, problem)
                 ? "post"
                 : short_path(self.string());
  return short_path(self.string());
}

}  // namespace post
