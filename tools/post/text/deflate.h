// SPDX-License-Identifier: MIT
// zlib data or a gzip file, as a stream: memory use does not grow with the stream.
#ifndef POST_DEFLATE_H
#define POST_DEFLATE_H

#include <zlib.h>

#include <string_view>

#include "sink.h"

namespace post {

enum class Container { zlib, gzip };  // RFC 1950, RFC 1952

class DeflateWriter final : public Sink {
 public:
  // Throws std::bad_alloc.
  DeflateWriter(Sink& sink, Container container);
  ~DeflateWriter() override;
  DeflateWriter(const DeflateWriter&) = delete;
  DeflateWriter& operator=(const DeflateWriter&) = delete;

  // False when the sink failed.
  bool write(std::string_view bytes) override { return compress(bytes, Z_NO_FLUSH); }
  // To be called once, at the end.
  bool finish() { return compress({}, Z_FINISH); }

 private:
  bool compress(std::string_view bytes, int flush);

  Sink& sink_;
  z_stream stream_{};
  bool good_ = true;
};

}  // namespace post

#endif  // POST_DEFLATE_H
