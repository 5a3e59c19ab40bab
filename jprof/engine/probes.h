// SPDX-License-Identifier: MIT
// The probes of each kind of meter.
//
// Calibration is right only if the way from the caller to the early read and the way from the late
// read back to it always execute the same instructions: so each kind has its own function, whose
// reads contain no branch, and nothing but stores follows the late read.
#ifndef PI_CALLFLOW_PROBES_H
#define PI_CALLFLOW_PROBES_H

#include "engine.h"

namespace pi::callflow {

struct Probes {
  EnterProbe enter;
  LeaveProbe leave;
};

Probes probes_of(MeterKind kind);
Probes no_probes();

}  // namespace pi::callflow

#endif  // PI_CALLFLOW_PROBES_H
