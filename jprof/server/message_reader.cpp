// SPDX-License-Identifier: MIT
// What a client has sent, as messages.
#include "server/message_reader.h"

#include <pi/jvm_commands.h>

namespace pi::jprof {
namespace {

namespace protocol = pi::jvm_commands;
using Part = MessageReader::Part;
using Kind = MessageReader::Kind;

// In a time that does not depend on where they differ.
bool are_equal(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (size_t i = 0; i < a.size(); ++i)
    difference |=
        static_cast<unsigned char>(a[i]) ^ static_cast<unsigned>(static_cast<unsigned char>(b[i]));
  return difference == 0;
}

}  // namespace

std::string MessageReader::take(size_t count) {
  std::string text = bytes_.substr(0, count);
  bytes_.erase(0, count);
  return text;
}

std::optional<Part> MessageReader::next_key() {
  const std::string line = std::string(protocol::key_word) + key_ + "\n";
  if (bytes_.size() < line.size() && bytes_.find('\n') == bytes_.npos) return {};
  const bool right = are_equal(std::string_view(bytes_).substr(0, line.size()), line);
  if (!right) return Part{Kind::error, "the key of this port is missing or wrong"};
  (void)take(line.size());
  key_.clear();
  return Part{Kind::accepted, {}};
}

std::optional<Part> MessageReader::next_greeting() {
  if (bytes_.size() < protocol::greeting.size()) return {};
  if (!bytes_.starts_with(protocol::greeting)) return Part{Kind::error, "this protocol is unknown"};
  (void)take(protocol::greeting.size());
  form_ = Form::framed;
  return Part{Kind::accepted, {}};
}

std::optional<Part> MessageReader::next_classic(bool all) {
  const size_t end = bytes_.find_first_of(std::string_view("\n\0", 2));
  if (end > protocol::max_classic && bytes_.size() > protocol::max_classic)
    return Part{Kind::error, "a classic message has at most 512 bytes"};
  if (end == bytes_.npos && !all) return {};
  Part part{Kind::message, take(end == bytes_.npos ? bytes_.size() : end + 1)};
  if (end != bytes_.npos) part.text.pop_back();
  return part;
}

std::optional<Part> MessageReader::next_framed() {
  if (bytes_.size() < protocol::length_bytes) return {};
  const size_t length = protocol::read_length(bytes_);
  if (length > protocol::max_frame) return Part{Kind::error, "a message has at most 65536 bytes"};
  if (bytes_.size() < protocol::length_bytes + length) return {};
  (void)take(protocol::length_bytes);
  return Part{Kind::message, take(length)};
}

std::optional<Part> MessageReader::next(bool all) {
  if (bytes_.empty()) return {};
  if (needs_key()) return next_key();
  if (form_ == Form::unknown && bytes_.front() == protocol::greeting.front())
    return next_greeting();
  if (form_ == Form::unknown) form_ = Form::classic;
  return is_framed() ? next_framed() : next_classic(all);
}

}  // namespace pi::jprof
