// SPDX-License-Identifier: MIT
// Text as zlib data in base64, as a stream: memory use does not grow with the stream.
#ifndef POST_PACKED_TEXT_H
#define POST_PACKED_TEXT_H

#include <zlib.h>

#include <string>
#include <string_view>

#include "sink.h"

namespace post {

class PackedText final : public Sink {
 public:
  explicit PackedText(Sink& sink);
  ~PackedText() override;
  PackedText(const PackedText&) = delete;
  PackedText& operator=(const PackedText&) = delete;

  // False when the sink failed.
  bool write(std::string_view text) override { return compress(text, Z_NO_FLUSH); }
  // To be called once, at the end.
  bool finish();

 private:
  bool compress(std::string_view text, int flush);
  bool encode(std::string_view bytes);

  Sink& sink_;
  z_stream stream_{};
  std::string rest_;  // bytes that do not yet make three
  bool good_ = true;
};

}  // namespace post

#endif  // POST_PACKED_TEXT_H
