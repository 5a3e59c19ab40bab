// SPDX-License-Identifier: MIT
// The ids of a task in its own pid namespace (NStgid, NSpid), from /proc.
#include "namespace_ids.h"

#include <sys/stat.h>

#include <utility>

#include <fmt/format.h>

#include "system/text.h"

namespace pi::perfutil {
namespace {

// A namespace is identified by the inode to which the link leads.
uint64_t namespace_at(const std::string& link) {
  struct stat facts {};
  return ::stat(link.c_str(), &facts) == 0 ? facts.st_ino : 0;
}

// The last number, if there is more than one: there is one for each namespace, the outermost first.
std::optional<uint32_t> innermost(std::string_view numbers) {
  std::optional<uint32_t> last;
  size_t count = 0;
  while (!numbers.empty()) {
    const std::string_view word = next_word(numbers, '\t');
    if (word.empty()) continue;
    const auto number = parse_number(word);
    if (!number || *number > UINT32_MAX) return std::nullopt;
    last = static_cast<uint32_t>(*number);
    ++count;
  }
  return count > 1 ? last : std::nullopt;
}

}  // namespace

std::optional<NamespaceIds> parse_namespace_ids(std::string_view status) {
  std::optional<uint32_t> pid, tid;
  while (!status.empty()) {
    std::string_view line = next_word(status, '\n');
    const std::string_view key = next_word(line, ':');
    if (key == "NStgid") pid = innermost(line);
    if (key == "NSpid") tid = innermost(line);
  }
  if (!pid || !tid) return std::nullopt;
  return NamespaceIds{*pid, *tid};
}

NamespaceIdReader::NamespaceIdReader(std::string proc) : proc_(std::move(proc)) {
  own_ = namespace_at(proc_ + "/self/ns/pid");
}

uint64_t NamespaceIdReader::namespace_of(uint32_t pid) const {
  return namespace_at(fmt::format("{}/{}/ns/pid", proc_, pid));
}

std::optional<NamespaceIds> NamespaceIdReader::find(uint32_t pid, uint32_t tid) const {
  const auto status = read_text(fmt::format("{}/{}/task/{}/status", proc_, pid, tid));
  return status ? parse_namespace_ids(*status) : std::nullopt;
}

}  // namespace pi::perfutil
