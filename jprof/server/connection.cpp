// SPDX-License-Identifier: MIT
// One client of the command server.
#include "server/connection.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include <pi/jvm_commands.h>
#include <pi/uninterrupted.h>

namespace pi::jprof {
namespace {

namespace protocol = pi::jvm_commands;

// One message, and a part of the next one.
constexpr size_t max_input = protocol::max_frame + protocol::length_bytes + 4096;

void append_text(std::string& output, std::string_view text) {
  for (; !text.empty(); text.remove_prefix(std::min(text.size(), protocol::max_frame)))
    output += protocol::frame(text.substr(0, protocol::max_frame));
}

}  // namespace

Connection::Connection(UniqueFd fd, std::string key, const Patience& patience)
    : fd_(std::move(fd)),
      local_(key.empty()),
      patience_(patience),
      reader_(std::move(key)),
      changed_(Clock::now()) {}

bool Connection::expects_more() const {
  return reader_.needs_key() || reader_.is_new() || reader_.has_bytes();
}

short Connection::events() const {
  if (!output_.empty()) return POLLOUT;
  return reader_.size() < max_input ? POLLIN : 0;
}

std::optional<Connection::Clock::time_point> Connection::deadline() const {
  if (!output_.empty()) return changed_ + patience_.rest;
  if (!expects_more()) return {};
  return changed_ + (reader_.needs_key() ? patience_.key : patience_.rest);
}

bool Connection::is_over(Clock::time_point now) {
  if (broken_) return true;
  if (!output_.empty()) return now >= *deadline();
  if (closing_) return true;
  const auto end = deadline();
  if (!ended_ && (!end || now < *end)) return false;
  // A client that has sent half a message learns why it gets no answer.
  if (reader_.has_bytes() && !closing_) {
    refuse(ended_ ? "the message has no end" : "the rest of the message did not arrive in time");
    send();
    return broken_ || output_.empty();
  }
  return true;
}

void Connection::receive() {
  std::array<char, 16384> buffer;
  const ssize_t got =
      uninterrupted([&] { return ::recv(fd_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT); });
  if (got < 0) {
    broken_ = errno != EAGAIN;
    return;
  }
  received_all_ = static_cast<size_t>(got) < buffer.size();
  ended_ = got == 0;
  if (got == 0 || closing_) return;
  // The time of a message that arrives byte by byte counts from its first one.
  if (!reader_.has_bytes() && !reader_.is_new()) changed_ = Clock::now();
  reader_.add({buffer.data(), static_cast<size_t>(got)});
}

void Connection::send() {
  while (!output_.empty()) {
    const ssize_t sent = uninterrupted([&] {
      return ::send(fd_.get(), output_.data(), output_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    });
    if (sent < 0) {
      broken_ = errno != EAGAIN;
      return;
    }
    output_.erase(0, static_cast<size_t>(sent));
    changed_ = Clock::now();
  }
}

std::optional<std::string> Connection::next_message() {
  while (output_.empty() && !closing_ && !broken_) {
    const auto part = reader_.next(received_all_);
    if (!part) return {};
    if (part->kind == MessageReader::Kind::message) return part->text;
    if (part->kind == MessageReader::Kind::error) {
      refuse(part->text);
    } else {
      output_ += protocol::done;
      changed_ = Clock::now();
    }
    send();
  }
  return {};
}

void Connection::answer(bool was_done, std::string_view text, std::string_view classic) {
  const char first = was_done ? protocol::done : protocol::not_done;
  if (reader_.is_framed()) {
    output_ += protocol::frame({&first, 1});
    append_text(output_, text);
    output_ += protocol::frame({});
  } else if (classic.empty()) {
    output_ += first;
  } else {
    output_ += classic;
  }
  changed_ = Clock::now();
}

// A client that waits for an answer to its greeting gets a single 'N', too.
void Connection::refuse(std::string_view why) {
  answer(false, why, {});
  closing_ = true;
}

}  // namespace pi::jprof
