// SPDX-License-Identifier: MIT
// Reads the layout of an nrm2 file: joins its sections to streams, reads its texts, finds its
// symbols. stream.h reads the records.
#ifndef POST_NRM2_READER_H
#define POST_NRM2_READER_H

#include <pi/result.h>

#include <cstdint>
#include <vector>

#include "byte_source.h"
#include "text/damage_log.h"
#include "trace_info.h"

namespace post {

// Bytes of one section. after_gap: bytes of the stream before it are missing, so that a record
// that began before cannot end here.
struct Extent {
  uint64_t offset = 0;  // in the file
  uint64_t size = 0;
  bool after_gap = false;
};

// One buffer of one CPU: its sections in file order.
struct StreamLayout {
  StreamKey key;
  bool final_mte = false;  // written when the trace was turned off
  uint32_t time_high = 0;  // until a record says otherwise
  std::vector<Extent> extents;

  uint64_t size() const;
};

struct FileRange {
  uint64_t offset = 0;  // 0: there is none
  uint64_t size = 0;
};

struct TraceFile {
  // MTE, stacks, trace; lower CPU first: the order in which records of equal time are delivered.
  std::vector<StreamLayout> streams;
  TraceInfo info;
  std::vector<BuildId> build_ids;
  FrameNames frame_names;
  std::vector<Extent> kernel_code;  // see KernelCode
  FileRange kallsyms;
  FileRange modules;
  uint32_t cpus = 0;
  std::vector<StreamKey> full;                              // buffers that became full
  std::vector<std::pair<StreamKey, uint64_t>> header_lost;  // records lost, if headers contain it
};

// Returns an error when this is not an nrm2 file that post can read; damage after the first header
// is added to the log, and the good parts are returned.
pi::Result<TraceFile> read_layout(ByteSource& source, DamageLog& damage);

// Where the last section that is there completely ends, in a file to which sections are added. The
// file's size when something else is wrong with it.
uint64_t end_of_whole_sections(ByteSource& source);

}  // namespace post

#endif  // POST_NRM2_READER_H
