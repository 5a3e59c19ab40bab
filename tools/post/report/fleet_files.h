// SPDX-License-Identifier: MIT
// Where --fleet writes the tables of a trace: docs/fleet.md describes the folders.
#ifndef POST_FLEET_FILES_H
#define POST_FLEET_FILES_H

#include <pi/result.h>

#include <string>
#include <string_view>

#include "options/options.h"
#include "read/byte_source.h"
#include "read/nrm2_reader.h"
#include "read/record_totals.h"

namespace post {

// With --fleet, sets the paths of its tables, absolute ones in folders that exist. Their names
// depend on the host and the beginning of the trace only, so that a trace that is written again
// replaces its files. The folders must belong to the user; a link below the one of --fleet is an
// error.
pi::Status set_fleet_files(Options& options, ByteSource& source, const TraceFile& file);

// Whether a trace is a day long at most: queries look for it in the folder of the day on which it
// begins.
bool fits_fleet(const RecordTotals& totals);

// "records/date=2026-11-27/host=a%2fb": the folder of a host's traces that begin on a day (UTC).
std::string fleet_folder(std::string_view table, uint64_t begin_ns, std::string_view host);

}  // namespace post

#endif  // POST_FLEET_FILES_H
