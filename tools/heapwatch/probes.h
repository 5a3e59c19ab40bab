// SPDX-License-Identifier: MIT
// The kernel's probes in the allocators of a process. They are gone when their descriptors are
// closed, whatever ends this program.
#ifndef HEAPWATCH_PROBES_H
#define HEAPWATCH_PROBES_H

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include <pi/result.h>
#include <pi/unique_fd.h>

#include "allocators.h"
#include "call.h"
#include "futex_probe.h"
#include "record_program.h"

namespace heapwatch {

struct Probe {
  Function function;
  bool is_return;
};

class Probes {
 public:
  // Calls are passed on from switch_on() on.
  // Without heap only that code is unloaded is.
  static pi::Result<Probes> open(int pid, const Allocators& allocators, bool heap);
  // Waits in futex() are passed on as well. Not after switch_on().
  pi::Status add_waits(int pid);
  // Without it, the first calls of another program that the process becomes can be passed on.
  pi::Status end_at_exec(int pid);

  void switch_on() { control().on = 1; }
  void switch_off() { control().on = 0; }
  // Removes the probes. Calls that they have reported remain.
  void remove() {
    buffer_.reset();
    events_.clear();
    waits_.reset();
    at_exec_.reset();
  }
  // The process has started another program, or its first thread has ended: no call is reported
  // any more. Before remove().
  bool are_gone() const;
  uint64_t lost() const { return control().lost; }

  const Probe& probe(const Call& call) const { return probes_[call.probe % probes_.size()]; }
  // Passes each call on with its stack, in their order, and returns their number.
  size_t drain(const std::function<void(const Call&, std::span<const std::byte>)>& take);
  // Readable when the ring is filled to a part.
  int ring() const { return ring_.get(); }

 private:
  volatile Control& control() const {
    return *reinterpret_cast<volatile Control*>(control_memory_.data());
  }
  pi::Status create_maps();
  pi::Status map_ring();
  pi::Status watch_end();
  pi::Status add(int pid, const Allocators& allocators, const Place& place, bool is_return);
  pi::Result<pi::UniqueFd> load(const Probe& probe, uint32_t number) const;

  pi::UniqueFd ring_, control_map_, pointers_;
  pi::UniqueMapping control_memory_, consumer_, producer_;
  std::vector<pi::UniqueFd> events_;
  std::optional<FutexProbe> waits_;
  pi::UniqueFd at_exec_;
  pi::UniqueMapping buffer_;  // of the first one
  std::vector<Probe> probes_;
};

}  // namespace heapwatch

#endif  // HEAPWATCH_PROBES_H
