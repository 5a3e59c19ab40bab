// SPDX-License-Identifier: MIT
// Layout of the nrm2 trace file, shared by its writer (libperfutil) and its reader (post).
//
// A file is a sequence of sections, each a 512-byte header and data_size bytes, then the texts of
// /proc/kallsyms and /proc/modules, whose offsets are in the first header; in a file that was
// written during the trace these are sections of their own. Either text can be one zstd frame;
// libperfutil writes both as one, with a checksum. The first 256 bytes of the header are the
// published layout, packed and misaligned by history: read and write it by these offsets, never
// through a struct. docs/man/nrm2.5 has the full description.
#ifndef PI_NRM2_H
#define PI_NRM2_H

#include <cstddef>
#include <cstdint>

namespace pi::nrm2 {

constexpr size_t header_size = 512;
constexpr char magic[4] = {'N', 'R', 'M', '2'};
constexpr uint32_t endian_mark = 0x04030201;
constexpr uint32_t version = 0x00010000;  // 0xMMMMmmmm
constexpr uint32_t os_type_64 = 0x64;

namespace offset {
constexpr size_t magic = 0;
constexpr size_t endian = 4;
constexpr size_t cr = 8;  // one byte, 10
constexpr size_t header_size = 12;
constexpr size_t data_size = 16;  // bytes that follow the header
constexpr size_t cpu = 24;
constexpr size_t mode = 32;        // PITRACE_MODE_*, bit 1: MTE at the end
constexpr size_t start_time = 36;  // 8 bytes, trace clock at the last on
constexpr size_t stop_time = 44;   // 8 bytes, last off or newest record
constexpr size_t metric_count = 52;
constexpr size_t flags = 56;  // flag_*
constexpr size_t num_cpus = 60;
constexpr size_t uncompressed_size = 64;
constexpr size_t os_type = 68;
constexpr size_t interval_id = 76;
constexpr size_t kallsyms_offset = 80;  // 8 bytes each; only in the first header
constexpr size_t kallsyms_size = 88;
constexpr size_t modules_offset = 96;
constexpr size_t modules_size = 104;
constexpr size_t lost_count = 112;  // records this stream lost; capped at 2^32 - 1
constexpr size_t section_type = 116;
constexpr size_t slow_tsc = 240;
constexpr size_t version = 244;
constexpr size_t os = 248;  // "Linux  " and NUL
constexpr size_t variable_tick = 256;
constexpr size_t sum = 264;         // our addition, 8 bytes: of the data, see Sum
constexpr size_t header_sum = 272;  // our addition, 8 bytes: of the header, as if this were 0
}  // namespace offset

// The checksum of data of a known size, which is added in pieces. FNV-1a of 64 bits, by words of
// eight bytes instead of bytes, and with the high half of each product in the low one: no single
// word can change without changing it.
class Sum {
 public:
  // size: of all data.
  explicit Sum(uint64_t size) { add_word(size); }
  // Each piece but the last one has a multiple of eight bytes. The last word has zeros at its end.
  void add(const void* data, size_t size) {
    const char* at = static_cast<const char*>(data);
    for (; size >= 8; at += 8, size -= 8) {
      uint64_t word;
      __builtin_memcpy(&word, at, 8);
      add_word(word);
    }
    uint64_t word = 0;
    __builtin_memcpy(&word, at, size);
    if (size != 0) add_word(word);
  }
  uint64_t value() const { return sum_; }

