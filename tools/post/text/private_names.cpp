// SPDX-License-Identifier: MIT
// Names that shall not leave the host: left out, or replaced by a hash with a key.
#include "private_names.h"

#include <fmt/format.h>
#include <nettle/hmac.h>
#include <pi/files.h>
#include <pi/hex.h>
#include <pi/words.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <span>

#include "text.h"

namespace post {
namespace {

constexpr std::array<std::pair<std::string_view, PrivateKind>, 6> private_words{
    {{"command", PrivateKind::command},
     {"path", PrivateKind::path},
     {"user", PrivateKind::user},
     {"cgroup", PrivateKind::cgroup},
     {"host", PrivateKind::host},
     {"function", PrivateKind::function}}};

std::string_view word_of(PrivateKind kind) {
  return std::ranges::find(private_words, kind, &std::pair<std::string_view, PrivateKind>::second)
      ->first;
}

// What precedes a user's name or number, and what ends it. The name of a home directory is that of
// its user.
struct UserPlace {
  std::string_view before;
  char after;
};
constexpr std::array<UserPlace, 4> user_places{
    {{"/home/", '/'}, {"/run/user/", '/'}, {"/user-", '.'}, {"/user@", '.'}}};

}  // namespace

pi::Result<std::set<PrivateKind>> parse_private_kinds(std::string_view text) {
  std::set<PrivateKind> kinds;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    const auto* const found =
        std::ranges::find(private_words, word, &std::pair<std::string_view, PrivateKind>::first);
    if (found == private_words.end())
      return pi::Error{
          -1, fmt::format("'{}' is no kind of names: {}.", printable(word), private_kinds)};
    kinds.insert(found->second);
    begin = end + 1;
  }
  return kinds;
}

pi::Result<std::string> read_hash_key(const std::string& path) {
  const auto refused = [&](int code, std::string_view reason) {
    return pi::Error{code, fmt::format("the key of --hash cannot be read from {}: {}.",
                                       printable(path), reason)};
  };
  const auto file = pi::open_trusted(path, {});
  if (!file)
    return refused(file.error().code,
                   file.error().code == EPERM
                       ? "it must belong to you or to root, and be writable by nobody else"
                       : file.error().message);
  if ((file->status.st_mode & 077) != 0)
    return refused(EPERM, "other users may read it (chmod 600)");
  std::string key(1025, '\0');
  const auto read = pi::read_at(file->fd.get(), 0, std::as_writable_bytes(std::span(key)));
  if (read.error != 0) return refused(read.error, std::strerror(read.error));
  if (read.bytes < 16 || read.bytes == key.size())
    return refused(EINVAL, "it must have 16 to 1024 bytes");
  key.resize(read.bytes);
  return key;
}

std::string PrivateNames::hash(PrivateKind kind, std::string_view text) const {
  const auto bytes = [](std::string_view from) {
    return reinterpret_cast<const uint8_t*>(from.data());
  };
  hmac_sha256_ctx context;
  hmac_sha256_set_key(&context, privacy_.key.size(), bytes(privacy_.key));
  const std::string_view word = word_of(kind);
  hmac_sha256_update(&context, word.size(), bytes(word));
  constexpr uint8_t end = 0;
  hmac_sha256_update(&context, 1, &end);
  hmac_sha256_update(&context, text.size(), bytes(text));
  std::array<std::byte, 12> digest;
  hmac_sha256_digest(&context, digest.size(), reinterpret_cast<uint8_t*>(digest.data()));
  return "h-" + pi::to_hex(digest);
}

std::string PrivateNames::without_users(std::string_view text) const {
  std::string out;
  while (!text.empty()) {
    size_t at = text.npos;
    const UserPlace* next = nullptr;
    for (const UserPlace& place : user_places)
      if (const size_t found = text.find(place.before); found < at) {
        at = found;
        next = &place;
      }
    if (!next) break;
    at += next->before.size();
    const size_t end =
        std::min(text.find_first_of(std::array{next->after, '/', '\0'}.data(), at), text.size());
    out += text.substr(0, at);
    const std::string_view user = text.substr(at, end - at);
    if (!user.empty())
      out += privacy_.hashed.contains(PrivateKind::user) ? hash(PrivateKind::user, user) : "-";
    text.remove_prefix(end);
  }
  return out.append(text);
}

std::string PrivateNames::shown(PrivateKind kind, std::string_view text) const {
  if (text.empty() || privacy_.omitted.contains(kind)) return {};
  if (privacy_.hashed.contains(kind)) return hash(kind, text);
  return hides(PrivateKind::user) && kind != PrivateKind::host ? without_users(text)
                                                               : std::string(text);
}

NameId PrivateNames::shown(PrivateKind kind, NameId name) const {
  if (name == no_name || privacy_.hides_nothing()) return name;
  const auto [known, added] = known_.try_emplace({kind, name}, no_name);
  if (added) known->second = names_.intern(shown(kind, names_.text(name)));
  return known->second;
}

}  // namespace post
