// SPDX-License-Identifier: MIT
// The thread that reads the build-ids of files that a trace mentions, and its successors.
#include "build_id_reader.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <pi/printable.h>

namespace pi::perfutil {

namespace {

using Clock = std::chrono::steady_clock;

// How often a thread that waits for a file system is replaced. Each may stay until that file system
// answers.
constexpr size_t max_replacements = 8;

}  // namespace

struct BuildIdReader::Shared {
  Shared(Read reader, size_t max_waiting_files)
      : read(std::move(reader)), max_waiting(max_waiting_files) {}

  const Read read;
  const size_t max_waiting;
  std::mutex mutex;  // guards the members below
  std::condition_variable changed;
  std::deque<WantedFile> wanted;
  std::optional<WantedFile> current;
  Clock::time_point current_since;
  uint64_t thread = 0;  // the one that reads; an earlier one ends when its file system answers
  std::string lines;
  uint64_t files_read = 0;
  size_t left_out = 0;
  std::string first_left_out;
  bool stop = false;
  bool ended = false;  // the thread that reads

  void leave_out(const WantedFile& file) {
    if (left_out++ == 0) first_left_out = file.path;
  }
};

BuildIdReader::BuildIdReader(Read read, size_t max_waiting)
    : shared_(std::make_shared<Shared>(std::move(read), max_waiting)) {}

BuildIdReader::~BuildIdReader() {
  constexpr std::chrono::seconds moment{1};
  std::unique_lock lock(shared_->mutex);
  shared_->stop = true;
  shared_->wanted.clear();
  shared_->changed.notify_all();
  if (!thread_.joinable()) return;
  const bool ended = shared_->changed.wait_for(lock, moment, [&] { return shared_->ended; });
  lock.unlock();
  ended ? thread_.join() : thread_.detach();
}

void BuildIdReader::run(const std::shared_ptr<Shared>& shared, uint64_t thread) {
  std::unique_lock lock(shared->mutex);
  for (;;) {
    shared->changed.wait(lock, [&] { return shared->stop || !shared->wanted.empty(); });
    if (shared->stop) break;
    shared->current = std::move(shared->wanted.front());
    shared->wanted.pop_front();
    shared->current_since = Clock::now();
    const WantedFile file = *shared->current;
    lock.unlock();
    std::string line;
    try {
      line = shared->read(file);
    } catch (const std::exception&) {
      line = unread_build_id_line(file);
    }
    lock.lock();
    if (shared->thread != thread)
      return;  // its successor reads, and the file's line is written already
    ++shared->files_read;
    // Without current the file was given up meanwhile, and its line is written already.
    if (shared->current) shared->lines += line;
    shared->current.reset();
    shared->changed.notify_all();
  }
  shared->ended = true;
  shared->changed.notify_all();
}

bool BuildIdReader::start() {
  if (thread_.joinable()) return true;
  try {
    thread_ = std::thread([shared = shared_, number = shared_->thread] { run(shared, number); });
  } catch (const std::system_error&) {
    // Tried again with the next files.
  }
  return thread_.joinable();
}

bool BuildIdReader::replace_waiting_thread(std::chrono::milliseconds patience) {
  if (!shared_->wanted.empty() && !thread_.joinable()) return start();
  if (!shared_->current || Clock::now() < shared_->current_since + patience) return true;
  if (shared_->thread == max_replacements) return false;
  shared_->lines += unread_build_id_line(*shared_->current);
  shared_->leave_out(*shared_->current);
  shared_->current.reset();
  ++shared_->thread;
  thread_.detach();
  return start();
}

void BuildIdReader::want(std::vector<WantedFile> files) {
  if (files.empty()) return;
  const std::lock_guard lock(shared_->mutex);
  const bool runs = start();
  for (auto& file : files)
    if (runs && shared_->wanted.size() < shared_->max_waiting)
      shared_->wanted.push_back(std::move(file));
    else
      shared_->leave_out(file);
  shared_->changed.notify_all();
}

std::string BuildIdReader::take_lines() {
  const std::lock_guard lock(shared_->mutex);
  replace_waiting_thread(BuildIdPatience{}.file);
  return std::exchange(shared_->lines, {});
}

std::string BuildIdReader::wait_for_lines(BuildIdPatience patience) {
  const auto end = Clock::now() + patience.all;
  std::unique_lock lock(shared_->mutex);
  const auto all_read = [&] { return shared_->wanted.empty() && !shared_->current; };
  while (!all_read() && Clock::now() < end) {
    if (!replace_waiting_thread(patience.file)) break;
    // Also when the thread has not begun with a file yet, there is no need to wait longer than for
    // one.
    const auto since = shared_->current ? shared_->current_since : Clock::now();
    const uint64_t before = shared_->files_read;
    shared_->changed.wait_until(lock, std::min(end, since + patience.file),
                                [&] { return shared_->files_read != before || all_read(); });
  }
  return std::exchange(shared_->lines, {});
}

std::string BuildIdReader::give_up() {
  const std::lock_guard lock(shared_->mutex);
  std::string lines = std::exchange(shared_->lines, {});
  const auto give_up_one = [&](const WantedFile& file) {
    lines += unread_build_id_line(file);
    shared_->leave_out(file);
  };
  if (shared_->current) give_up_one(*shared_->current);
  for (const WantedFile& file : shared_->wanted) give_up_one(file);
  shared_->current.reset();
  shared_->wanted.clear();
  return lines;
}

std::string BuildIdReader::trouble() const {
  const std::lock_guard lock(shared_->mutex);
  if (shared_->left_out == 0) return "";
  return fmt::format(
      "The build-ids of {} file(s) were not read in time: a file system does not answer, or too "
      "many files were mapped at once. The first is {}. post uses the symbols of these files only "
      "with -nv, since nothing shows that they are the traced files.",
      shared_->left_out, printable(shared_->first_left_out));
}

}  // namespace pi::perfutil
