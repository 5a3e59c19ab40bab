// SPDX-License-Identifier: MIT
// The thread that takes sections from a collector's buffers, as they fill, into a trace file.
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

// Trace sections are written when they are whole, MTE records also once a second, the kernel's
// names after the first (the module's hooks have added some by then); then the file is brought to
// the disk, beside the thread that takes sections, so that a slow disk holds up nothing but itself.
// When writing fails, sections stay in the buffers and are tried again every second; what then
// finds no room there counts as lost, by the buffers.
class StreamWriter {
 public:
  struct Setup {
    std::string name;
    FileFacts facts;
    uint64_t section_bytes = 0;
    std::string proc_path;
    InfoText info;  // as long as the trace runs; without what became of the kernel's symbols
  };

  // Makes the file, under a name of its own until start(). The collector must outlive the writer.
  // PU_ERROR_FILE.
  static Result<std::unique_ptr<StreamWriter>> create(Collector& collector, Setup setup);
  ~StreamWriter() { stop(); }

  // PU_ERROR_NOT_ENOUGH_MEMORY, PU_ERROR_FILE.
  Status start();
  // Ends the threads; what is not taken stays in the buffers. Repeated calls are harmless.
  void stop();

  // Takes what is unread, whole sections or not.
  void take_all();
  // What the last section says of a file that holds these records; whole: nothing else was to be in
  // it. What became of the kernel's symbols is added.
  using MakeInfo = std::function<InfoText(const InFile&, bool whole)>;
  // What has no room in the file.
  struct Unwritten {
    int error = 0;  // why: an error number; 0: everything is in the file
    bool records = false;
    bool kernel = false;  // its symbols and modules
    bool code = false;    // the kernel's code that ITrace's records touch
  };
  // The last section, and the kernel's texts again if they have changed. On a full disk the newest
  // records give up their room for it. PU_ERROR_FILE: the file has no last section, or is not on
  // the disk.
  Result<Unwritten> finish(const MakeInfo& make_info, uint32_t cpus);
  // Has the collector forget its trace records, and begins a file without those that were taken.
  // PU_ERROR_FILE, and what the collector returns.
  Status discard_trace();
  // The beginning of another file: all that is in this one now. PU_ERROR_FILE.
  struct Copy {
    OutputFile file;
    InFile in_file;
    std::string kernel_state;  // KernelTexts::kallsyms_state, of what is in the file
  };
  Result<Copy> copy_to(const std::string& name);

  // What keeps the file from being written; empty when nothing does.
  std::string trouble();
  // Of each stream, how many records are in the file.
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
  std::string unwritten_build_ids_;  // lines that are not in the file yet
  std::string trouble_;
  int trouble_error_ = 0;  // the error number, when there is trouble
  std::string kernel_state_ = "missing";
  std::atomic<bool> unsynced_ = false;
  ProcessFd stop_event_;
  std::atomic<bool> stopping_ = false;
  std::thread reader_;
  std::thread syncer_;
};

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_STREAM_WRITER_H
