// SPDX-License-Identifier: MIT
// C entry points for model-specific registers.
#include <fmt/format.h>

#include "call.h"
#include "counters/msr.h"
#include "perfutil.h"

namespace pi::perfutil {
namespace {

Status check_cpu(int cpu) {
  if (cpu >= 0) return {};
  return Error{PU_ERROR_INVALID_PARAMETER,
               fmt::format("{} is not the number of a CPU: each has registers of its own.", cpu)};
}

Status read(int cpu, uint32_t number, uint64_t* value) {
  if (value == nullptr) return null_pointer("value");
  *value = PI_MSR_UNREADABLE;
  if (auto good = check_cpu(cpu); !good) return good;
  const auto read = read_msr(static_cast<uint32_t>(cpu), number);
  if (!read) return read.error();
  *value = *read;
  return {};
}

Status write(int cpu, uint32_t number, uint64_t value) {
  if (auto good = check_cpu(cpu); !good) return good;
  return write_msr(static_cast<uint32_t>(cpu), number, value);
}

}  // namespace
}  // namespace pi::perfutil

using pi::perfutil::call;
using pi::perfutil::Trace;

int PiReadMsr(int cpu, uint32_t number, uint64_t* value) {
  return call([=](Trace&) { return pi::perfutil::read(cpu, number, value); });
}

int PiWriteMsr(int cpu, uint32_t number, uint64_t value) {
  return call([=](Trace&) { return pi::perfutil::write(cpu, number, value); });
}
