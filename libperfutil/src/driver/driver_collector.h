// SPDX-License-Identifier: MIT
// The pitrace module as a source: ioctls, and its buffers mapped read-only.
#ifndef PI_PERFUTIL_DRIVER_COLLECTOR_H
#define PI_PERFUTIL_DRIVER_COLLECTOR_H

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "driver_cgroups.h"
#include "driver_itrace.h"
#include "driver_stacks.h"
#include "source/collector.h"
#include "source/config.h"
#include "system/device.h"

namespace pi::perfutil {

class DriverCollector final : public Collector {
 public:
  // Opens the device and becomes the trace's owner. PU_ERROR_DRIVER_NOT_LOADED,
  // PU_ERROR_ACCESS_DENIED, PU_ERROR_FACILITY_BUSY, PU_ERROR_NOT_ENOUGH_MEMORY,
  // PU_ERROR_NOT_SUPPORTED when module and library speak different versions.
  static Result<std::unique_ptr<Collector>> create(const TraceConfig& config,
                                                   std::unique_ptr<Device> device);
  ~DriverCollector() override;

  int source() const override { return PI_SOURCE_DRIVER; }
  Status enable(uint32_t major) override;
  Status disable(uint32_t major) override;
  Status set_rate(uint32_t rate) override;
  Status set_event(const TickEvent& event) override;
  Status set_stacks(const StackChoice& stacks) override;
  Status set_stack_resolver(const StackCopies& copies) override;
  Status on() override;
  Status off() override;
  Result<CollectorStatus> status() override;
  Status suspend() override;
  Status resume() override;
  Status discard() override;
  std::vector<BufferView> buffers() override;
  void copy_trace(const std::function<void(BufferCopy)>& take) override;
  int ready_fd() override { return device_->fd(); }
  std::vector<BufferView> unread() override;
  void consumed(const BufferView& view, size_t bytes) override;
  std::vector<std::string> cannot_see() override;
  std::vector<std::string> notes() override;
  std::string frame_names(uint32_t& known) override { return user_stacks_.frame_names(known); }
  void forget_frame_names() override { user_stacks_.forget_frame_names(); }
  ITrace& itrace() override { return itrace_; }
  int itrace_fd() const override { return device_->fd(); }

 private:
  DriverCollector(std::unique_ptr<Device> device, const TraceConfig& config)
      : device_(std::move(device)),
        itrace_(*device_),
        pid_(config.pid),
        cgroups_(config),
        user_stacks_(*device_, config) {}
  Status start_threads();
  Status control(unsigned long request, void* argument, const char* what);
  // Maps the buffers of CPUs that came online since the last call: the module allocates them then.
  void map_new_cpus();
  std::vector<pitrace_probe> probes();
  bool wraps(uint32_t kind) const;

  std::unique_ptr<Device> device_;
  DriverITrace itrace_;
  const int pid_;  // that the user named
  pitrace_info info_{};
  TickEvent tick_;
  StackChoice stacks_;
  std::mutex mapped_mutex_;
  std::map<uint32_t, std::vector<UniqueMapping>> mapped_;  // by CPU, then kind
  // Last: their threads call us.
  DriverCgroups cgroups_;
  DriverStacks user_stacks_;
};

// Why the device cannot be opened, by error number.
Error device_open_error(int error);

// INFO of a device that was just opened; checks the ABI version.
Result<pitrace_info> read_device_info(Device& device);

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_DRIVER_COLLECTOR_H
