// SPDX-License-Identifier: MIT
// What call-stack sampling writes: log-rt without calls, as text, JSON and folded stacks.
#include <report.h>

#include "jvm_facts.h"
#include "local_frame.h"
#include "return_codes.h"
#include "scs/async_stacks.h"
#include "scs/sampler.h"
#include "thread_ids.h"

namespace pi::jprof {

// How the samples were taken.
std::string Sampler::description() const {
  if (occurrences_) return occurrences_->description();
  std::string text = std::to_string(options_.sampling.rate) +
                     " in each second of a thread's processor time; those of waiting threads: none";
  if (way_ == Way::safepoint)
    text +=
        "; with JVMTI, at the next safepoint of the thread: its samples are biased to methods with "
        "loops and calls";
  if (with_native_) text += "; with the functions of native code that methods of Java called";
  return text;
}

callflow::Snapshot Sampler::take_snapshot(JNIEnv* jni) {
  callflow::Snapshot snapshot;
  snapshot.calibrated = false;
  if (occurrences_)
    snapshot.metrics = occurrences_->metrics();
  else
    snapshot.metrics = {{"SAMPLES", "samples"}};
  snapshot.bounds.resize(snapshot.metrics.size());
  callflow::Sampling& sampling = snapshot.sampling.emplace();
  sampling.source = description();
  sampling.has_native = with_native_;
  const auto names = live_threads(vm_, jvmti_, jni);
  drain();
  const std::lock_guard lock(counting_);
  snapshot.threads = trees_.copy(names);
  snapshot.losses.samples = lost_;
  snapshot.losses.nodes = trees_.cut();
  if (way_ == Way::async) snapshot.losses.threads = AsyncStacks::get().timers().refused();
  sampling.walked = walked_;
  for (const auto& [outcome, samples] : unwalked_)
    sampling.unwalked.emplace_back(AsyncStacks::reason(outcome), samples);
  return snapshot;
}

Status Sampler::write_logs(JNIEnv* jni) {
  if (const auto opened = logs_.open(options_); !opened) return opened;
  const LocalFrame frame(jni, local_references_max);
  if (!frame.good()) return Error{no_logs, "the JVM has no memory for the list of its threads"};
  const auto snapshot = take_snapshot(jni);
  callflow::ReportSettings settings;
  settings.heading = log_heading(jvm_name(jvmti_), ", call-stack sampling");
  settings.types = options_.method_types;
  settings.legend = options_.legend;
  const auto name_of = [this](uint64_t method) { return methods_.name(method); };
  const std::string path = logs_.tree().path();
  auto written = write_and_close(logs_.tree(), [&](const callflow::Sink& sink) {
    return callflow::log_rt(snapshot, settings, name_of, sink);
  });
  if (!written) return logs_.discard(), written;
  logs_.count();
  if (options_.json)
    written = write_file(path + ".json", [&](const callflow::Sink& sink) {
      return callflow::log_rt_json(snapshot, name_of, sink);
    });
  if (!written || !options_.folded) return written;
  return write_file(path + ".folded", [&](const callflow::Sink& sink) {
    return sink(callflow::folded(snapshot, 0, name_of));
  });
}

}  // namespace pi::jprof