 private:
  void add_word(uint64_t word) {
    sum_ = (sum_ ^ word) * 0x100000001b3;
    sum_ ^= sum_ >> 32;
  }
  uint64_t sum_ = 0xcbf29ce484222325;
};

inline uint64_t sum_of(const void* data, size_t size) {
  Sum sum(size);
  sum.add(data, size);
  return sum.value();
}

// The number of the stream of names that the recorder itself has made, instead of that of a CPU.
constexpr uint32_t recorder_cpu = 0xffff;

constexpr uint32_t flag_full = 1;
constexpr uint32_t flag_sum = 2;  // our addition: offset::sum and offset::header_sum are set
constexpr uint32_t mode_mte_at_end = 2;

enum section_type : uint32_t {
  section_mte = 1,
  section_trace = 2,
  section_final_mte = 4,
  section_stacks = 8,  // our addition: PITRACE_MAJOR_STACK records for those of section_trace
  // Our additions. Readers skip types they do not know in files of a later version.
  section_info = 0x100,         // text: "key=value" lines, keys in namespace info
  section_build_ids = 0x200,    // text: "BUILDID PATH" lines; "-" for a file without one, "?" for
                                // one that changed or vanished before it could be read, "!" for one
                                // that did not have that path in the recorder's mount namespace;
                                // BUILDID may be followed by "@" and the inode of the file; a
                                // zero byte stands for a line feed in PATH
  section_kernel_text = 0x400,  // the kernel's symbols or modules, at the first header's offsets
  section_kernel_code = 0x800,  // the kernel's machine code as it ran, for pages with records of
                                // ITrace: see namespace code for each stretch
  section_frame_names = 0x1000,  // text: "NUMBER NAME" lines, of PITRACE_FRAME_NAMED()
};

// A stretch of the kernel's code: this head, then size bytes, then zeros to a multiple of 8.
namespace code {
constexpr size_t address = 0;  // 8 bytes
constexpr size_t size = 8;     // 8 bytes
constexpr size_t head_size = 16;
}  // namespace code

// Keys of the info section. Values are text in UTF-8 without line feed; a key may repeat only if
// noted. Unknown keys are ignored.
namespace info {
constexpr char source[] = "source";          // "driver" or "perf"
constexpr char scope[] = "scope";            // "system" or "process"
constexpr char pid[] = "pid";                // that the trace is about, if one was named
constexpr char cannot_see[] = "cannot_see";  // repeats: one sentence on data that this source lacks
constexpr char note[] = "note";              // repeats: one sentence for readers of a report
constexpr char kernel[] = "kernel";          // uname -r
constexpr char host[] = "host";
constexpr char machine[] = "machine";    // uname -m
constexpr char platform[] = "platform";  // one line: distribution, kernel, machine
constexpr char clock[] = "clock";        // clock of the record times, and its clocksource
constexpr char ended[] = "ended";    // "off", "buffer full", "disk full"; "running" in a file whose
                                     // recorder has not finished it, a snapshot has "snapshot"
constexpr char cpu_hz[] = "cpu_hz";  // nominal speed of the processor
constexpr char tick[] = "tick";      // "time" or "event": the cause of ticks
constexpr char event[] = "event";    // the counted event, if tick is "event", as the user named it
constexpr char period[] = "period";  // events for each tick
constexpr char stacks[] = "stacks";  // "kernel", "user" or "both"; missing: no stacks
constexpr char stack_depth[] = "stack_depth";  // maximum of kernel frames and of user frames
constexpr char rate[] = "rate";          // ticks a second that the source was set to, 0: by event
constexpr char tick_ns[] = "tick_ns";    // mean distance of two ticks, nanoseconds, 0: by event
constexpr char kallsyms[] = "kallsyms";  // "complete", "hidden" (addresses withheld), "missing"
// Counters, one line each:
// "count.CPU.trace|mte|stacks.produced|written|full|stopped|too_long|source=N". Of the written
// ones, "overwritten" were overwritten by newer ones (wrap-around) and "unwritten" did not get into
// the file (disk full).
constexpr char count_prefix[] = "count.";
// "missed.PROBE=N": hits of one of the module's probes that the kernel skipped; no line: none
constexpr char missed_prefix[] = "missed.";
constexpr char throttled[] = "throttled";  // times the kernel throttled perf's clock (idle CPUs)
}  // namespace info

}  // namespace pi::nrm2

#endif  // PI_NRM2_H
