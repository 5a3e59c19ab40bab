// SPDX-License-Identifier: MIT
// The process's one trace: its settings, its collector, and the rules of its states.
#ifndef PI_PERFUTIL_TRACE_H
#define PI_PERFUTIL_TRACE_H

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "file/info_section.h"
#include "file/kernel_code.h"
#include "file/kernel_texts.h"
#include "file/stream_writer.h"
#include "source/collector.h"
#include "source/config.h"
#include "system/device.h"

namespace pi::perfutil {

// Not thread-safe: its callers hold the lock of api/call.h. The functions mirror those of
// perfutil.h, which lists their errors.
class Trace {
 public:
  // For a child of fork(): a trace with the parent's settings. The parent's trace stays the
  // parent's.
  static std::unique_ptr<Trace> in_child_of(const Trace& parent);

  Status set_source(int source);
  Status set_scope(int scope, int pid);
  Status set_mode(int mode);
  Status set_mte_size(uint32_t bytes);
  Status set_section_size(uint32_t bytes);
  Status set_name(const std::string& name);
  const std::string& name() const { return config_.file_name; }
  Status set_anonymous(bool on);
  Status init(uint32_t bytes, std::unique_ptr<Device> device);
  Status enable(int major);
  Status disable(int major);
  Result<bool> query_major(int major);
  Status set_rate(int rate);
  Status set_event(const TickEvent& event);
  Status set_stacks(int which, int depth);
  Status set_stack_resolver(const StackCopies& copies);
  Status on();
  Result<bool> off();  // true: a buffer was full, and recording had ended by itself
  Status suspend();
  Status resume();
  Status discard();
  Status terminate();
  // PU_ERROR_NOT_INITIALIZED, PI_ERROR_FORKED.
  Status initialised() const;
  // ITrace for the trace's owner; errors as perfutil.h lists them.
  Status itrace_install(const pitrace_itrace& setup);
  Status itrace_remove();
  Status itrace_enable(uint32_t first, uint32_t last);
  Status itrace_disable();
  Status itrace_on();
  Status itrace_off();
  Result<pitrace_itrace_info> itrace_info();
  bool is_initialised() const { return collector_ != nullptr; }
  // An ancestor of this process had initialised the trace before the fork, and this process has
  // not.
  bool is_of_parent() const { return initialised_by_ != 0 && !collector_; }
  int itrace_fd() const { return collector_ ? collector_->itrace_fd() : -1; }
  // An empty name: that of set_name().
  Status write(const std::string& name);
  // The collector's state; PU_ERROR_NOT_INITIALIZED.
  Result<CollectorStatus> status();
  int source() const;
  int mode() const { return config_.mode; }
  std::vector<StreamCounts> counts();
  std::vector<std::string> cannot_see();
  std::vector<std::string> notes();

 private:
  Status before_init() const;
  // The state; PU_ERROR_INCORRECT_STATE unless the trace is on.
  Result<CollectorStatus> while_on();
  Status begin_stream(const CollectorStatus& now);
  Status end_stream();
  Error incomplete_file(const std::vector<BufferView>& views,
                        const StreamWriter::Unwritten& unwritten);
  Status write_buffers(const std::string& name, const CollectorStatus& now);
  void see_kernel_code(const std::vector<BufferView>& buffers);
  Status write_snapshot(const std::string& name, const CollectorStatus& now);
  std::string stream_name() const;
  void note_clock();
  Status itrace_installed();

  TraceConfig config_;
  const Trace* inherited_ = nullptr;  // kept, so that it is no leak
  int initialised_by_ = 0;            // process id, of this process or of an ancestor; 0: none
  std::unique_ptr<Collector> collector_;
  std::optional<KernelCode> kernel_code_;  // of the last interval, in normal mode
  std::unique_ptr<StreamWriter> stream_;   // in the other modes, from the first on()
  bool taken_ = false;  // wrap-around mode: all that was recorded is in a file that the user named
  std::vector<std::string> notes_;
  std::string clock_source_;  // at the last on()
  std::string clock_change_;  // a note, when off() found another clock source
  bool recorded_ = false;     // the trace was on since init()
};

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_TRACE_H
