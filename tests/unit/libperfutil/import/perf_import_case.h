// SPDX-License-Identifier: MIT
// Imports recordings of perf, and shows what is in the trace files.
#ifndef PI_TESTS_PERF_IMPORT_CASE_H
#define PI_TESTS_PERF_IMPORT_CASE_H

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "import/perf_import.h"
#include "nrm2_file.h"
#include "perf_data.h"
#include "streams.h"
#include "temp_dir.h"

namespace pi::perfutil {

using test::PerfData;
using test::PerfRecord;
using Lines = std::vector<std::string>;

constexpr uint64_t clock_event = PERF_COUNT_SW_CPU_CLOCK;

class PerfImportTest : public ::testing::Test {
 protected:
  Status import(const std::string& bytes, const std::string& event = {}) {
    return import_path(dir_.write("perf.data", bytes), event);
  }
  Status import_path(const std::string& path, const std::string& event = {}) {
    PerfImport import;
    import.recording = path;
    import.trace = dir_ / "trace";
    import.event = event;
    import.proc = dir_.path();
    import.code = code_;
    const Status status = import_perf_recording(import);
    file_ = status ? test::parse_trace_file(test::slurp(import.trace)) : test::TraceFile{};
    return status;
  }
  Lines lines(uint32_t type) const {
    Lines all;
    for (const auto& section : file_.sections)
      if (section.type() == type)
        for (const std::string& line : test::lines_of(section.bytes())) all.push_back(line);
    return all;
  }
  Lines ticks() const { return lines(test::type_trace); }
  Lines names() const { return lines(test::type_mte); }
  Lines info(const std::string& key) const {
    const test::FileSection* section = file_.find(test::type_info);
    return section != nullptr ? test::info_values(section->data, key) : Lines();
  }

  test::TempDir dir_;
  test::TraceFile file_;
  RecordedCode* code_ = nullptr;
};

inline std::vector<std::byte> sample(uint64_t ip, uint64_t time, uint32_t cpu = 0,
                                     uint64_t id = test::some_event) {
  return PerfRecord(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER)
      .u64(id)
      .u64(ip)
      .u32(5)
      .u32(6)
      .u64(time)
      .u32(cpu)
      .u32(0)
      .end();
}

inline PerfData clock_data() {
  PerfData data;
  data.event(test::recorded_attr(clock_event, test::usual_sample, 1'000'000), {test::some_event});
  return data;
}

}  // namespace pi::perfutil

#endif  // PI_TESTS_PERF_IMPORT_CASE_H
