// SPDX-License-Identifier: MIT
// The bytes of HotSpot's attach protocol, version 1: requests, replies, and replies as text to
// show.
#include "attach_protocol.h"

#include <fmt/format.h>

#include <charconv>
#include <iterator>

namespace pi::attach {
namespace {

std::optional<int> number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string_view last_line(std::string_view text) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  const size_t start = text.rfind('\n');
  return start == std::string_view::npos ? text : text.substr(start + 1);
}

}  // namespace

// Always three arguments; the second says that the path is absolute.
std::string load_request(const std::string& library, const std::string& options) {
  std::string request;
  for (const std::string_view word :
       {std::string_view("1"), std::string_view("load"), std::string_view(library),
        std::string_view("true"), std::string_view(options)}) {
    request += word;
    request += '\0';
  }
  return request;
}

std::optional<Reply> parse_reply(std::string_view bytes) {
  const size_t end = bytes.find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  const auto code = number(bytes.substr(0, end));
  if (!code) return std::nullopt;
  Reply reply;
  reply.code = *code;
  reply.text = bytes.substr(end + 1);
  // JDK 9 and later: "return code: N"; JDK 8: the number alone.
  constexpr std::string_view label = "return code: ";
  std::string_view line = last_line(reply.text);
  if (line.starts_with(label)) line.remove_prefix(label.size());
  reply.agent_code = number(line);
  return reply;
}

bool refuses_agents(const Reply& reply) {
  return !reply.agent_code && reply.text.starts_with("Dynamic agent loading is not enabled");
}

std::string escaped(std::string_view text) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  std::string out;
  for (const char c : text) {
    if (c == '\n' || (c >= ' ' && c <= '~'))
      out += c;
    else
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned char>(c));
  }
  return out;
}

}  // namespace pi::attach
