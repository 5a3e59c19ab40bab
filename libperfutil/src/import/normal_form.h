// SPDX-License-Identifier: MIT
// Writes records of a recording of perf as those of our own perf events are, for PerfConverter.
#ifndef PI_PERFUTIL_NORMAL_FORM_H
#define PI_PERFUTIL_NORMAL_FORM_H

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "perf_fields.h"

namespace pi::perfutil {

// A record of executable memory, of either kind.
struct MapRecord {
  uint32_t pid = 0;
  bool executable = false;
  bool of_kernel = false;
  uint64_t offset = 0;   // in the file; of the kernel's memory an address
  uint64_t inode = 0;    // 0: not in the record
  std::string build_id;  // lower-case hex; "": not in the record
  std::string path;
};

class NormalForm {
 public:
  // Each returns bytes that are valid until the next call.
  Bytes sample(Bytes record, const RecordFields& fields, bool chain);
  // With its copy of registers and stack, of which registers are in the mask.
  Bytes sample_with_copy(Bytes record, const RecordFields& fields, uint64_t mask);
  // The callers in user code are missing.
  Bytes cut_sample(Bytes record, const RecordFields& fields);
  // Whether a copy has all that is needed to find callers.
  static bool can_be_unwound(const UserCopy& copy, uint64_t mask);
  Bytes other(Bytes record, const RecordFields& fields);
  // A record with some numbers, for the program that imports.
  Bytes own(std::initializer_list<uint32_t> numbers, const RecordFields& fields);
  // PERF_RECORD_MMAP and _MMAP2, as the latter without a build-id. Empty if it is too short.
  Bytes map(Bytes record, const RecordFields& fields);

  // pid and tid of a record that is a sample; 0 for others.
  static std::pair<uint32_t, uint32_t> thread_of_sample(Bytes record);
  // Changes the time of a record that one of these has made.
  static void set_time(std::span<std::byte> record, uint64_t time);

  // The content of a record as for map().
  static MapRecord content_of_map(Bytes record, const RecordFields& fields);

 private:
  template <class T>
  void add(const T& value) {
    add_bytes(std::as_bytes(std::span(&value, 1)));
  }
  void add_bytes(Bytes bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  void begin(uint32_t type, uint16_t misc);
  void add_sample(Bytes record, const RecordFields& fields);
  void add_chain(Bytes chain);
  Bytes end_other(const RecordFields& fields);
  Bytes end();

  std::vector<std::byte> bytes_;
};

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_NORMAL_FORM_H
