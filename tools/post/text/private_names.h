// SPDX-License-Identifier: MIT
// Names that shall not leave the host: left out, or replaced by a hash with a key.
#ifndef POST_PRIVATE_NAMES_H
#define POST_PRIVATE_NAMES_H

#include <pi/result.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "string_table.h"

namespace post {

enum class PrivateKind : uint8_t {
  command,  // of processes and threads
  path,     // of programs, libraries and source files
  user,     // names and numbers of users in other names: /home/NAME, user-1000.slice
  cgroup,   // control groups and services
  host,
  function,
};
constexpr const char* private_kinds = "command, path, user, cgroup, host, function";

struct Privacy {
  std::set<PrivateKind> omitted;
  std::set<PrivateKind> hashed;
  std::string key;  // not empty if anything is hashed
  bool hides_nothing() const { return omitted.empty() && hashed.empty(); }
};

// "command,path"; each kind once.
pi::Result<std::set<PrivateKind>> parse_private_kinds(std::string_view text);

// Reads the key for hashes: a file of 16 to 1024 bytes that belongs to root or to the user and that
// nobody else can read.
pi::Result<std::string> read_hash_key(const std::string& path);

class PrivateNames {
 public:
  // Both must outlive this.
  PrivateNames(StringTable& names, const Privacy& privacy) : names_(names), privacy_(privacy) {}

  bool hides(PrivateKind kind) const {
    return privacy_.omitted.contains(kind) || privacy_.hashed.contains(kind);
  }
  // The same text if nothing is to be hidden; "" if it is left out. Equal texts of a kind have the
  // same hash wherever the key is the same: "h-" and 24 hexadecimal digits of HMAC-SHA-256.
  std::string shown(PrivateKind kind, std::string_view text) const;
  // no_name: null.
  NameId shown(PrivateKind kind, NameId name) const;

 private:
  std::string hash(PrivateKind kind, std::string_view text) const;
  std::string without_users(std::string_view text) const;

  StringTable& names_;
  const Privacy& privacy_;
  mutable std::map<std::pair<PrivateKind, NameId>, NameId> known_;
};

}  // namespace post

#endif  // POST_PRIVATE_NAMES_H
