// SPDX-License-Identifier: MIT
// Finds the Debian packages that own files, in dpkg's lists.
#include "debian_packages.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <unordered_map>

#include "text/text.h"
#include "text_file.h"

namespace post {
namespace {

constexpr size_t max_list = size_t{32} << 20;  // bytes of one package's list
constexpr size_t max_all = size_t{256} << 20;  // of all

// A package's list may still contain /lib for a file that the system has in /usr/lib.
std::string other_name(const std::string& path) {
  return path.starts_with("/usr/") ? path.substr(4) : "/usr" + path;
}

}  // namespace

Packages find_packages(const std::vector<std::string>& paths, const std::string& directory) {
  std::unordered_map<std::string, std::string> wanted;  // value: the requested path
  for (const std::string& path : paths) {
    wanted.emplace(path, path);
    wanted.emplace(other_name(path), path);
  }
  std::vector<std::filesystem::path> lists;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error))
    if (entry->path().extension() == ".list") lists.push_back(entry->path());
  std::ranges::sort(lists);
  Packages packages;
  size_t read = 0;
  for (const std::filesystem::path& list : lists) {
    const auto text = pi::read_text_file(list.string(), max_list);
    if (!text || (read += text->size()) > max_all) continue;
    std::string package = list.stem().string();
    package.resize(std::min(package.find(':'), package.size()));  // of another architecture
    for_each_line(*text, [&](std::string_view line) {
      const auto found = wanted.find(std::string(line));
      if (found != wanted.end()) packages.emplace(found->second, package);
    });
  }
  return packages;
}

std::string packages_text(const Packages& packages) {
  std::string text;
  for (const auto& [path, package] : packages)
    if (path.find('\n') == path.npos) text += package + ' ' + path + '\n';
  return text;
}

Packages parse_packages(const std::string& text) {
  Packages packages;
  for_each_line(text, [&](std::string_view line) {
    const size_t blank = line.find(' ');
    if (blank != 0 && blank != line.npos)
      packages.emplace(line.substr(blank + 1), line.substr(0, blank));
  });
  return packages;
}

}  // namespace post
