// SPDX-License-Identifier: MIT
// Writes OpenTelemetry's profiles (OTLP): call stacks with their ticks, by service.
#ifndef POST_OTLP_H
#define POST_OTLP_H

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/sink.h"

namespace post {

// Texts are UTF-8 without control characters.
struct OtlpProfile {
  struct Frame {
    std::string name;
    std::string module;    // path; empty: not known, or left out
    std::string build_id;  // in hexadecimal; empty: not known
    bool kernel = false;
  };
  struct Sample {
    std::string_view process;
    std::string_view thread;
    size_t stack = 0;  // in stacks
    uint64_t ticks = 0;
  };

  std::string host, kernel;  // empty: not known
  std::string version;       // of the program that writes
  std::string event;         // what a tick counts; empty: time
  uint64_t period = 0;       // nanoseconds, or events, that a tick represents; 0: not known
  uint64_t begin_ns = 0;     // of the first tick, since 1970
  uint64_t duration_ns = 0;
  std::vector<std::pair<std::string, std::string>> attributes;  // of each profile

  std::vector<Frame> frames;
  std::vector<std::vector<uint32_t>> stacks;           // frames, the innermost first
  std::map<std::string, std::vector<Sample>> samples;  // by service; "": not known
};

// An ExportProfilesServiceRequest of opentelemetry/proto/collector/profiles/v1development, which is
// a ProfilesData, too, compressed by gzip. Each service is a resource with one profile, whose
// values are ticks. The same profile has the same profile_id each time. False when the sink failed.
bool write_otlp(const OtlpProfile& profile, Sink& sink);

}  // namespace post

#endif  // POST_OTLP_H
