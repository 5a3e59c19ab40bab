// SPDX-License-Identifier: MIT
// Reads the kernel's code, as it was executed, from the trace.
#ifndef POST_KERNEL_CODE_H
#define POST_KERNEL_CODE_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "byte_source.h"
#include "nrm2_reader.h"
#include "text/damage_log.h"

namespace post {

class KernelCode {
 public:
  // Reads the sections with kernel code; damage is added to the log.
  void load(ByteSource& source, const std::vector<Extent>& sections, DamageLog& damage);

  // Copies bytes from an address on; returns their number, 0 if none are known.
  size_t read(uint64_t address, std::span<std::byte> out) const;

  bool empty() const { return stretches_.empty(); }

 private:
  void take(std::span<const std::byte> section, uint64_t file_offset, DamageLog& damage);

  std::map<uint64_t, std::vector<std::byte>> stretches_;  // by address
};

}  // namespace post

#endif  // POST_KERNEL_CODE_H
