// SPDX-License-Identifier: MIT
// What call flow writes: log-rt, log-gen, log-unrecorded and the minima of calibration.
#include <algorithm>
#include <map>
#include <string_view>
#include <system_error>
#include <vector>

#include <event_log.h>

#include "jvm_facts.h"
#include "log_text.h"
#include "probes/call_flow.h"
#include "probes/own_tree.h"
#include "return_codes.h"
#include "thread_ids.h"

namespace pi::jprof {
namespace {

namespace callflow = pi::callflow;

// Removes the agent's work from a thread's tree. It has no callees, since its events are ignored.
void remove_agents_work(callflow::TreeCopy& thread) {
  std::vector<callflow::CallNode> kept;
  std::vector<size_t> moved;  // new indices
  for (auto& node : thread.nodes) {
    moved.push_back(kept.size());
    if (node.parent != callflow::no_parent) {
      node.parent = moved[node.parent];
      if (node.method == agents_work) {
        kept[node.parent].callees -= node.calls;
        continue;
      }
    }
    kept.push_back(std::move(node));
  }
  thread.nodes = std::move(kept);
}

Status all_errors(const std::vector<Status>& results) {
  std::string text;
  for (const auto& result : results)
    if (!result) text += (text.empty() ? "" : "; ") + result.error().message;
  return text.empty() ? Status{} : Status(Error{no_logs, text});
}

}  // namespace

void CallFlow::name_threads(JNIEnv* jni, callflow::Snapshot& snapshot) {
  const auto names = live_threads(vm_, jvmti_, jni);
  const std::lock_guard lock(mutex_);
  for (auto& thread : snapshot.threads) {
    const auto& known = thread.ended ? ended_threads_ : names;
    if (const auto found = known.find(thread.tid); found != known.end())
      thread.name = thread_log_name(found->second);
  }
}

std::string CallFlow::name_of(uint64_t id) const {
  return (id & java_bit) != 0 ? methods_.name(id) : c_functions_.name(id);
}

std::string CallFlow::inlined_methods() const {
  if (trains_inlined())
    return " Inlined methods :: BASE is what they execute in their callers' code; a method that is "
           "not inlined is called, which is in its caller's BASE\n";
  return " Inlined methods :: BASE is as if they were called, and that of their callers as much "
         "less, even below 0\n";
}

// Such as all classes of a JVM that is newer than ASM. Empty: none.
std::string CallFlow::unread_classes() const {
  constexpr std::string_view why = "this JProf's ASM cannot read it";  // Transformer.java
  const auto all = methods_.unrecorded();
  const auto count = std::count_if(all.begin(), all.end(),
                                   [&](const auto& one) { return one.second.starts_with(why); });
  if (count == 0) return {};
  return std::to_string(count) + ", whose class files the ASM of this JProf cannot read";
}

std::string CallFlow::heading() {
  std::string text =
      log_heading(jvm_name(jvmti_), options_.method_events ? ", events of the JVM" : "");
  if (!options_.method_events)
    text +=
        " Calls of other code :: '" + logs_.unrecorded().path() + "' lists what has no probes\n";
  if (const std::string unread = unread_classes(); !unread.empty())
    text += " Classes without probes :: " + unread + "\n";
  if (!metrics_note_.empty()) text += " Metrics :: " + metrics_note_ + "\n";
  if (!options_.method_events && !options_.object_info && !settings_.meter.metrics.empty())
    text += inlined_methods();
  for (const std::string& note : minima_notes_) text += " Minima :: " + note + "\n";
  if (const uint64_t unmarked = live_objects_.unmarked(); unmarked > 0)
    text += " Live objects :: " + std::to_string(unmarked) +
            " objects are in AO and AB, but not in LO and LB: the JVM had no memory to mark them\n";
  if (mount_count_ > 0)
    text += " Virtual threads :: their calls are not recorded; they were mounted " +
            std::to_string(mount_count_) + " times\n";
  return text;
}

Status CallFlow::save_minima(const callflow::Snapshot& snapshot) const {
  if (options_.save_minima_file.empty()) return {};
  auto minima = callflow::observed_minima(snapshot, calibration_.stored, calibration_.learns);
  minima.key = minima_key_;
  return write_file(
      options_.save_minima_file,
      [&](const callflow::Sink& sink) { return sink(callflow::minima_text(minima)); },
      LogFile::by_minima_option);
}

// Of a log that could be written in part only nothing remains, so that it can be tried again.
template <class Format>
Status CallFlow::write_events(LogFile& log, Format format, const callflow::Snapshot& snapshot,
                              const callflow::ReportSettings& settings,
                              const callflow::NameOf& name_of) {
  Status written;
  int error = log.begin_whole();
  if (error == 0) {
    written =
        format(event_file_.get(), log.descriptor(), snapshot, calibration_, settings, name_of);
    if (written) error = log.finish();
  }
  if (error != 0) written = Error{error, std::generic_category().message(error)};
  if (written) return {};
  log.discard();
  log.close();
  return Error{no_logs, "cannot write '" + log.path() + "': " + written.error().message};
}

// log-rt, log-gen or both. Without them nothing else is written.
Status CallFlow::write_calls(const callflow::Snapshot& snapshot,
                             const callflow::ReportSettings& settings,
                             const callflow::NameOf& name_of) {
  if (options_.call_tree) {
    auto written = write_and_close(logs_.tree(), [&](const callflow::Sink& sink) {
      return callflow::log_rt(snapshot, settings, name_of, sink);
    });
    if (!written) return written;
  }
  if (!options_.call_trace) return {};
  return write_events(logs_.events(), callflow::log_gen, snapshot, settings, name_of);
}

Status CallFlow::write_logs(JNIEnv* jni) {
  if (const auto opened = logs_.open(options_); !opened) return opened;
  if (options_.call_trace) callflow::flush_event_log();
  c_functions_.see_libraries();
  c_functions_.take_minima(calibration_.stored);
  auto snapshot = callflow::take_snapshot(calibration_);
  const auto saved = save_minima(snapshot);
  if (live_)
    if (const auto counted = live_objects_.count(jvmti_, snapshot, ended_); !counted) {
      logs_.discard();
      return counted;
    }
  for (auto& thread : snapshot.threads) remove_agents_work(thread);
  name_threads(jni, snapshot);
  callflow::ReportSettings settings;
  settings.heading = heading();
  settings.columns = columns_;
  settings.types = options_.method_types;
  settings.legend = options_.legend;
  settings.hidden_method = agents_work;
  const auto name_of = [this](uint64_t id) { return this->name_of(id); };
  const std::string tree = logs_.tree().path(), events = logs_.events().path();
  // Without these nothing else is written, so that the same names can be tried again.
  if (auto written = write_calls(snapshot, settings, name_of); !written) {
    logs_.discard();
    return written;
  }
  logs_.count();
  // All else that can be written is written; the error names what is missing.
  std::vector<Status> results{saved};
  if (options_.json && options_.call_tree)
    results.push_back(write_file(tree + ".json", [&](const callflow::Sink& sink) {
      return callflow::log_rt_json(snapshot, name_of, sink);
    }));
  if (options_.json && options_.call_trace) {
    LogFile json;
    const auto opened = json.open(events + ".json");
    results.push_back(opened
                          ? write_events(json, callflow::log_gen_json, snapshot, settings, name_of)
                          : Status(Error{no_logs, opened.error().message}));
  }
  if (options_.folded && options_.call_tree)
    results.push_back(write_file(tree + ".folded", [&](const callflow::Sink& sink) {
      return sink(callflow::folded(snapshot, 0, name_of));
    }));
  if (!options_.method_events) class_probes_.list_unmodifiable(jvmti_, jni);
  results.push_back(write_and_close(logs_.unrecorded(), [this](const callflow::Sink& sink) {
    return sink(methods_.unrecorded_text());
  }));
  return all_errors(results);
}

}  // namespace pi::jprof
