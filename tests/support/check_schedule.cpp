// SPDX-License-Identifier: MIT
// Checks that every record of a trace file is accounted for, by its sequence number.
#include "check_schedule.h"

#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <span>
#include <string_view>

#include <fmt/format.h>
#include <pi/decode.h>
#include <pi/nrm2.h>

namespace schedule {
namespace {

namespace nrm2 = pi::nrm2;

using Bytes = std::span<const std::byte>;
constexpr size_t max_problems = 20;

enum Kind : uint32_t { trace_kind = PITRACE_BUFFER_TRACE, mte_kind = PITRACE_BUFFER_MTE };

struct StreamKey {
  uint32_t cpu;
  uint32_t kind;
  auto operator<=>(const StreamKey&) const = default;
};

struct Counts {
  bool known = false;
  uint64_t produced = 0, written = 0, full = 0, stopped = 0, too_long = 0, source = 0;
  uint64_t overwritten = 0, unwritten = 0;
  uint64_t lost() const { return full + stopped + too_long + source; }
};

// Counts over a part of a writer's sequence numbers.
struct Tally {
  uint64_t accepted = 0, refused = 0;  // written while the trace was certainly on
  uint64_t unsure_accepted = 0, unsure_refused = 0;

  void add(const WriterLog& log, uint64_t number) {
    const bool was_refused = log.was_refused(number);
    switch (log.recording(number)) {
      case recorded:
        ++(was_refused ? refused : accepted);
        break;
      case unsure:
        ++(was_refused ? unsure_refused : unsure_accepted);
        break;
      default:
        break;
    }
  }
  void add(const Tally& other) {
    accepted += other.accepted;
    refused += other.refused;
    unsure_accepted += other.unsure_accepted;
    unsure_refused += other.unsure_refused;
  }
};

class Checker {
 public:
  Checker(const std::string& name, const Expected& expected) : expected_(expected) {
    std::ifstream in(name, std::ios::binary);
    if (!in) problem("'{}' cannot be read", name);
    content_.assign(std::istreambuf_iterator<char>(in), {});
  }

  Findings check() {
    if (!found_.problems.empty()) return found_;
    read_sections();
    // A CPU without records, or one that was always offline, may have no section.
    for (uint32_t writer = 0; writer < expected_.writers.size(); ++writer)
      streams_.try_emplace({writer, trace_kind});
    for (const auto& [key, bytes] : streams_)
      key.kind == trace_kind ? check_trace(key, bytes) : check_names(key, bytes);
    if (expected_.ended) check_sources();
    return found_;
  }

 private:
  template <class... Args>
  void problem(fmt::format_string<Args...> text, Args&&... args) {
    if (found_.problems.size() < max_problems)
      found_.problems.push_back(fmt::format(text, std::forward<Args>(args)...));
  }

  // Reports a value outside of [least, most].
  void expect(const StreamKey& key, const char* what, uint64_t is, uint64_t least, uint64_t most) {
    if (is < least || is > most)
      problem("CPU {} {}: {} is {}, should be {} to {}", key.cpu,
              key.kind == trace_kind ? "trace" : "mte", what, is, least, most);
  }

  // ---- the file ----

  template <class T>
  T number_at(size_t place) const {
    T value;
    std::memcpy(&value, content_.data() + place, sizeof value);
    return value;
  }

  void read_sections() {
    const auto whole = std::as_bytes(std::span(content_));
    if (whole.size() < nrm2::header_size) return problem("the file has no header");
    const uint64_t kallsyms = number_at<uint64_t>(nrm2::offset::kallsyms_offset);
    const uint64_t modules = number_at<uint64_t>(nrm2::offset::modules_offset);
    size_t at = 0;
    while (at < whole.size()) {
      if (at != 0 && (at == kallsyms || at == modules)) return;
      if (whole.size() - at < nrm2::header_size)
        return expected_.ended ? problem("the header at {} is truncated", at) : void();
      if (std::memcmp(content_.data() + at, nrm2::magic, sizeof nrm2::magic) != 0)
        return problem("no section begins at {}", at);
      const uint64_t size = number_at<uint32_t>(at + nrm2::offset::data_size);
      const uint64_t data = at + nrm2::header_size;
      if (size > whole.size() - data && expected_.ended)
        return problem("the section at {} is truncated", at);
      add_section(at, whole.subspan(data, std::min<uint64_t>(size, whole.size() - data)));
      at = data + std::min<uint64_t>(size, whole.size() - data);
    }
  }

  void add_section(size_t header, Bytes data) {
    const uint32_t cpu = number_at<uint32_t>(header + nrm2::offset::cpu);
    const uint32_t type = number_at<uint32_t>(header + nrm2::offset::section_type);
    if (type == nrm2::section_info) read_counts(data);
    if (type >= nrm2::section_info) return;
    auto& stream = streams_[{cpu, type == nrm2::section_trace ? trace_kind : mte_kind}];
    stream.insert(stream.end(), data.begin(), data.end());
  }

