// SPDX-License-Identifier: MIT
// Writes the start-up records of a trace without the module: clock, time base, rate, interval.
#ifndef PI_PERFUTIL_STARTUP_RECORDS_H
#define PI_PERFUTIL_STARTUP_RECORDS_H

#include <cstdint>

#include "user_buffer.h"

namespace pi::perfutil {

// Into the buffer of names, since names are kept in every mode.
void put_startup(uint64_t time, const TickEvent& tick, uint32_t rate, uint32_t interval_id,
                 UserBuffer& mte);

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_STARTUP_RECORDS_H
