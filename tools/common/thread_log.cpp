// SPDX-License-Identifier: MIT
// Reads JProf's log of threads, log-jtnm (include/pi/jit_log.h).
#include "thread_log.h"

#include <pi/jit_log.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <unordered_map>

namespace pi {
namespace {

namespace format = jit_log;

template <class Number>
bool take_hex(std::string_view& line, Number& out) {
  const auto [rest, error] = std::from_chars(line.data(), line.data() + line.size(), out, 16);
  if (error != std::errc() || rest == line.data() + line.size() || *rest != ' ') return false;
  line.remove_prefix(static_cast<size_t>(rest - line.data()) + 1);
  return true;
}

bool take_prefix(std::string_view& line, std::string_view prefix) {
  if (!line.starts_with(prefix)) return false;
  line.remove_prefix(prefix.size());
  return true;
}

bool take_word(std::string_view& line, std::string_view word) {
  return take_prefix(line, word) && take_prefix(line, " ");
}

// A line that changes the name of a thread.
struct Change {
  ThreadStart start;
  bool is_carried = false;  // start.name is that of a virtual thread; or empty: it carries none
};

// "TNM: TIME TID NAME START"; ends of threads are ignored, since samples may follow them.
std::optional<Change> parse_start(std::string_view line) {
  constexpr std::string_view end = format::thread_start;
  Change change;
  if (!line.ends_with(end) || !take_hex(line, change.start.time) ||
      !take_hex(line, change.start.tid) || line.size() <= end.size())
    return std::nullopt;
  change.start.name = line.substr(0, line.size() - end.size());
  return change;
}

// "mount TIME TID NAME" and "unmount TIME TID".
std::optional<Change> parse_mount(std::string_view line) {
  const bool mounts = take_word(line, format::mount_word);
  if (!mounts && !take_word(line, format::unmount_word)) return std::nullopt;
  Change change;
  change.is_carried = true;
  if (!take_hex(line, change.start.time)) return std::nullopt;
  const std::string whole = std::string(line) + ' ';
  std::string_view rest = mounts ? line : std::string_view(whole);
  if (!take_hex(rest, change.start.tid) || rest.empty() == mounts) return std::nullopt;
  change.start.name = rest;
  return change;
}

// The name of a carrier in each mount and unmount. Cut: a log of a size has names of a size.
std::string carrier(std::string_view name) {
  constexpr size_t most = 64;
  if (name.size() <= most) return std::string(name);
  size_t end = most;
  while (end > 0 && (name[end] & 0xc0) == 0x80) --end;  // not inside a character
  return std::string(name.substr(0, end));
}

std::optional<Change> parse_line(std::string_view line, VirtualThreads virtual_threads) {
  if (take_prefix(line, format::thread_word)) return parse_start(line);
  if (virtual_threads == VirtualThreads::shown && take_prefix(line, format::addition))
    return parse_mount(line);
  return std::nullopt;
}

}  // namespace

bool is_thread_log(std::string_view text) {
  static const std::string head =
      std::string(format::addition) + std::string(format::head_word) + ' ';
  return text.starts_with(head) || text.starts_with(format::interval) ||
         text.starts_with(format::thread_word);
}

std::vector<ThreadStart> parse_thread_log(std::string_view text, VirtualThreads virtual_threads) {
  // More than JProf writes (NameLogs::mounts_bytes_max).
  constexpr size_t max_mounts = 1 << 21;
  std::vector<Change> changes;
  size_t mounts = 0;
  for (size_t end; (end = text.find('\n')) != text.npos; text.remove_prefix(end + 1))
    if (auto change = parse_line(text.substr(0, end), virtual_threads))
      if (!change->is_carried || ++mounts <= max_mounts) changes.push_back(std::move(*change));
  std::stable_sort(changes.begin(), changes.end(),
                   [](const Change& a, const Change& b) { return a.start.time < b.start.time; });
  std::vector<ThreadStart> starts;
  starts.reserve(changes.size());
  std::unordered_map<uint32_t, std::string> threads;  // without what they carry
  for (auto& [start, is_carried] : changes) {
    if (!is_carried) {
      threads[start.tid] = start.name;
    } else {
      // A thread that the log does not name is not renamed: its own name would be lost.
      const auto thread = threads.find(start.tid);
      if (thread == threads.end()) continue;
      start.name = carrier(thread->second) + (start.name.empty() ? "" : "/" + start.name);
    }
    starts.push_back(std::move(start));
  }
  return starts;
}

}  // namespace pi
