// SPDX-License-Identifier: MIT
// What a client has sent, as messages. The form: pi/jvm_commands.h.
#ifndef PI_JPROF_MESSAGE_READER_H
#define PI_JPROF_MESSAGE_READER_H

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace pi::jprof {

class MessageReader {
 public:
  // key: what the client must send first; empty: nothing.
  explicit MessageReader(std::string key = {}) : key_(std::move(key)) {}

  enum class Kind {
    accepted,  // the key or the greeting: the answer is 'K'
    message,
    error,  // the connection cannot be used further; text: why
  };
  struct Part {
    Kind kind;
    std::string text;
  };

  void add(std::string_view bytes) { bytes_ += bytes; }

  // The next complete part. all: the client has sent no more than what was added, so that a classic
  // message, which has no end, is complete.
  std::optional<Part> next(bool all);

  bool needs_key() const { return !key_.empty(); }
  bool is_framed() const { return form_ == Form::framed; }
  // The client has not sent a key or a first message yet.
  bool is_new() const { return form_ == Form::unknown; }
  // The beginning of a part was added.
  bool has_bytes() const { return !bytes_.empty(); }
  size_t size() const { return bytes_.size(); }

 private:
  enum class Form { unknown, classic, framed };

  std::optional<Part> next_key();
  std::optional<Part> next_greeting();
  std::optional<Part> next_classic(bool all);
  std::optional<Part> next_framed();
  std::string take(size_t count);

  std::string key_;
  std::string bytes_;
  Form form_ = Form::unknown;
};

}  // namespace pi::jprof

#endif  // PI_JPROF_MESSAGE_READER_H
