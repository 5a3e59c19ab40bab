// SPDX-License-Identifier: MIT
// zlib data or a gzip file, as a stream: memory use does not grow with the stream.
#ifndef POST_DEFLATE_H
#define POST_DEFLATE_H

#include <zlib.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "sink.h"

namespace post {

enum class Container { zlib, gzip };  // RFC 1950, RFC 1952

class DeflateWriter final : public Sink {
 public:
  // A fifth of the time of the usual level, a tenth more bytes.
  static constexpr int quick = 4;

  // Throws std::bad_alloc.
  DeflateWriter(Sink& sink, Container container, int level = Z_DEFAULT_COMPRESSION);
  ~DeflateWriter() override;
  DeflateWriter(const DeflateWriter&) = delete;
  DeflateWriter& operator=(const DeflateWriter&) = delete;

  // False when the sink failed.
  bool write(std::string_view bytes) override;
  // How many bytes have been compressed.
  uint64_t taken() const { return stream_.total_in; }
  // To be called once, at the end.
  bool finish() { return compress(Z_FINISH); }

 private:
  bool compress(int flush);

  Sink& sink_;
  std::string waiting_;  // bytes that are not yet compressed
  z_stream stream_{};
  bool good_ = true;
};

}  // namespace post

#endif  // POST_DEFLATE_H
