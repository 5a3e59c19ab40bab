// SPDX-License-Identifier: MIT
// zstd frames with a checksum, as a stream: memory use does not grow with the stream.
#ifndef POST_ZSTD_STREAM_H
#define POST_ZSTD_STREAM_H

#include <pi/unique_fd.h>
#include <zstd.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sink.h"

namespace post {

class ZstdWriter {
 public:
  explicit ZstdWriter(Sink& sink);

  // False when the sink failed.
  bool write(std::string_view bytes) { return compress(bytes, ZSTD_e_continue); }
  // To be called once, at the end.
  bool finish() { return compress({}, ZSTD_e_end); }

 private:
  struct Free {
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  };
  bool compress(std::string_view bytes, ZSTD_EndDirective directive);

  Sink& sink_;
  std::unique_ptr<ZSTD_CCtx, Free> context_;
  std::vector<char> buffer_;
};

// Reads a file from its current offset to its end.
class ZstdReader {
 public:
  explicit ZstdReader(pi::UniqueFd fd);

  // The next bytes, valid until the next call; none at the end, and after a failure to read or
  // unpack, which error() describes.
  std::string_view next();
  const std::string& error() const { return error_; }

 private:
  struct Free {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  };
  bool refill();

  pi::UniqueFd fd_;
  std::unique_ptr<ZSTD_DCtx, Free> context_;
  std::vector<char> packed_;
  std::vector<char> unpacked_;
  ZSTD_inBuffer input_{nullptr, 0, 0};
  bool within_frame_ = true;  // an empty file is none
  std::string error_;
};

}  // namespace post

#endif  // POST_ZSTD_STREAM_H
