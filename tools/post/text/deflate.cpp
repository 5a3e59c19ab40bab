// SPDX-License-Identifier: MIT
#include "deflate.h"

#include <algorithm>
#include <array>
#include <new>

namespace post {

// 15: the largest window; + 16: the header of gzip (zlib.h, deflateInit2).
DeflateWriter::DeflateWriter(Sink& sink, Container container, int level) : sink_(sink) {
  const int window = container == Container::gzip ? 15 + 16 : 15;
  constexpr int usual_memory = 8;
  if (deflateInit2(&stream_, level, Z_DEFLATED, window, usual_memory, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc();
}

DeflateWriter::~DeflateWriter() {
  deflateEnd(&stream_);
}

// zlib takes longer for many small pieces.
bool DeflateWriter::write(std::string_view bytes) {
  constexpr size_t many = 64 << 10;
  constexpr size_t most = size_t{1} << 30;  // zlib counts bytes in 32 bits
  for (; !bytes.empty(); bytes.remove_prefix(std::min(most, bytes.size()))) {
    waiting_ += bytes.substr(0, most);
    if (waiting_.size() >= many && !compress(Z_NO_FLUSH)) return false;
  }
  return good_;
}

// What waits.
bool DeflateWriter::compress(int flush) {
  std::array<char, 48 * 1024> packed;
  stream_.next_in = reinterpret_cast<Bytef*>(waiting_.data());
  stream_.avail_in = static_cast<uInt>(waiting_.size());
  do {
    stream_.next_out = reinterpret_cast<Bytef*>(packed.data());
    stream_.avail_out = packed.size();
    deflate(&stream_, flush);
    const size_t size = packed.size() - stream_.avail_out;
    good_ = good_ && (size == 0 || sink_.write({packed.data(), size}));
  } while (good_ && stream_.avail_out == 0);
  waiting_.clear();
  return good_;
}

}  // namespace post
