// SPDX-License-Identifier: MIT
// log-gen: the file of events, and its conversion into text and JSON.
#include "event_log.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <set>

#include <pi/above_standard.h>
#include <pi/file_size_signal.h>
#include <pi/files.h>

#include "event_reader.h"
#include "json_writer.h"
#include "method_names.h"
#include "session.h"

namespace pi::callflow {
namespace {

constexpr size_t value_width = 9;

pi::Error failure(int error) {
  return {error, "The log of events cannot be written: " + std::string(std::strerror(error))};
}

int write_text(int out, const std::string& text) {
  const pi::NoFileSizeSignal quiet;
  return pi::write_all(out, pi::text_bytes(text));
}

// What an event needs besides itself.
class Names {
 public:
  Names(const Snapshot& snapshot, const NameOf& name_of) : methods_(name_of) {
    for (const auto& thread : snapshot.threads) threads_[thread.tid] = thread_label(thread);
  }
  const std::string& thread(uint32_t tid) {
    return threads_.try_emplace(tid, "unknown").first->second;
  }
  const std::string& method(uint64_t method) { return methods_.of(method); }

 private:
  MethodNames methods_;
  std::map<uint32_t, std::string> threads_;
};

class TextWriter {
 public:
  TextWriter(int out, const Snapshot& snapshot, const ReportSettings& settings,
             const NameOf& name_of)
      : out_(out), snapshot_(snapshot), settings_(settings), names_(snapshot, name_of) {
    text_ = settings.heading + " Units :: ";
    const auto& metrics = snapshot.metrics;
    for (size_t i = 0; i < metrics.size(); ++i) text_ += (i ? "+" : "") + metrics[i].name;
    text_ += metrics.empty() ? "none\n" : "\n";
    if (snapshot.losses.log)
      text_ += " Lost :: " + std::to_string(snapshot.losses.log) +
               " events that could not be written to the log of events\n";
    text_ += '\n';
  }

  int add(const Event& event) {
    const std::string& thread = names_.thread(event.tid);
    if (seen_.insert(event.tid).second) text_ += " 0 pidtid " + thread + '\n';
    for (size_t i = 0; i < snapshot_.metrics.size(); ++i)
      append_number(text_, event.values[i], value_width);
    text_ += event.how == Transition::entry ? " > " : " < ";
    if (settings_.types) {
      text_ += name_letter_of(event.type);
      text_ += ':';
    }
    text_ += names_.method(event.method) + ' ' + thread + '\n';
    return text_.size() > part_bytes ? flush() : 0;
  }

  int end() { return flush(); }

 private:
  int flush() {
    const int error = write_text(out_, text_);
    text_.clear();
    return error;
  }

  int out_;
  const Snapshot& snapshot_;
  const ReportSettings& settings_;
  Names names_;
  std::set<uint32_t> seen_;
  std::string text_;
};

constexpr const char* words_of_transitions[] = {"entry", "exit", "exit_by_exception"};

class JsonEvents {
 public:
  JsonEvents(int out, const Snapshot& snapshot, const ReportSettings&, const NameOf& name_of)
      : out_(out), snapshot_(snapshot), names_(snapshot, name_of) {
    json_.open('{');
    json_.count("schema_version", 1);
    json_.key("calibrated");
    json_.boolean(snapshot.calibrated);
    json_.key("metrics");
    json_.open('[');
    for (const auto& metric : snapshot.metrics) {
      json_.open('{');
      json_.key("name");
      json_.string(metric.name);
      json_.key("unit");
      json_.string(metric.unit);
      json_.close('}');
    }
    json_.close(']');
    write_losses(json_, snapshot.losses);
    json_.key("events");
    json_.open('[');
  }

  int add(const Event& event) {
    json_.line();
    json_.open('{');
    json_.count("tid", event.tid);
    json_.key("thread");
    json_.string(names_.thread(event.tid));
    json_.key("event");
    json_.string(words_of_transitions[static_cast<size_t>(event.how)]);
    json_.key("type");
    json_.string(std::string(1, name_letter_of(event.type)));
    json_.key("name");
    json_.string(names_.method(event.method));
    json_.key("values");
    json_.open('[');
    for (size_t i = 0; i < snapshot_.metrics.size(); ++i) json_.number(event.values[i]);
    json_.close(']');
    json_.close('}');
    return json_.size() > part_bytes ? flush() : 0;
  }

  int end() {
    json_.close(']');
    json_.close('}');
    json_.line();
    return flush();
  }

 private:
  int flush() {
    const int error = write_text(out_, json_.text());
    json_.forget();
    return error;
  }

  int out_;
  const Snapshot& snapshot_;
  Names names_;
  JsonWriter json_;
};

// What was converted before an error is kept, and its form is complete. Blocks that a full disk cut
// are no error: the log says how many events were lost.
template <class Writer>
pi::Status convert(int events, int out, const Snapshot& snapshot, const Calibration& calibration,
                   const ReportSettings& settings, const NameOf& name_of) {
  Writer writer(out, snapshot, settings, name_of);
  EventReader reader(snapshot.metrics, calibration, settings.hidden_method);
  const auto read = reader.read(events, [&](const Event& event) { return writer.add(event); });
  const int error = writer.end();
  if (!read && (read.error().code != EINVAL || snapshot.losses.log == 0)) return read;
  return error ? pi::Status(failure(error)) : pi::Status();
}

}  // namespace

pi::Result<pi::UniqueFd> create_event_log(const std::string& path) {
  const std::string name = path + ".events";
  pi::UniqueFd file = pi::above_standard(pi::UniqueFd(
      ::open(name.c_str(), O_RDWR | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)));
  if (!file)
    return pi::Error{errno, "'" + name + "' cannot be created: " + std::strerror(errno) +
                                ". Choose another directory with LOGPATH=DIR"};
  ::unlink(name.c_str());
  return file;
}

void flush_event_log(bool wait) {
  constexpr timespec pause{0, 1'000'000};
  int pauses = wait ? 1000 : 0;
  const std::lock_guard lock(state.control);
  for (ThreadTree* thread = state.threads.load(std::memory_order_acquire); thread;
       thread = thread->next) {
    Recording* recording = thread->recording.load(std::memory_order_acquire);
    if (!recording || !recording->log.is_open()) continue;
    const auto is_inside = [&] {
      return wait && thread->inside.load(std::memory_order_acquire) > not_recorded;
    };
    for (; is_inside() && pauses > 0; --pauses) ::nanosleep(&pause, nullptr);
    if (is_inside())
      recording->log.lose();
    else
      recording->log.flush();
  }
}

pi::Status log_gen(int events, int out, const Snapshot& snapshot, const Calibration& calibration,
                   const ReportSettings& settings, const NameOf& name_of) {
  return convert<TextWriter>(events, out, snapshot, calibration, settings, name_of);
}

pi::Status log_gen_json(int events, int out, const Snapshot& snapshot,
                        const Calibration& calibration, const ReportSettings& settings,
                        const NameOf& name_of) {
  return convert<JsonEvents>(events, out, snapshot, calibration, settings, name_of);
}

}  // namespace pi::callflow
