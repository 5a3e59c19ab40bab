// SPDX-License-Identifier: MIT
// Reads a trace's records by time and passes each to the subscribers of its major.
#ifndef POST_PIPELINE_H
#define POST_PIPELINE_H

#include <cstdint>
#include <functional>

#include "read/byte_source.h"
#include "read/nrm2_reader.h"
#include "read/record_totals.h"
#include "read/selection.h"
#include "read/subscriber.h"
#include "state/processes.h"
#include "text/damage_log.h"

namespace post {

// Called about every million records with the share of the bytes read, 0 to 1; false stops.
using Progress = std::function<bool(uint64_t records, double share)>;

// Damage is added to the log, and so are records with invalid contents, also those without a
// subscriber. Records after the selection's last one are not read.
RecordTotals run_pipeline(ByteSource& source, const TraceFile& file, DamageLog& damage,
                          const Selection& selection, const Subscriptions& subscriptions,
                          const Progress& progress);

// Names that the records do not contain in time. A process can have ticks before the record that
// names it; that record's name is then used, and that of its parent likewise. Frames that are no
// addresses are named in the file, which must outlive the processes. Reads all metadata streams; to
// be called before the pipeline runs.
void collect_fallback_names(ByteSource& source, const TraceFile& file, Processes& processes);

}  // namespace post

#endif  // POST_PIPELINE_H
