// SPDX-License-Identifier: MIT
// The kernel's symbols and modules, as texts to be appended to a trace, in zstd frames with
// checksums.
#ifndef PI_PERFUTIL_KERNEL_TEXTS_H
#define PI_PERFUTIL_KERNEL_TEXTS_H

#include <cstddef>
#include <string>
#include <string_view>

namespace pi::perfutil {

struct KernelTexts {
  std::string kallsyms;        // empty when hidden or missing
  std::string kallsyms_state;  // "complete", "hidden" (all addresses are zero), "missing"
  std::string modules;         // empty when the kernel has none
};

constexpr size_t max_kernel_text = 256u << 20;  // bytes of each

KernelTexts read_kernel_texts(const std::string& proc);
// The same from texts as /proc has them.
KernelTexts kernel_texts_of(std::string kallsyms, std::string modules);

// Whether any symbol's address is not zero.
bool has_addresses(std::string_view kallsyms);

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_KERNEL_TEXTS_H
