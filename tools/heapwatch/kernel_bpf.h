// SPDX-License-Identifier: MIT
// The kernel's maps and programs of BPF.
#ifndef HEAPWATCH_KERNEL_BPF_H
#define HEAPWATCH_KERNEL_BPF_H

#include <linux/bpf.h>

#include <cstdint>

#include <pi/result.h>
#include <pi/unique_fd.h>

#include "bpf_program.h"

namespace heapwatch {

// The kernel's message for a failure, or that only root can record.
pi::Error failed(const char* what, int error);

pi::UniqueFd create_map(bpf_map_type type, uint32_t key, uint32_t value, uint32_t entries,
                        uint32_t flags);

pi::Result<pi::UniqueFd> load_program(const BpfProgram& program, bpf_prog_type type);

}  // namespace heapwatch

#endif  // HEAPWATCH_KERNEL_BPF_H
