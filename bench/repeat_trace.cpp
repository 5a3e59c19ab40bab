// SPDX-License-Identifier: MIT
// A long instruction trace from a short one, to time post -arc on: repeat_trace FROM TO TIMES. The
// records of the first section, which must be the only one of its kind, are written so many times,
// their times counted up; all else stays.
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
    for (size_t place = 0; place + sizeof(pitrace_record) <= records.size();) {
      const auto record = at<pitrace_record>(records, place);
      const size_t length = record.type_length & PITRACE_LENGTH_MASK;
      const bool once = record.major == PITRACE_MAJOR_TIME
                            ? round != 0
                            : record.major == PITRACE_MAJOR_ITRACE_STOP && round != times - 1;
      if (length == 0) break;
      if (!once) {
        all += records.substr(place, length);
        std::memcpy(all.data() + all.size() - length + offsetof(pitrace_record, time_lo), &++time,
                    sizeof time);
      }
      place += length;
    }
  const uint32_t all_size = static_cast<uint32_t>(all.size());
  std::memcpy(head.data() + pi::nrm2::offset::data_size, &all_size, sizeof all_size);
  std::ofstream out(argv[2], std::ios::binary);
  out << head << all << file.substr(pi::nrm2::header_size + size);
  return out.flush() ? 0 : 1;
}
