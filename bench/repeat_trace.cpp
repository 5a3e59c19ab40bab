// SPDX-License-Identifier: MIT
// Makes a long instruction trace from a short one, to measure post -arc: repeat_trace FROM TO
// TIMES. The records of the first section, which must be the only one of its kind, are written
// TIMES times with increasing times; the other sections are copied.
#include <pi/nrm2.h>
#include <pitrace/abi.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

namespace {

template <class Number>
Number at(const std::string& bytes, size_t offset) {
  Number value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "Usage: repeat_trace FROM TO TIMES\n");
    return 2;
  }
  std::ifstream in(argv[1], std::ios::binary);
  const std::string file{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (file.size() < pi::nrm2::header_size) return 1;
  const uint32_t size = at<uint32_t>(file, pi::nrm2::offset::data_size);
  std::string head = file.substr(0, pi::nrm2::header_size);
  const std::string records = file.substr(pi::nrm2::header_size, size);
  const int times = std::atoi(argv[3]);
  std::string all;
  uint32_t time = 1'000'000;
  for (int round = 0; round < times; ++round)
    for (size_t position = 0; position + sizeof(pitrace_record) <= records.size();) {
      const auto record = at<pitrace_record>(records, position);
      const size_t length = record.type_length & PITRACE_LENGTH_MASK;
      const bool once = record.major == PITRACE_MAJOR_TIME
                            ? round != 0
                            : record.major == PITRACE_MAJOR_ITRACE_STOP && round != times - 1;
      if (length == 0) break;
      if (!once) {
        all += records.substr(position, length);
        std::memcpy(all.data() + all.size() - length + offsetof(pitrace_record, time_lo), &++time,
                    sizeof time);
      }
      position += length;
    }
  const uint32_t all_size = static_cast<uint32_t>(all.size());
  std::memcpy(head.data() + pi::nrm2::offset::data_size, &all_size, sizeof all_size);
  std::ofstream out(argv[2], std::ios::binary);
  out << head << all << file.substr(pi::nrm2::header_size + size);
  return out.flush() ? 0 : 1;
}
