// SPDX-License-Identifier: MIT
// Bytes in base64 (RFC 4648), without line breaks, as a stream.
#ifndef POST_BASE64_H
#define POST_BASE64_H

#include <string>
#include <string_view>

#include "sink.h"

namespace post {

class Base64Writer final : public Sink {
 public:
  explicit Base64Writer(Sink& sink) : sink_(sink) {}

  // False when the sink failed.
  bool write(std::string_view bytes) override;
  // To be called once, at the end.
  bool finish();

 private:
  Sink& sink_;
  std::string rest_;  // bytes that do not yet make three
};

}  // namespace post

#endif  // POST_BASE64_H
