// SPDX-License-Identifier: MIT
// The kernel's machine code as it ran, for the pages that an instruction trace touched.
#ifndef PI_PERFUTIL_KERNEL_CODE_H
#define PI_PERFUTIL_KERNEL_CODE_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <pi/result.h>

#include "info_section.h"
#include "system/process_fd.h"

namespace pi::perfutil {

class KernelCode {
 public:
  // proc: the directory of kcore.
  explicit KernelCode(std::string proc) : proc_(std::move(proc)) {}

  // Whole records of a trace buffer, in any order. A page is read when a record first refers to it,
  // because the kernel patches its code later, for instance when ITrace's own hooks are removed.
  void see(std::span<const std::byte> records);
  bool empty() const { return pages_.empty(); }
  void clear() { *this = KernelCode(std::move(proc_)); }
  // The bytes of a section_kernel_code. Code that was already unloaded at that moment is left out.
  // PU_ERROR_FILE: no page could be read; the message is a note for the trace.
  Result<std::string> text() const;

 private:
  // A range of memory in kcore.
  struct Segment {
    uint64_t start, size, offset;
  };

  void touch(uint64_t address);
  void open();
  std::string read_page(uint64_t page) const;

  std::string proc_;
  static constexpr size_t recent_pages = 256;
  std::array<uint64_t, recent_pages> recent_{};  // by hash; most records are of these pages
  std::map<uint64_t, std::string> pages_;        // bytes by address; empty: could not be read
  ProcessFd kcore_;
  std::vector<Segment> segments_;
  std::string trouble_;  // why no page can be read
};

// As KernelCode::text(); empty when no page was touched, or when none could be read, which becomes
// a note.
std::string code_or_note(const KernelCode& code, InfoText& info);

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_KERNEL_CODE_H
