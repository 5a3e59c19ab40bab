// SPDX-License-Identifier: MIT
// Finds the symbols of the kernel on which a recording of perf was made.
#ifndef PI_PERFUTIL_RECORDED_KERNEL_H
#define PI_PERFUTIL_RECORDED_KERNEL_H

#include <cstdint>
#include <string>

#include "file/kernel_texts.h"

namespace pi::perfutil {

// What the recording says about its kernel. Its symbols are not in it, but the address of one.
struct RecordedKernel {
  std::string host;
  std::string release;
  std::string build_id;  // "": not known
  std::string symbol;    // "": not known
  uint64_t address = 0;
};

// Whether a text as of /proc/kallsyms has the symbol at its address: then it is of the same kernel,
// at the addresses at which it was loaded.
bool has_symbol(std::string_view kallsyms, std::string_view symbol, uint64_t address);

// From the running kernel (proc: the directory /proc), or from perf's cache of symbols. Empty texts
// if neither has that kernel. cache: a directory like ~/.debug; "": none.
KernelTexts find_kernel_texts(const RecordedKernel& kernel, const std::string& proc,
                              const std::string& cache);

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_RECORDED_KERNEL_H
