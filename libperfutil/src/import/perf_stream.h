// SPDX-License-Identifier: MIT
// Reads the records of a recording of perf one after the other, and unpacks compressed ones.
#ifndef PI_PERFUTIL_PERF_STREAM_H
#define PI_PERFUTIL_PERF_STREAM_H

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "perf_event_table.h"

struct ZSTD_DCtx_s;

namespace pi::perfutil {

// Types of records that perf writes in addition to the kernel's.
enum class PerfUserRecord : uint32_t {
  attributes = 64,
  tracing_data = 66,
  build_id = 67,
  round_finished = 68,
  auxiliary = 71,
  thread_map = 73,
  event_update = 78,
  feature = 80,
  compressed = 81,
  compressed_sized = 83,
};

// Whether a kernel or perf as of Linux 7 writes such records. Others are of a later one, or
// damaged.
constexpr bool is_known_record(uint32_t type) {
  constexpr uint32_t newest_of_kernel = 22;                    // callers that were recorded later
  constexpr uint32_t first_of_perf = 64, newest_of_perf = 84;  // metadata of BPF programs
  return (type >= 1 && type <= newest_of_kernel) ||
         (type >= first_of_perf && type <= newest_of_perf);
}

class PerfStream {
 public:
  // Reads [begin, end) of the file. one_of_many: with less memory.
  PerfStream(int fd, uint64_t begin, uint64_t end, bool one_of_many = false);
  ~PerfStream();
  PerfStream(const PerfStream&) = delete;
  PerfStream& operator=(const PerfStream&) = delete;

  // Moves to the next record; false at the end, and at damage.
  bool next();
  // At least a header; valid until next().
  Bytes record() const { return record_; }
  // Of a record of the kind tracing_data: the data that follow it; valid until next().
  Bytes attached() const { return attached_; }
  uint32_t type() const { return number_at<uint32_t>(record_, 0); }
  // What is wrong with the rest of the file; "": nothing.
  const std::string& damage() const { return damage_; }

 private:
  // Bytes of which the first part may have been used.
  struct Window {
    std::vector<std::byte> bytes;
    size_t begin = 0;
    size_t end = 0;

    Bytes rest() const { return Bytes(bytes).subspan(begin, end - begin); }
    // Moves the rest to the beginning, and returns the space after it.
    std::span<std::byte> space();
  };

  bool next_of_file();
  bool fill(size_t wanted);
  void skip(uint64_t bytes);
  bool take_attached();
  // A record of unpacked ones; false: more of them must be unpacked.
  bool next_unpacked();
  bool begin_compressed();
  bool unpack();
  bool fail(std::string what);

  int fd_;
  size_t window_bytes_;
  uint64_t at_;  // in the file, where the window ends
  uint64_t end_;
  Window file_;
  Window plain_;      // unpacked records
  Bytes compressed_;  // of the current record of the file, not yet unpacked
  uint64_t packed_ = 0;
  uint64_t unpacked_ = 0;
  std::unique_ptr<ZSTD_DCtx_s, void (*)(ZSTD_DCtx_s*)> zstd_;
  Bytes record_;
  std::vector<std::byte> attached_;
  std::string damage_;
};

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_PERF_STREAM_H
