// SPDX-License-Identifier: MIT
// Candidate paths, in search order, of a module's file and its separate debug file. No I/O.
#include "debug_search.h"

namespace a2n {
namespace {

constexpr char system_debug[] = "/usr/lib/debug";

std::string join(std::string_view directory, std::string_view name) {
  while (directory.ends_with('/')) directory.remove_suffix(1);
  while (name.starts_with('/')) name.remove_prefix(1);
  return std::string(directory) + "/" + std::string(name);
}

std::string_view last_component(std::string_view path) {
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

// "/usr/lib" for "/usr/lib/libx.so", "" for "libx.so" and "/x".
std::string_view directory_of(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == path.npos ? std::string_view{} : path.substr(0, slash);
}

}  // namespace

std::vector<std::string> split_search_path(std::string_view path) {
  std::vector<std::string> parts;
  while (!path.empty()) {
    const size_t end = path.find(':');
    if (end != 0) parts.emplace_back(path.substr(0, end));
    path.remove_prefix(end == path.npos ? path.size() : end + 1);
  }
  return parts;
}

std::vector<std::string> module_files(const std::vector<std::string>& directories,
                                      std::string_view path) {
  std::vector<std::string> files;
  for (const std::string& directory : directories) {
    files.push_back(join(directory, path));
    if (auto last = join(directory, last_component(path)); last != files.back())
      files.push_back(last);
  }
  return files;
}

std::vector<std::string> build_id_files(const std::vector<std::string>& directories,
                                        std::string_view build_id) {
  if (build_id.size() < 3) return {};
  const std::string name = ".build-id/" + std::string(build_id.substr(0, 2)) + "/" +
                           std::string(build_id.substr(2)) + ".debug";
  std::vector<std::string> files;
  for (const std::string& directory : directories) files.push_back(join(directory, name));
  files.push_back(join(system_debug, name));
  return files;
}

std::vector<std::string> debug_link_files(const std::vector<std::string>& directories,
                                          std::string_view module_path, std::string_view link) {
  if (link.empty()) return {};
  const std::string_view home = directory_of(module_path);
  std::vector<std::string> files;
  for (const std::string& directory : directories) {
    if (!home.empty()) files.push_back(join(join(directory, home), link));
    files.push_back(join(directory, link));
  }
  if (!module_path.starts_with('/')) return files;
  files.push_back(join(home, link));
  files.push_back(join(join(home, ".debug"), link));
  files.push_back(join(join(system_debug, home), link));
  return files;
}

}  // namespace a2n
