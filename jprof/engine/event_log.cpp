// SPDX-License-Identifier: MIT
// log-gen: binary events into text.
#include "event_log.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <unordered_map>

#include <pi/files.h>

#include "method_names.h"
#include "session.h"

namespace pi::callflow {
namespace {

constexpr size_t flush_bytes = 1 << 20;

pi::Error failure(int error) {
  return {error, "The log of events cannot be written: " + std::string(std::strerror(error))};
}

class LogGen {
 public:
  LogGen(int out, const Snapshot& snapshot, const Calibration& calibration,
         const ReportSettings& settings, const NameOf& name_of)
      : out_(out),
        metrics_(snapshot.metrics),
        calibration_(calibration),
        settings_(settings),
        names_(name_of),
        minima_(snapshot.metrics.size()) {
    for (const auto& thread : snapshot.threads) threads_[thread.tid] = thread_label(thread);
  }

  pi::Status write(int events) {
    write_heading();
    std::vector<std::byte> block(EventBuffer::block_bytes);
    for (uint64_t offset = 0;;) {
      BlockHead head;
      const auto read = pi::read_at(events, offset, std::as_writable_bytes(std::span(&head, 1)));
      if (read.error) return failure(read.error);
      if (read.bytes == 0) break;
      if (read.bytes < sizeof head || !is_valid(head)) return damaged(offset);
      const auto body = std::span(block).first(head.bytes);
      const auto events_read = pi::read_at(events, offset + sizeof head, body);
      if (events_read.error) return failure(events_read.error);
      if (events_read.bytes < head.bytes) return damaged(offset);
      write_block(head.tid, body);
      offset += sizeof head + head.bytes;
      if (text_.size() > flush_bytes)
        if (const int error = flush()) return failure(error);
    }
    const int error = flush();
    return error ? pi::Status(failure(error)) : pi::Status();
  }

 private:
  size_t event_bytes() const { return sizeof(EventHead) + metrics_.size() * sizeof(uint64_t); }

  bool is_valid(const BlockHead& head) const {
    return head.mark == BlockHead::magic && head.metrics == metrics_.size() &&
           head.bytes <= EventBuffer::block_bytes - sizeof head && head.bytes % event_bytes() == 0;
  }

  // A full disk: what was converted until here is kept.
  pi::Status damaged(uint64_t offset) {
    if (const int error = flush()) return failure(error);
    return pi::Error{EINVAL, "The events after byte " + std::to_string(offset) +
                                 " of the log of events are damaged and were left out"};
  }

  int flush() {
    const int error = pi::write_all(out_, pi::text_bytes(text_));
    text_.clear();
    return error;
  }

  void write_heading() {
    text_ = settings_.heading + " Units :: ";
    for (size_t i = 0; i < metrics_.size(); ++i) text_ += (i ? "+" : "") + metrics_[i].name;
    text_ += metrics_.empty() ? "none\n\n" : "\n\n";
  }

  void write_block(uint32_t tid, std::span<const std::byte> events) {
    const auto [thread, is_new] = threads_.try_emplace(tid, "unknown");
    if (seen_.insert({tid, true}).second) text_ += " 0 pidtid " + thread->second + '\n';
    for (; !events.empty(); events = events.subspan(event_bytes())) {
      EventHead head;
      uint64_t differences[max_metrics];
      std::memcpy(&head, events.data(), sizeof head);
      std::memcpy(differences, events.data() + sizeof head, metrics_.size() * sizeof(uint64_t));
      for (size_t i = 0; i < metrics_.size(); ++i) {
        append_number(text_, calibrated(i, head.sequence, differences[i]), 9);
      }
      text_ += head.how == Transition::entry ? " > " : " < ";
      if (settings_.types) {
        text_ += letter_of(head.type);
        text_ += ':';
      }
      text_ += names_.of(head.method) + ' ' + thread->second + '\n';
    }
  }

  int64_t calibrated(size_t metric, uint32_t sequence, uint64_t difference) {
    const auto value = static_cast<int64_t>(difference);
    if (sequence >= sequence_count || !calibration_.on) return value;
    const std::string& name = metrics_[metric].name;
    const auto [known, is_new] = minima_[metric].try_emplace(sequence);
    if (is_new) {
      const Minimum* stored = calibration_.stored.find(name, sequence);
      const Minimum* environment = calibration_.environmental.find(name, sequence);
      known->second = {stored ? stored->value : UINT64_MAX, stored ? stored->count : 0,
                       environment ? environment->value : 1};
    }
    auto& [minimum, count, environment] = known->second;
    minimum = std::min(minimum, difference);
    ++count;
    if (count < settled_after || minimum <= environment) return value;
    return value - static_cast<int64_t>(minimum - environment);
  }

  struct Known {
    uint64_t minimum;
    uint64_t count;
    uint64_t environment;
  };

  int out_;
  const std::vector<Metric>& metrics_;
  const Calibration& calibration_;
  const ReportSettings& settings_;
  MethodNames names_;
  std::vector<std::unordered_map<uint32_t, Known>> minima_;
  std::map<uint32_t, std::string> threads_;
  std::map<uint32_t, bool> seen_;
  std::string text_;
};

}  // namespace

void flush_event_log() {
  const std::lock_guard lock(state.control);
  for (ThreadTree* thread = state.threads.load(std::memory_order_acquire); thread;
       thread = thread->next) {
    Recording* recording = thread->recording.load(std::memory_order_acquire);
    if (recording && recording->log.is_open()) recording->log.flush();
  }
}

pi::Status log_gen(int events, int out, const Snapshot& snapshot, const Calibration& calibration,
                   const ReportSettings& settings, const NameOf& name_of) {
  return LogGen(out, snapshot, calibration, settings, name_of).write(events);
}

}  // namespace pi::callflow
