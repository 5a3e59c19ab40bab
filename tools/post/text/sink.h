// SPDX-License-Identifier: MIT
// A destination of text: a file in the tool, a string in tests.
#ifndef POST_SINK_H
#define POST_SINK_H

#include <cstdint>
#include <string>
#include <string_view>

namespace post {

class Sink {
 public:
  virtual ~Sink() = default;
  // False once a write has failed; the owner of the sink has the reason.
  virtual bool write(std::string_view text) = 0;
  // Overwrites text from that byte on; used for a head that contains sums of the whole report.
  virtual bool rewrite(uint64_t /*offset*/, std::string_view /*text*/) { return false; }
  // Text is missing: where it was kept meanwhile, this error number occurred.
  virtual void fail(int /*error*/) {}
};

class StringSink final : public Sink {
 public:
  bool write(std::string_view more) override {
    text += more;
    return true;
  }
  bool rewrite(uint64_t offset, std::string_view other) override {
    text.replace(static_cast<size_t>(offset), other.size(), other);
    return true;
  }
  std::string text;
};

}  // namespace post

#endif  // POST_SINK_H
