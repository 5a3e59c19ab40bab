// SPDX-License-Identifier: MIT
// A destination of text: a file in the tool, a string in tests.
#ifndef POST_SINK_H
#define POST_SINK_H

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

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
  // Writes another file in the directory of this one; it gets its name just before this one.
  virtual void write_beside(const std::string& /*name*/,
                            const std::function<void(Sink&)>& /*content*/) {}
  // Removes then the files there whose names are the beginning and a number, except some.
  virtual void remove_beside(const std::string& /*beginning*/,
                             const std::vector<std::string>& /*except*/) {}
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
  void write_beside(const std::string& name, const std::function<void(Sink&)>& content) override {
    StringSink sink;
    content(sink);
    beside[name] = std::move(sink.text);
  }
  std::string text;
  std::map<std::string, std::string> beside;  // other files, by name
};

}  // namespace post

#endif  // POST_SINK_H
