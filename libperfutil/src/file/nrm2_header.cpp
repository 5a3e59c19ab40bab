// SPDX-License-Identifier: MIT
// Fills in the header of a section, see include/pi/nrm2.h.
#include "nrm2_header.h"

#include <algorithm>
#include <cstring>

#include <pi/decode.h>

namespace pi::perfutil {
namespace {

namespace at = nrm2::offset;

template <class T>
void put(HeaderBytes& header, size_t offset, T value) {
  std::memcpy(header.data() + offset, &value, sizeof value);
}

void put_header_sum(HeaderBytes& header) {
  put(header, at::header_sum, uint64_t{0});
  put(header, at::header_sum, nrm2::sum_of(header.data(), header.size()));
}

}  // namespace

HeaderBytes make_header(const FileFacts& file, const SectionFacts& section, Bytes data) {
  const auto size = static_cast<uint32_t>(data.size());
  HeaderBytes header{};
  std::memcpy(header.data() + at::magic, nrm2::magic, sizeof nrm2::magic);
  put(header, at::endian, nrm2::endian_mark);
  put(header, at::cr, uint8_t{10});
  put(header, at::header_size, static_cast<uint32_t>(nrm2::header_size));
  put(header, at::data_size, size);
  put(header, at::cpu, section.cpu);
  put(header, at::mode, file.mode);
  put(header, at::start_time, file.start_time);
  put(header, at::stop_time, section.time);
  put(header, at::metric_count, uint32_t{1});
  put(header, at::flags, (section.full ? nrm2::flag_full : 0) | nrm2::flag_sum);
  put(header, at::num_cpus, file.cpus);
  put(header, at::uncompressed_size, size);
  put(header, at::os_type, nrm2::os_type_64);
  put(header, at::interval_id, file.interval_id);
  put(header, at::lost_count, static_cast<uint32_t>(std::min<uint64_t>(section.lost, UINT32_MAX)));
  put(header, at::section_type, section.type);
  put(header, at::version, nrm2::version);
  std::memcpy(header.data() + at::os, "Linux  ", 8);
  put(header, at::sum, nrm2::sum_of(data.data(), data.size()));
  put_header_sum(header);
  return header;
}

void change_header(HeaderBytes& header, size_t offset, Bytes value) {
  std::memcpy(header.data() + offset, value.data(), value.size());
  put_header_sum(header);
}

Bytes bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

size_t whole_records(Bytes data, size_t limit, uint64_t& counted) {
  size_t end = 0;
  counted = 0;
  while (end < data.size()) {
    const RecordView record(data.subspan(end));
    if (!record.valid() || end + record.length() > limit) break;
    counted += is_counted(record);
    end += record.length();
  }
  return end;
}

}  // namespace pi::perfutil
