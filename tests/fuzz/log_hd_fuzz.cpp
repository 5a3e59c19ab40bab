// SPDX-License-Identifier: MIT
// Reads any bytes as a log-hd, to its end or up to what is wrong with it.
#include <pi/log_hd.h>

#include <algorithm>
#include <cstdlib>

#include "amplification.h"

namespace {

// The limit of a reader is lower here: zeros are compressed to a 25,000th.
constexpr pi::Budget most{4 << 20, 64};
// A decompressor and two frames; names of classes are compressed at most to a 64th, and each has an
// entry in a table.
constexpr fuzz::Allowed allowed{8 << 20, 1024, 2'000'000, 1000};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const fuzz::Amplification amplification(size, allowed);
  const auto file = std::as_bytes(std::span(data, size));
  auto reader = pi::log_hd::Reader::open(
      [&](uint64_t offset, std::span<std::byte> bytes) {
        const auto rest = file.subspan(std::min<uint64_t>(offset, file.size()));
        const size_t count = std::min(rest.size(), bytes.size());
        std::copy_n(rest.begin(), count, bytes.begin());
        return pi::Transferred{count, 0};
      },
      size, most);
  if (!reader) return 0;
  uint64_t bytes = 0;
  for (auto part = reader->next(); !part.empty(); part = reader->next()) {
    if (part.size() > pi::log_hd::frame_bytes) std::abort();
    bytes += part.size();
  }
  if (bytes > most.of(size)) std::abort();
  if (!reader->next().empty()) std::abort();
  return 0;
}
