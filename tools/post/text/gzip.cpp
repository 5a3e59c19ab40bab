// SPDX-License-Identifier: MIT
// A gzip file, as a stream.
#include "gzip.h"

namespace post {

// 15 + 16: the largest window, with the header of gzip (zlib.h, deflateInit2).
GzipWriter::GzipWriter(Sink& sink)
    : sink_(sink),
      good_(deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8,
                         Z_DEFAULT_STRATEGY) == Z_OK),
      buffer_(size_t{64} << 10) {}

GzipWriter::~GzipWriter() {
  deflateEnd(&stream_);
}

bool GzipWriter::compress(std::string_view bytes, int flush) {
  stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream_.avail_in = static_cast<uInt>(bytes.size());
  do {
    stream_.next_out = reinterpret_cast<Bytef*>(buffer_.data());
    stream_.avail_out = static_cast<uInt>(buffer_.size());
    good_ = good_ && deflate(&stream_, flush) != Z_STREAM_ERROR &&
            sink_.write({buffer_.data(), buffer_.size() - stream_.avail_out});
  } while (good_ && stream_.avail_out == 0);
  return good_;
}

}  // namespace post
