// SPDX-License-Identifier: MIT
// hookit in this process: settings, the recording and its logs.
#include "session.h"

#include <pthread.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <exception>

#include <pi/printable.h>

#include "engine.h"
#include "event_log.h"
#include "hooks.h"
#include "log_file.h"
#include "logs.h"
#include "messages.h"
#include "minima.h"
#include "patch/events.h"
#include "patch/patcher.h"
#include "slots.h"
#include "trainer.h"

namespace pi::hookit {
namespace {

namespace callflow = pi::callflow;

constexpr std::chrono::seconds longest_wait{1};  // for names_lock_

Session* session = nullptr;
pthread_key_t thread_end;  // its destructor runs when a thread ends
const Options* options_of_threads = nullptr;

void take_last_name(void*) {
  callflow::thread_ends(this_thread());
}

// Called at the first event of each thread.
bool select_thread() {
  ::pthread_setspecific(thread_end, &thread_end);
  if (options_of_threads->threads.empty()) return true;
  char name[16] = {};
  ::prctl(PR_GET_NAME, name);
  return selects(options_of_threads->threads, name);
}

Result<jprof::PttFunctions> ptt_functions() {
  return jprof::PttFunctions{PttQueryState, PttTerminate, PiPttInit,
                             PttInitThread, PttGetState,  PttReturnGetCurrentThreadDataFunctionPtr,
                             PiPttSlot,     RcToString};
}

// Does reading a meter change no vector register?
bool is_simple(callflow::MeterKind kind) {
  return kind == callflow::MeterKind::none || kind == callflow::MeterKind::raw_cycles;
}

// The child starts at its first instruction after fork(), so it has no frames of its own.
void in_child() {
  callflow::child_of_fork(this_thread());
  session->begin_child();
}

// The error of several logs names all that are missing.
void add_error(const Status& one, Status& all) {
  if (one) return;
  const std::string before = all ? "" : all.error().message + "; ";
  all = Error{one.error().code, before + one.error().message};
}

bool has_events(const callflow::Snapshot& snapshot) {
  return std::any_of(snapshot.threads.begin(), snapshot.threads.end(),
                     [](const auto& thread) { return thread.events > 0; });
}

}  // namespace

void say(std::string_view text) {
  jprof::print("hookit: " + printable(text) + ".\n");
}

std::string unprepared_functions(size_t count) {
  return std::to_string(count) +
         " functions of libraries that were loaded while other threads ran are not patched; "
         "hookit(7) explains how to compile them";
}

std::string calls_are_lost(uint64_t count) {
  return std::to_string(count) + " calls are not recorded: no memory for their return addresses";
}

Session* Session::get() {
  return session;
}

void Session::create(const Options& options) {
  session = new Session(options);
  options_of_threads = &session->options_;
  ::pthread_key_create(&thread_end, take_last_name);
  ::pthread_atfork([] { session->before_fork(); }, [] { session->after_fork(); }, in_child);
}

Session::Session(const Options& options) : options_(options), pid_(::getpid()) {}

int Session::start() {
  const std::lock_guard lock(lock_);
  return report(begin(false));
}

Status Session::begin(bool in_child) {
  {
    const callflow::Ignored ignored(this_thread());
    auto chosen = jprof::choose_meter(options_.metrics, options_.metrics_may_fail, ptt_functions);
    if (!chosen) return chosen.error();
    meter_ = std::move(*chosen);
    if (!meter_.note.empty()) say(meter_.note);
    if (const auto loaded = load_minima(); !loaded) return loaded;
  }
  // One that exists ends, also if this one cannot start.
  callflow::stop();
  recording_ = false;
  use_engine();
  if (!in_child) connect_hooks();
  const bool patches = in_child ? keep_functions() : prepare_functions();
  hookit_saves_vectors = !is_simple(meter_.meter.kind) || options_.events;
  if (!meter_.meter.metrics.empty()) train(patches);
  const callflow::Ignored ignored(this_thread());
  if (options_.events)
    if (const auto opened = open_events(); !opened) return opened;
  if (const auto started = callflow::start(settings()); !started) return started;
  recording_ = true;
  if (patches)
    if (const auto patched = patch(); !patched) {
      callflow::stop();
      recording_ = false;
      return patched;
    }
  if (options_.verbose) say("recording process " + std::to_string(pid_));
  return {};
}

Status Session::load_minima() {
  calibration_ = {};
  calibration_.on = options_.calibrate;
  minima_notes_.clear();
  const std::pair<const std::string&, callflow::Minima&> files[] = {
      {options_.minima_file, calibration_.stored},
      {options_.environment_file, calibration_.environmental}};
  for (const auto& [path, minima] : files) {
    if (path.empty()) continue;
    auto loaded = callflow::load_minima(path, callflow::processor_name());
    if (!loaded) return loaded.error();
    minima = std::move(loaded->minima);
    if (loaded->note.empty()) continue;
    say(loaded->note);
    minima_notes_.push_back(loaded->note);
  }
  return {};
}

callflow::Settings Session::settings() const {
  callflow::Settings settings;
  settings.meter = meter_.meter;
  settings.select_thread = select_thread;
  settings.event_log = events_.get();
  return settings;
}

// Switches the hooks of patched functions on.
Status Session::patch() {
  const auto patched = patch_functions();
  if (!patched) return patched.error();
  if (options_.verbose)
    say(std::to_string(patched->functions) + " functions are patched; " +
        std::to_string(patched->unusable) + " have too few NOPs or no unwinding information");
  if (patched->unprepared) say(unprepared_functions(patched->unprepared));
  return {};
}

// Learns the overhead from functions that do nothing.
void Session::train(bool patches) {
  callflow::Settings settings;
  settings.meter = meter_.meter;
  if (!callflow::start(settings)) return;
  hookit::train();
  if (patches) train_patched();
  callflow::stop();
  const callflow::Ignored ignored(this_thread());
  calibration_.stored =
      callflow::observed_minima(callflow::take_snapshot(calibration_), calibration_.stored);
}

Status Session::open_events() {
  auto opened = callflow::create_event_log(log_name(options_, "gen", number_, pid_));
  if (!opened) return opened.error();
  events_ = std::move(*opened);
  return {};
}

int Session::stop() {
  const std::lock_guard lock(lock_);
  if (!recording_) return -1;
  const callflow::Ignored ignored(this_thread());
  callflow::stop();
  recording_ = false;
  // Hooks that cannot be switched off do nothing.
  if (const auto off = unpatch_functions(); !off) say(off.error().message);
  if (const uint64_t lost = calls_without_cell()) say(calls_are_lost(lost));
  return report(write());
}

void Session::hand_over() {
  const std::lock_guard lock(lock_);
  if (!recording_) return;
  const callflow::Ignored ignored(this_thread());
  callflow::stop();
  recording_ = false;
  if (const auto off = unpatch_functions(); !off) say(off.error().message);
  if (has_events(callflow::take_snapshot(calibration_))) report(write());
}

int Session::flush() {
  const std::lock_guard lock(lock_);
  if (!recording_) return -1;
  if (options_.events)
    return report(Error{EINVAL, "The log of events is written when the recording ends"});
  const callflow::Ignored ignored(this_thread());
  return report(write());
}

int Session::reset() {
  const std::lock_guard lock(lock_);
  if (!recording_) return -1;
  if (options_.events)
    return report(
        Error{EINVAL, "The log of events has all events since the start of the recording"});
  callflow::reset();
  return 0;
}

bool Session::is_of_this_process() const {
  return ::getpid() == pid_;
}

void Session::end(bool keep) {
  // A child of vfork() has its parent's memory.
  if (!is_of_this_process()) return;
  if (!keep)
    stop();
  else if (!options_.events)
    flush();
}

void Session::end_in_copy() {
  if (!recording_) return;
  callflow::stop();
  report(write(false));
}

void Session::before_fork() {
  lock_.lock();
  names_lock_.lock();
}

void Session::after_fork() {
  names_lock_.unlock();
  lock_.unlock();
}

void Session::begin_child() {
  pid_ = ::getpid();
  number_ = 1;
  events_.reset();
  after_fork();
  if (!recording_) return;
  recording_ = false;
  const std::lock_guard lock(lock_);
  report(begin(true));
}

Status Session::write(bool others_run) {
  if (options_.events) callflow::flush_event_log(others_run);
  const auto snapshot = callflow::take_snapshot(calibration_);
  // In a copy of the process the lock may be that of a thread which does not exist there.
  const std::unique_lock lock(names_lock_, longest_wait);
  std::optional<Names> own;
  const Names& names = lock ? all_names() : own.emplace();
  const auto name_of = [&](uint64_t function) { return names.of(function); };
  Status written =
      options_.events ? write_events(snapshot, name_of) : write_tree(snapshot, name_of);
  ++number_;
  add_error(save_minima(snapshot), written);
  return written;
}

Status Session::save_minima(const callflow::Snapshot& snapshot) const {
  if (options_.save_minima_file.empty()) return {};
  auto minima = callflow::observed_minima(snapshot, calibration_.stored);
  minima.key = callflow::processor_name();
  return write_log(
      options_.save_minima_file,
      [&](const callflow::Sink& sink) { return sink(callflow::minima_text(minima)); },
      jprof::LogFile::by_minima_option);
}

const Names& Session::all_names() {
  if (names_)
    names_->see_libraries();
  else
    names_.emplace();
  return *names_;
}

// Without waiting for long: a library's destructor may unload another one, while the loader's lock
// keeps the thread that has this lock.
void Session::before_unloading() noexcept {
  if (!callflow::is_recording()) return;
  const callflow::Ignored ignored(this_thread());
  const std::unique_lock lock(names_lock_, longest_wait);
  try {
    if (lock) (void)all_names();
  } catch (const std::exception&) {  // no memory: the functions have no names
  }
}

std::string Session::heading(const callflow::Snapshot& snapshot) const {
  std::string text = log_heading(pid_, minima_notes_);
  if (!has_events(snapshot))
    text += " Calls :: none: no function that was compiled with hooks was called, see hookit(7)\n";
  return text;
}

Status Session::write_tree(const callflow::Snapshot& snapshot, const callflow::NameOf& name_of) {
  const std::string path = log_name(options_, "rt", number_, pid_);
  const callflow::ReportSettings settings = {heading(snapshot), meter_.columns, options_.types,
                                             options_.legend};
  Status written;
  const auto write = [&](const char* suffix, const auto& format) {
    add_error(write_log(path + suffix, format), written);
  };
  write("", [&](const callflow::Sink& sink) {
    return callflow::log_rt(snapshot, settings, name_of, sink);
  });
  if (options_.json)
    write(".json", [&](const callflow::Sink& sink) {
      return callflow::log_rt_json(snapshot, name_of, sink);
    });
  if (options_.folded)
    write(".folded",
          [&](const callflow::Sink& sink) { return sink(callflow::folded(snapshot, 0, name_of)); });
  if (written && options_.verbose) say("'" + path + "' is written");
  return written;
}

Status Session::write_events(const callflow::Snapshot& snapshot, const callflow::NameOf& name_of) {
  const std::string path = log_name(options_, "gen", number_, pid_);
  const callflow::ReportSettings settings = {
      heading(snapshot), {}, options_.types, options_.legend};
  const auto convert = [&](const std::string& name, auto format) -> Status {
    jprof::LogFile file;
    if (const auto created = file.open(name); !created) return created.error();
    int error = file.begin_whole();
    Status written;
    if (!error) {
      written = format(events_.get(), file.descriptor(), snapshot, calibration_, settings, name_of);
      // EINVAL: all that is readable is there.
      if (written || written.error().code == EINVAL) error = file.finish();
    }
    if (error) written = Error{error, std::strerror(error)};
    if (written) return {};
    if (written.error().code != EINVAL) file.discard();
    return Error{written.error().code, "'" + name + "': " + written.error().message};
  };
  auto written = convert(path, callflow::log_gen);
  if (options_.json) add_error(convert(path + ".json", callflow::log_gen_json), written);
  return written;
}

int Session::report(const Status& status) const {
  if (status) return 0;
  say(status.error().message);
  return -1;
}

}  // namespace pi::hookit
