// SPDX-License-Identifier: MIT
// The kernel's symbols and modules, as text to be appended to a trace.
#ifndef PI_PERFUTIL_KERNEL_TEXTS_H
#define PI_PERFUTIL_KERNEL_TEXTS_H

#include <string>

namespace pi::perfutil {

struct KernelTexts {
  std::string kallsyms;        // a zstd frame; empty when hidden or missing
  std::string kallsyms_state;  // "complete", "hidden" (all addresses are zero), "missing"
  std::string modules;         // empty when the kernel has none
};

KernelTexts read_kernel_texts(const std::string& proc);

// Whether any symbol's address is not zero.
bool has_addresses(std::string_view kallsyms);

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_KERNEL_TEXTS_H