  // Keeps the counts of the last info section.
  void read_counts(Bytes data) {
    counts_.clear();
    std::string_view text(reinterpret_cast<const char*>(data.data()), data.size());
    while (!text.empty()) {
      const std::string line(text.substr(0, text.find('\n')));
      text.remove_prefix(std::min(line.size() + 1, text.size()));
      unsigned cpu;
      char kind[8], what[16];
      unsigned long long value;
      if (std::sscanf(line.c_str(), "count.%u.%7[a-z].%15[a-z_]=%llu", &cpu, kind, what, &value) !=
          4)
        continue;
      Counts& counts = counts_[{cpu, std::string_view(kind) == "trace" ? trace_kind : mte_kind}];
      const std::map<std::string_view, uint64_t*> fields{{"produced", &counts.produced},
                                                         {"written", &counts.written},
                                                         {"full", &counts.full},
                                                         {"stopped", &counts.stopped},
                                                         {"too_long", &counts.too_long},
                                                         {"source", &counts.source},
                                                         {"overwritten", &counts.overwritten},
                                                         {"unwritten", &counts.unwritten}};
      counts.known = true;
      if (const auto field = fields.find(what); field != fields.end())
        *field->second = value;
      else
        problem("unknown count '{}'", line);
    }
  }

  // Calls use(record, losses reported so far) for every record; returns the number of counted
  // records.
  template <class Use>
  uint64_t walk(const StreamKey& key, Bytes bytes, Use use) {
    uint64_t counted = 0, lost = 0, time = 0, high = 0;
    while (!bytes.empty()) {
      const pi::RecordView record(bytes);
      if (!record.valid()) {
        if (expected_.ended) problem("CPU {}: {} bytes are not a record", key.cpu, bytes.size());
        return counted;
      }
      bytes = bytes.subspan(record.length());
      uint32_t new_high;
      if (pi::decode_time(record, new_high)) high = static_cast<uint64_t>(new_high) << 32;
      const uint64_t now = high | record.time_lo();
      if (now < time) problem("CPU {}: the time runs back from {} to {}", key.cpu, time, now);
      time = now;
      uint64_t reported;
      if (pi::decode_lost(record, reported)) {
        ++found_.lost_records;
        if (reported < lost)
          problem("CPU {}: the lost records fall from {} to {}", key.cpu, lost, reported);
        lost = reported;
      }
      counted += pi::is_counted(record);
      use(record, lost);
    }
    return counted;
  }

  // Checks produced = written + lost, and that the written records are present.
  void check_counts(const StreamKey& key, uint64_t counted) {
    const auto entry = counts_.find(key);
    if (entry == counts_.end()) {
      if (counted != 0) problem("CPU {}: the file has no counts for {} records", key.cpu, counted);
      return;
    }
    const Counts& counts = entry->second;
    if (counts.produced != counts.written + counts.lost())
      problem("CPU {} kind {}: produced {} is not written {} + lost {}", key.cpu, key.kind,
              counts.produced, counts.written, counts.lost());
    const uint64_t there = counts.written - counts.overwritten - counts.unwritten;
    expect(key, "records in the file", counted, there, there);
    if (key.kind != trace_kind) return;
    found_.produced += counts.produced;
    found_.written += counts.written;
    found_.lost += counts.lost();
    found_.overwritten += counts.overwritten;
    found_.unwritten += counts.unwritten;
  }

  void check_names(const StreamKey& key, Bytes bytes) {
    const uint64_t counted = walk(key, bytes, [](const pi::RecordView&, uint64_t) {});
    if (expected_.ended) check_counts(key, counted);
  }

  // ---- the writers' records ----

  struct Walked {
    // Records missing before the first kept one, between kept ones, and after the last one.
    Tally before, holes, after;
    uint64_t kept = 0, unsure_kept = 0, reported = 0;
  };

  void check_trace(const StreamKey& key, Bytes bytes) {
    if (key.cpu >= expected_.writers.size())
      return problem("CPU {}: a stream of a CPU without writer", key.cpu);
    const Window& window = expected_.writers[key.cpu];
    Walked walked;
    uint64_t at = window.from;
    const uint64_t counted = walk(key, bytes, [&](const pi::RecordView& record, uint64_t reported) {
      if (record.major() != hook_major) {
        if (expected_.hooks_only && pi::is_counted(record))
          problem("CPU {}: a record of major {:#x}", key.cpu, record.major());
        return;
      }
      if (record.int_count() != 3 || record.int_at(0) != key.cpu || record.int_at(1) != key.cpu)
        return problem("CPU {}: a hook of another writer", key.cpu);
      take(key, window, record.int_at(2), reported, at, walked);
    });
    for (; at < window.until; ++at) walked.after.add(*window.log, at);
    found_.kept += walked.kept;
    for (const Tally* tally : {&walked.before, &walked.holes, &walked.after})
      if (expected_.ended) found_.missing += tally->accepted + tally->refused;
    all_refused_.add(walked.before);
    all_refused_.add(walked.holes);
    all_refused_.add(walked.after);
    if (expected_.ended) check_counts(key, counted);
    check_missing(key, walked);
  }

