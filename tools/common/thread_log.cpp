// SPDX-License-Identifier: MIT
// Reads JProf's log of threads, log-jtnm (include/pi/jit_log.h).
#include "thread_log.h"

#include <pi/jit_log.h>

#include <algorithm>
#include <charconv>
#include <optional>

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

// "TNM: TIME TID NAME START"; ends of threads are ignored, since samples may follow them.
std::optional<ThreadStart> parse_line(std::string_view line) {
  ThreadStart start;
  if (!line.starts_with(format::thread_word) || !line.ends_with(format::thread_start))
    return std::nullopt;
  line.remove_prefix(std::string_view(format::thread_word).size());
  if (!take_hex(line, start.time) || !take_hex(line, start.tid)) return std::nullopt;
  const size_t end = std::string_view(format::thread_start).size();
  if (line.size() <= end) return std::nullopt;
  start.name = line.substr(0, line.size() - end);
  return start;
}

}  // namespace

bool is_thread_log(std::string_view text) {
  static const std::string head =
      std::string(format::addition) + std::string(format::head_word) + ' ';
  return text.starts_with(head) || text.starts_with(format::interval) ||
         text.starts_with(format::thread_word);
}

std::vector<ThreadStart> parse_thread_log(std::string_view text) {
  std::vector<ThreadStart> starts;
  for (size_t end; (end = text.find('\n')) != text.npos; text.remove_prefix(end + 1))
    if (auto start = parse_line(text.substr(0, end))) starts.push_back(std::move(*start));
  std::stable_sort(starts.begin(), starts.end(),
                   [](const ThreadStart& a, const ThreadStart& b) { return a.time < b.time; });
  return starts;
}

}  // namespace pi
