// SPDX-License-Identifier: MIT
// hookit in this process: settings, the recording and its logs.
#ifndef PI_HOOKIT_SESSION_H
#define PI_HOOKIT_SESSION_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <pi/result.h>
#include <pi/unique_fd.h>

#include "call_metrics.h"
#include "engine.h"
#include "names.h"
#include "options.h"
#include "report.h"
#include "snapshot.h"

namespace pi::hookit {

// One line on stderr.
void say(std::string_view text);

// What say() reports on functions that cannot be patched, and on calls that are not recorded.
std::string unprepared_functions(size_t count);
std::string calls_are_lost(uint64_t count);

class Session {
 public:
  // Null: hookit records nothing in this process. Exists until the process ends.
  static Session* get();
  static void create(const Options& options);

  // As the functions of hookit.h; messages go to stderr.
  int start();
  int stop();
  int flush();
  int reset();

  // False in a child of vfork(), which has its parent's memory.
  bool is_of_this_process() const;

  // The process ends, or becomes another program: writes the logs, once. keep: it may continue.
  void end(bool keep);
  // In a copy of the process that _exit() or a fatal signal's handler has made: the same, without
  // the lock, which any thread may have held.
  void end_in_copy();

  // JProf records from now on. What was recorded until now is written, if that is anything.
  void hand_over();

  // A library may be unloaded next: the names of its functions stay known.
  void before_unloading() noexcept;

  // Around fork(): no other thread changes the session meanwhile.
  void before_fork();
  void after_fork();
  void begin_child();

 private:
  explicit Session(const Options& options);

  Status begin(bool in_child);
  Status load_minima();
  Status patch();
  void train(bool patches);
  pi::callflow::Settings settings() const;
  Status open_events();
  // others_run: other threads of the program, which may be inside an event.
  Status write(bool others_run = true);
  Status save_minima(const pi::callflow::Snapshot& snapshot) const;
  std::string heading(const pi::callflow::Snapshot& snapshot) const;
  Status write_tree(const pi::callflow::Snapshot& snapshot, const pi::callflow::NameOf& name_of);
  Status write_events(const pi::callflow::Snapshot& snapshot, const pi::callflow::NameOf& name_of);
  const Names& all_names();
  int report(const Status& status) const;

  const Options options_;
  std::mutex lock_;
  int pid_;
  bool recording_ = false;
  unsigned number_ = 1;  // of the next log
  jprof::ChosenMeter meter_;
  pi::callflow::Calibration calibration_;
  std::vector<std::string> minima_notes_;  // why files of minima are not used
  UniqueFd events_;
  std::timed_mutex names_lock_;  // after lock_
  std::optional<Names> names_;   // of all libraries that were loaded at some time
};

}  // namespace pi::hookit

#endif  // PI_HOOKIT_SESSION_H
