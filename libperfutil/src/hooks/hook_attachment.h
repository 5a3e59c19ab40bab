// SPDX-License-Identifier: MIT
// The trace that this process's user hooks go to: the module's, or that of a recorder.
#ifndef PI_PERFUTIL_HOOK_ATTACHMENT_H
#define PI_PERFUTIL_HOOK_ATTACHMENT_H

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

#include "hook_protocol.h"

namespace pi::perfutil {

// A descriptor that the program does not know: it may close it, and the number may become another
// file's. Before it is used for anything but a PITRACE_IOC_* it is compared with the file that was
// opened.
struct WatchedFd {
  int fd = 0;  // 0: none
  dev_t device = 0;
  ino_t inode = 0;

  bool take(int descriptor);  // on failure closes it and returns false
  bool is_ours() const;
  void close();  // unless it is another file's by now
};

// Plain data: there is no destructor, detach() unmaps. No function allocates memory or takes a
// lock, so that a hook in a signal handler may attach. All zero is the initial state.
struct HookAttachment {
  const pitrace_hook_page* page = nullptr;
  HookAreaHead* area = nullptr;  // null: the trace is the module's
  size_t area_bytes = 0;
  uint32_t ring_bytes = 0;
  WatchedFd fd;  // the device, or the connection to the recorder

  // True when a trace has been found whose owner is alive.
  bool attach();
  void detach();

  // Maps the ring of that index, its data twice in a row; null when there is no memory.
  std::byte* map_ring(uint32_t index) const;
  void unmap_ring(std::byte* ring) const;
  // Asks the recorder to read the rings. False when it has ended.
  bool wake_recorder() const;

 private:
  bool attach_to_module();
  bool attach_to_recorder();
  bool take_over(const HookHello& hello, int control_fd, int area_fd);

  uint32_t module_refused_ = 0;  // attempts to skip before the module is tried again
};

inline bool is_alive(const pitrace_hook_page& page) {
  return (pitrace_read(page.owner) & PITRACE_HOOK_OWNER_MASK) != 0;
}

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_HOOK_ATTACHMENT_H
