// SPDX-License-Identifier: MIT
// The kernel's machine code as it ran, of the pages that an instruction trace went through.
#ifndef PI_PERFUTIL_KERNEL_CODE_H
#define PI_PERFUTIL_KERNEL_CODE_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_set>

#include <pi/result.h>

#include "info_section.h"

namespace pi::perfutil {

class KernelCode {
 public:
  // Whole records of a trace buffer, in any order.
  void see(std::span<const std::byte> records);
  bool empty() const { return pages_.empty(); }
  void clear() { *this = {}; }
  // The bytes of a section_kernel_code, read from the kernel's memory now. What has been unloaded
  // meanwhile is left out. PU_ERROR_FILE: none can be read; the message is a note for the trace.
  Result<std::string> read(const std::string& proc) const;

 private:
  void touch(uint64_t address);

  static constexpr size_t recent_pages = 256;
  std::array<uint64_t, recent_pages> recent_{};  // by hash; most records are of these
  std::unordered_set<uint64_t> pages_;           // addresses
};

// As KernelCode::read(); empty when nothing was touched, or when it cannot be read, which becomes a
// note.
std::string code_or_note(const KernelCode& code, const std::string& proc, InfoText& info);

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_KERNEL_CODE_H
