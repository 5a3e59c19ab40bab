// SPDX-License-Identifier: MIT
// A gzip file, as a stream: memory use does not grow with the stream.
#ifndef POST_GZIP_H
#define POST_GZIP_H

#include <zlib.h>

#include <string_view>
#include <vector>

#include "sink.h"

namespace post {

class GzipWriter {
 public:
  explicit GzipWriter(Sink& sink);
  ~GzipWriter();
  GzipWriter(const GzipWriter&) = delete;
  GzipWriter& operator=(const GzipWriter&) = delete;

  // False when the sink failed, or memory was lacking.
  bool write(std::string_view bytes) { return compress(bytes, Z_NO_FLUSH); }
  // To be called once, at the end.
  bool finish() { return compress({}, Z_FINISH); }

 private:
  bool compress(std::string_view bytes, int flush);

  Sink& sink_;
  z_stream stream_{};
  bool good_;
  std::vector<char> buffer_;
};

}  // namespace post

#endif  // POST_GZIP_H