  void take(const StreamKey& key, const Window& window, uint32_t number, uint64_t reported,
            uint64_t& at, Walked& walked) {
    if (number < window.from || number >= window.until)
      return problem("CPU {}: number {} is outside of the window {} to {}", key.cpu, number,
                     window.from, window.until);
    if (number < at) return problem("CPU {}: number {} twice or out of order", key.cpu, number);
    if (window.log->recording(number) == not_recorded)
      problem("CPU {}: number {} was written while the trace was off", key.cpu, number);
    if (window.log->was_refused(number))
      problem("CPU {}: number {} is in the file, but TraceHook() returned that it was lost",
              key.cpu, number);
    Tally hole;
    for (; at < number; ++at) hole.add(*window.log, at);
    ++at;
    const bool first = walked.kept++ == 0;
    walked.unsure_kept += window.log->recording(number) == unsure;
    (first ? walked.before : walked.holes).add(hole);
    // In wrap-around mode the LOST records before the first kept record may be overwritten.
    if (!first || expected_.mode != Mode::wrap)
      check_hole(key, number, hole, reported - walked.reported);
    walked.reported = reported;
  }

  // The records missing before a kept record must equal the stream's LOST records there.
  void check_hole(const StreamKey& key, uint32_t number, const Tally& hole, uint64_t reported) {
    const uint64_t sure = expected_.driver ? hole.refused : hole.accepted;
    const uint64_t not_sure = expected_.driver ? hole.unsure_refused : hole.unsure_accepted;
    // With perf, the first CPU's stream reports the losses of the writers' own rings.
    const bool exact = expected_.hooks_only && (expected_.driver || key.cpu != 0);
    if (reported < sure || (exact && reported > sure + not_sure))
      problem("CPU {}: before number {} the stream reports {} lost records, {} to {} are missing",
              key.cpu, number, reported, sure, sure + not_sure);
  }

  void check_missing(const StreamKey& key, const Walked& walked) {
    const Counts counts = counts_.contains(key) ? counts_[key] : Counts();
    // The module stored each accepted record; only newer records or a failed disk write can remove
    // it.
    if (expected_.driver)
      expect(key, "accepted and missing in the middle", walked.holes.accepted, 0, 0);
    if (expected_.mode != Mode::continuous)
      expect(key, "missing in the middle", walked.holes.accepted, 0, 0);
    if (expected_.mode != Mode::wrap && expected_.driver)
      expect(key, "missing at the beginning", walked.before.accepted, 0, 0);
    if (!expected_.ended) return;
    if (expected_.mode == Mode::wrap)
      expect(key, "missing at the end", walked.after.accepted, 0, 0);
    if (expected_.mode == Mode::normal && expected_.driver)
      expect(key, "missing at the end", walked.after.accepted, 0, 0);
    if (expected_.mode == Mode::continuous && expected_.driver &&
        walked.after.accepted > counts.unwritten)
      problem("CPU {}: {} records are missing at the end, {} were not written to the disk", key.cpu,
              walked.after.accepted, counts.unwritten);
    if (expected_.hooks_only) check_sums(key, walked, counts);
  }

  // Compares the buffer's counts with the writer's own.
  void check_sums(const StreamKey& key, const Walked& walked, const Counts& counts) {
    Tally all;
    for (const Tally* tally : {&walked.before, &walked.holes, &walked.after}) all.add(*tally);
    const uint64_t accepted = all.accepted + walked.kept - walked.unsure_kept;
    const uint64_t max_accepted = all.accepted + all.unsure_accepted + walked.kept;
    const uint64_t max_refused = all.refused + all.unsure_refused;
    if (expected_.driver) {
      expect(key, "written", counts.written, accepted, max_accepted);
      expect(key, "lost", counts.lost(), all.refused, max_refused);
      expect(key, "lost in the source", counts.source, 0, 0);
    } else {
      expect(key, "written and lost in the buffer", counts.produced - counts.source, accepted,
             max_accepted);
    }
    expect(key, "too long", counts.too_long, 0, 0);
    const uint64_t gone =
        all.accepted -
        (expected_.driver ? 0 : std::min(all.accepted, counts.full + counts.stopped));
    expect(key, "overwritten and unwritten", counts.overwritten + counts.unwritten, gone,
           gone + all.unsure_accepted + (expected_.driver ? 0 : walked.unsure_kept));
  }

  // With perf, losses of the writers' rings are counted once, for all CPUs.
  void check_sources() {
    if (expected_.driver || !expected_.hooks_only) return;
    uint64_t lost = 0;
    for (const auto& [key, counts] : counts_)
      if (key.kind == trace_kind) lost += counts.source;
    expect({0, trace_kind}, "lost in the rings of all writers", lost, all_refused_.refused,
           all_refused_.refused + all_refused_.unsure_refused);
  }

  const Expected& expected_;
  Findings found_;
  std::vector<char> content_;
  std::map<StreamKey, std::vector<std::byte>> streams_;
  std::map<StreamKey, Counts> counts_;
  Tally all_refused_;
};

}  // namespace

Findings check_file(const std::string& name, const Expected& expected) {
  return Checker(name, expected).check();
}

}  // namespace schedule
