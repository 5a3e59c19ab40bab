// SPDX-License-Identifier: MIT
// Messages between commands and the service: one packet each way.
#include "service_protocol.h"

#include <charconv>

namespace pi::service {

std::string encode_request(const Request& request) {
  std::string packet;
  for (const auto& word : request) {
    packet += word;
    packet += '\0';
  }
  return packet;
}

std::optional<Request> decode_request(std::string_view packet) {
  if (packet.empty() || packet.size() > max_request_bytes || packet.back() != '\0')
    return std::nullopt;
  Request request;
  while (!packet.empty()) {
    const size_t end = packet.find('\0');
    if (end == 0 || request.size() == max_request_words) return std::nullopt;
    request.emplace_back(packet.substr(0, end));
    packet.remove_prefix(end + 1);
  }
  return request;
}

std::string encode_reply(const Reply& reply) {
  std::string packet = std::to_string(reply.rc) + '\n' + reply.text;
  if (packet.size() > max_reply_bytes) packet.resize(max_reply_bytes);
  return packet;
}

std::optional<Reply> decode_reply(std::string_view packet) {
  const size_t end = packet.find('\n');
  if (end == std::string_view::npos || packet.size() > max_reply_bytes) return std::nullopt;
  Reply reply;
  const auto [rest, error] = std::from_chars(packet.data(), packet.data() + end, reply.rc);
  if (error != std::errc() || rest != packet.data() + end) return std::nullopt;
  reply.text = packet.substr(end + 1);
  return reply;
}

std::vector<std::string> values_of(std::string_view lines, std::string_view key) {
  std::vector<std::string> values;
  while (!lines.empty()) {
    const size_t end = lines.find('\n');
    const std::string_view line = lines.substr(0, end);
    lines.remove_prefix(end == std::string_view::npos ? lines.size() : end + 1);
    if (line.size() > key.size() && line.starts_with(key) && line[key.size()] == '=')
      values.emplace_back(line.substr(key.size() + 1));
  }
  return values;
}

std::string value_of(std::string_view lines, std::string_view key) {
  const auto values = values_of(lines, key);
  return values.empty() ? "" : values.front();
}

}  // namespace pi::service
