// SPDX-License-Identifier: MIT
// libperfutil for C++20: header-only, on top of perfutil.h, which stays usable with it. No function
// throws, except for std::bad_alloc where a function returns or takes strings or vectors.
//
//   perfutil/result.hpp  Result, Error: return codes with their sentence
//   perfutil/trace.hpp   TraceSession: set up, start, stop and write a trace
//   perfutil/hooks.hpp   Hook: a record of the program's own, checked by the compiler
//   perfutil/itrace.hpp  ITraceRegion, ITraceInstallation: the branches of a region
//   perfutil/ptt.hpp     Ptt, PttThread, PttRegion: the cost of a region to its thread
#ifndef PERFUTIL_HPP
#define PERFUTIL_HPP

#include <perfutil.h>
#include <perfutil/hooks.hpp>
#include <perfutil/itrace.hpp>
#include <perfutil/ptt.hpp>
#include <perfutil/result.hpp>
#include <perfutil/trace.hpp>

namespace pi {

using pitrace::ITraceRegion;  // its earlier name

}  // namespace pi

#endif  // PERFUTIL_HPP
