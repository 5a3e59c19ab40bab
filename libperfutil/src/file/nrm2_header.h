// SPDX-License-Identifier: MIT
// Fills in the header of a section, see include/pi/nrm2.h.
#ifndef PI_PERFUTIL_NRM2_HEADER_H
#define PI_PERFUTIL_NRM2_HEADER_H

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include <pi/nrm2.h>

namespace pi::perfutil {

using HeaderBytes = std::array<std::byte, nrm2::header_size>;
using Bytes = std::span<const std::byte>;

// The fields that all sections of a file share.
struct FileFacts {
  uint32_t mode = 0;  // as in the header: PITRACE_MODE_* and nrm2::mode_mte_at_end
  uint64_t start_time = 0;
  uint32_t interval_id = 0;
  uint32_t cpus = 0;
};

struct SectionFacts {
  uint32_t type = 0;
  uint32_t cpu = 0;
  uint64_t time = 0;  // of the last off(), or of the newest record
  uint64_t lost = 0;  // by this stream so far
  bool full = false;  // a record did not fit into this buffer, and recording ended
};

// The header of a section with that data, with its checksums.
HeaderBytes make_header(const FileFacts& file, const SectionFacts& section, Bytes data);
// Sets a field of a header, and its checksum.
void change_header(HeaderBytes& header, size_t offset, Bytes value);

Bytes bytes_of(const std::string& text);

// The length of as many whole records from the start as fit into limit bytes; counted becomes the
// number of records in it that count as written.
size_t whole_records(Bytes data, size_t limit, uint64_t& counted);

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_NRM2_HEADER_H
