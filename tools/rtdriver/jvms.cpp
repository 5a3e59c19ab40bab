// SPDX-License-Identifier: MIT
// Finds the sockets and keys of JVMs whose command server the caller may use.
#include "jvms.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <pi/files.h>
#include <pi/jvm_commands.h>
#include <pi/jvm_sockets.h>

namespace pi::rtdriver {
namespace {

constexpr size_t max_sockets = 1024;  // of each directory

std::optional<uint32_t> number(std::string_view text) {
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

// The names of a directory's entries, at most 65536 of them.
std::vector<std::string> entries(const std::string& path) {
  constexpr size_t max_entries = 65536;
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir(path.c_str()), ::closedir);
  if (!open) return names;
  while (const dirent* entry = ::readdir(open.get())) {
    if (names.size() == max_entries) break;
    names.emplace_back(entry->d_name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

class DirectoryList {
 public:
  // owner: the user whose directory it must be; nothing: any user.
  void add(const std::string& path, std::optional<uid_t> owner) {
    struct stat facts {};
    if (::lstat(path.c_str(), &facts) != 0 || !S_ISDIR(facts.st_mode)) return;
    if ((facts.st_mode & 077) != 0 || (owner && facts.st_uid != *owner)) return;
    const auto is_same = [&](const Directory& d) { return d.path == path; };
    if (std::none_of(all_.begin(), all_.end(), is_same)) all_.push_back({path, facts.st_uid});
  }

  void add_usual(uid_t uid) {
    add(fmt::format("/run/user/{}/pitrace", uid), uid);
    add(fmt::format("/tmp/pitrace-{}", uid), uid);
  }

  std::vector<Directory> finish() { return std::move(all_); }

 private:
  std::vector<Directory> all_;
};

}  // namespace

Result<std::vector<Directory>> socket_directories() {
  const uid_t own = ::geteuid();
  const bool is_root = own == 0;
  const auto named = jvm_commands::directory();
  if (!named) return named.error();
  DirectoryList list;
  const bool only = std::getenv(jvm_commands::directory_variable) != nullptr;
  list.add(*named, is_root && only ? std::nullopt : std::optional(own));
  if (only) return list.finish();
  list.add_usual(own);
  if (!is_root) return list.finish();
  for (const auto& name : entries("/run/user"))
    if (const auto uid = number(name)) list.add_usual(*uid);
  constexpr std::string_view prefix = "pitrace-";
  for (const auto& name : entries("/tmp"))
    if (name.starts_with(prefix))
      if (const auto uid = number(std::string_view(name).substr(prefix.size())))
        list.add_usual(*uid);
  return list.finish();
}

std::vector<JvmSocket> find_sockets(const std::vector<Directory>& directories) {
  std::vector<JvmSocket> found;
  for (const auto& directory : directories) {
    size_t of_directory = 0;
    for (const std::string_view name : entries(directory.path)) {
      const auto pid = jvm_commands::socket_pid(name);
      if (!pid) continue;
      const std::string path = fmt::format("{}/{}", directory.path, name);
      struct stat facts {};
      if (::lstat(path.c_str(), &facts) != 0 || !S_ISSOCK(facts.st_mode)) continue;
      if (of_directory++ == max_sockets) break;
      found.push_back({*pid, path, directory.owner});
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const JvmSocket& a, const JvmSocket& b) { return a.pid < b.pid; });
  return found;
}

std::vector<JvmSocket> sockets_of(const std::vector<JvmSocket>& all, uint32_t pid) {
  std::vector<JvmSocket> found;
  std::copy_if(all.begin(), all.end(), std::back_inserter(found),
               [pid](const JvmSocket& socket) { return socket.pid == pid; });
  return found;
}

Result<std::string> read_key(const std::string& file, std::optional<uid_t> owner) {
  constexpr size_t max_key = 4096;
  const auto failure = [&file](const std::string& why) {
    return Error{-1, fmt::format("Cannot read the key '{}': {}.", file, why)};
  };
  const auto open = open_regular(file, Links::refused);
  if (!open && open.error().code == not_regular) return failure("it is not a regular file");
  if (!open) return failure(open.error().message);
  // The first line is sent to a process of that user: it must not be a link to a file of root.
  if (owner && (open->status.st_uid != *owner || open->status.st_nlink != 1))
    return failure("it is not a file of the directory's owner");
  const auto text = read_whole(open->fd.get(), max_key + 1);
  if (!text) return failure(text.error().message);
  const std::string key = text->substr(0, text->find('\n'));
  if (key.empty() || text->size() > max_key) return failure("it contains no key");
  return key;
}

Result<std::string> find_key(const std::vector<Directory>& directories, unsigned port) {
  std::vector<std::pair<std::string, uid_t>> files;
  for (const auto& directory : directories) {
    const std::string file = fmt::format("{}/{}", directory.path, jvm_commands::key_name(port));
    struct stat facts {};
    if (::lstat(file.c_str(), &facts) == 0) files.emplace_back(file, directory.owner);
  }
  if (files.size() == 1) return read_key(files.front().first, files.front().second);
  // Only one of them listens there; any user can make a key.
  if (files.size() > 1)
    return Error{-1, fmt::format("Several users have a key of port {}: '{}' and '{}'. Name that of "
                                 "the JVM with --key FILE.",
                                 port, files[0].first, files[1].first)};
  return Error{-1, fmt::format("No JVM of this user accepts commands at port {}. Start it with "
                               "-agentpath:DIRECTORY/libjprof.so=calltree,port={}, or name the "
                               "file of its key with --key FILE.",
                               port, port)};
}

}  // namespace pi::rtdriver
