// SPDX-License-Identifier: MIT
// The thread that writes sections from a collector's buffers to a trace file, as they fill.
#ifndef PI_PERFUTIL_STREAM_WRITER_H
#define PI_PERFUTIL_STREAM_WRITER_H

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <pi/result.h>

#include "build_id_reader.h"
#include "info_section.h"
#include "kernel_code.h"
#include "source/collector.h"
#include "stream_file.h"
#include "system/process_fd.h"

namespace pi::perfutil {

// How many records of a stream are in the file.
using InFile = std::map<StreamFile::Stream, uint64_t>;

// Trace sections are written when they are whole, names and stacks also once a second, and the
// kernel's symbols after the first second (the module's hooks have added some by then). A second
// thread syncs the file to the disk every second, so that a slow disk does not delay the first.
// When writing fails, sections stay in the buffers and are tried again every second; the buffers
// count records for which there is no space then as lost.
class StreamWriter {
 public:
  struct Setup {
    std::string name;
    FileFacts facts;
    uint64_t section_bytes = 0;
    std::string proc_path;
    InfoText info;  // for the time while the trace runs; without the state of the kernel's symbols
  };

  // Creates the file, with a temporary name until start(). The collector must outlive the writer.
  // PU_ERROR_FILE.
  static Result<std::unique_ptr<StreamWriter>> create(Collector& collector, Setup setup);
  ~StreamWriter() { stop(); }

  // PU_ERROR_NOT_ENOUGH_MEMORY, PU_ERROR_FILE.
  Status start();
  // Ends the threads; records that were not taken stay in the buffers. Repeated calls are harmless.
  void stop();

  // Writes all unread records, also parts of a section.
  void take_all();
  // Makes the text of the last section for a file that holds these records; whole: no record is
  // missing. finish() adds the state of the kernel's symbols.
  using MakeInfo = std::function<InfoText(const InFile&, bool whole)>;
  // What is missing in the file.
  struct Unwritten {
    int error = 0;  // why: an error number; 0: everything is in the file
    bool records = false;
    bool kernel = false;  // its symbols and modules
    bool code = false;    // the kernel's code that ITrace's records touch
  };
  // Writes the last section, and the kernel's texts again if they have changed. On a full disk it
  // drops the newest records to make space. PU_ERROR_FILE: the file has no last section, or is not
  // on the disk.
  Result<Unwritten> finish(const MakeInfo& make_info, uint32_t cpus);
  // Drops all trace records, of the file and of the collector. PU_ERROR_FILE, and the collector's
  // errors.
  Status discard_trace();
  // A copy of this file as it is now, to be continued. PU_ERROR_FILE.
  struct Copy {
    OutputFile file;
    InFile in_file;
    std::string kernel_state;  // KernelTexts::kallsyms_state of the symbols in the file
  };
  Result<Copy> copy_to(const std::string& name);

  // Why the file cannot be written; empty when it can.
  std::string trouble();
  // How many records of each stream are in the file.
  InFile records();
  const std::string& name() const { return setup_.name; }
  const FileFacts& facts() const { return setup_.facts; }

 private:
  StreamWriter(Collector& collector, std::unique_ptr<StreamFile> file, Setup setup);
  void read_sections();
  void sync_each_second();
  // With mutex_ held:
  enum class Take { sections, names, all };
  void take(Take what);
  bool take_view(BufferView view, bool partial);
  void take_build_ids();
  void add_build_ids(const std::string& lines);
  // False when the file cannot be written.
  bool add_frame_names();
  int add_kernel();
  int add_kernel_and_info();
  void fail(int error);

  Collector& collector_;
  Setup setup_;
  std::mutex mutex_;
  std::unique_ptr<StreamFile> file_;
  BuildIdTable build_ids_;
  BuildIdReader build_id_reader_;
  KernelCode kernel_code_{setup_.proc_path};
  std::string unwritten_build_ids_;    // lines that are not in the file yet
  uint32_t frame_names_ = 0;           // that were taken
  std::string unwritten_frame_names_;  // of these
  std::string trouble_;
  int trouble_error_ = 0;  // the error number that belongs to trouble_
  std::string kernel_state_ = "missing";
  std::atomic<bool> unsynced_ = false;
  ProcessFd stop_event_;
  std::atomic<bool> stopping_ = false;
  std::thread reader_;
  std::thread syncer_;
};

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_STREAM_WRITER_H
