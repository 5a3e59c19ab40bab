// SPDX-License-Identifier: MIT
// Where text goes: a file in the tool, a string in tests.
#ifndef POST_SINK_H
#define POST_SINK_H

#include <string>
#include <string_view>

namespace post {

class Sink {
 public:
  virtual ~Sink() = default;
  // False once something could not be written; the owner of the sink knows why.
  virtual bool write(std::string_view text) = 0;
};

class StringSink final : public Sink {
 public:
  bool write(std::string_view more) override {
    text += more;
    return true;
  }
  std::string text;
};

}  // namespace post

#endif  // POST_SINK_H
