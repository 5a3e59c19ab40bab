// SPDX-License-Identifier: MIT
#include "deflate.h"

#include <algorithm>
#include <array>
#include <limits>
#include <new>

namespace post {

// 15: the largest window; + 16: the header of gzip (zlib.h, deflateInit2).
DeflateWriter::DeflateWriter(Sink& sink, Container container) : sink_(sink) {
  const int window = container == Container::gzip ? 15 + 16 : 15;
  constexpr int usual_memory = 8;
  if (deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, window, usual_memory,
                   Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc();
}

DeflateWriter::~DeflateWriter() {
  deflateEnd(&stream_);
}

bool DeflateWriter::compress(std::string_view bytes, int flush) {
  std::array<char, 48 * 1024> packed;
  // zlib counts bytes in 32 bits.
  constexpr size_t most = std::numeric_limits<uInt>::max() / 2;
  do {
    const std::string_view part = bytes.substr(0, most);
    bytes.remove_prefix(part.size());
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(part.data()));
    stream_.avail_in = static_cast<uInt>(part.size());
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(packed.data());
      stream_.avail_out = packed.size();
      deflate(&stream_, bytes.empty() ? flush : Z_NO_FLUSH);
      const size_t size = packed.size() - stream_.avail_out;
      good_ = good_ && (size == 0 || sink_.write({packed.data(), size}));
      if (!good_) return false;
    } while (stream_.avail_out == 0);
  } while (!bytes.empty());
  return true;
}

}  // namespace post
