// SPDX-License-Identifier: MIT
// zstd frames with a checksum, as a stream.
#include "zstd_stream.h"

#include <pi/files.h>

#include <cstring>
#include <new>
#include <span>
#include <utility>

namespace post {
namespace {

constexpr int max_window_log = 27;  // 128 MiB: the most that a hostile frame can make post allocate

}  // namespace

ZstdWriter::ZstdWriter(Sink& sink)
    : sink_(sink), context_(ZSTD_createCCtx()), buffer_(ZSTD_CStreamOutSize()) {
  if (!context_) throw std::bad_alloc();
  ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_checksumFlag, 1);
}

bool ZstdWriter::compress(std::string_view bytes, ZSTD_EndDirective directive) {
  ZSTD_inBuffer input{bytes.data(), bytes.size(), 0};
  for (;;) {
    ZSTD_outBuffer output{buffer_.data(), buffer_.size(), 0};
    const size_t left = ZSTD_compressStream2(context_.get(), &output, &input, directive);
    if (ZSTD_isError(left)) return false;
    if (output.pos != 0 && !sink_.write({buffer_.data(), output.pos})) return false;
    if (directive == ZSTD_e_end ? left == 0 : input.pos == input.size) return true;
  }
}

ZstdReader::ZstdReader(pi::UniqueFd fd)
    : fd_(std::move(fd)),
      context_(ZSTD_createDCtx()),
      packed_(ZSTD_DStreamInSize()),
      unpacked_(ZSTD_DStreamOutSize()) {
  if (!context_) throw std::bad_alloc();
  ZSTD_DCtx_setParameter(context_.get(), ZSTD_d_windowLogMax, max_window_log);
}

bool ZstdReader::refill() {
  const auto got = pi::read_on(fd_.get(), std::as_writable_bytes(std::span(packed_)));
  if (got.error != 0) error_ = std::strerror(got.error);
  if (got.error == 0 && got.bytes == 0 && within_frame_) error_ = "it ends too early";
  if (got.error != 0 || got.bytes == 0) return false;
  input_ = {packed_.data(), got.bytes, 0};
  return true;
}

std::string_view ZstdReader::next() {
  while (error_.empty()) {
    ZSTD_outBuffer output{unpacked_.data(), unpacked_.size(), 0};
    const size_t before = input_.pos;
    const size_t left = ZSTD_decompressStream(context_.get(), &output, &input_);
    if (ZSTD_isError(left)) {
      error_ = ZSTD_getErrorName(left);
      return {};
    }
    if (output.pos != 0 || input_.pos != before) within_frame_ = left != 0;
    if (output.pos != 0) return {unpacked_.data(), output.pos};
    if (input_.pos == input_.size && !refill()) return {};
  }
  return {};
}

}  // namespace post
