// SPDX-License-Identifier: MIT
// The thread that reads the build-ids of files that a trace mentions.
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

namespace pi::perfutil {

struct BuildIdReader::Shared {
  Shared(Read reader, size_t max_waiting_files)
      : read(std::move(reader)), max_waiting(max_waiting_files) {}

  const Read read;
  const size_t max_waiting;
  std::mutex mutex;  // guards the members below
  std::condition_variable changed;
  std::deque<WantedFile> wanted;
  std::optional<WantedFile> current;
  std::string lines;
  uint64_t files_read = 0;
  size_t left_out = 0;
  bool stop = false;
  bool ended = false;  // the thread
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

void BuildIdReader::run(const std::shared_ptr<Shared>& shared) {
  std::unique_lock lock(shared->mutex);
  for (;;) {
    shared->changed.wait(lock, [&] { return shared->stop || !shared->wanted.empty(); });
    if (shared->stop) break;
    shared->current = std::move(shared->wanted.front());
    shared->wanted.pop_front();
    const WantedFile file = *shared->current;
    lock.unlock();
    std::string line;
    try {
      line = shared->read(file);
    } catch (const std::exception&) {
      line = unread_build_id_line(file);
    }
    lock.lock();
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
    thread_ = std::thread([shared = shared_] { run(shared); });
  } catch (const std::system_error&) {
    // Tried again with the next files.
  }
  return thread_.joinable();
}

void BuildIdReader::want(std::vector<WantedFile> files) {
  if (files.empty()) return;
  const std::lock_guard lock(shared_->mutex);
  const bool runs = start();
  for (auto& file : files)
    if (runs && shared_->wanted.size() < shared_->max_waiting)
      shared_->wanted.push_back(std::move(file));
    else
      ++shared_->left_out;
  shared_->changed.notify_all();
}

std::string BuildIdReader::take_lines() {
  const std::lock_guard lock(shared_->mutex);
  return std::exchange(shared_->lines, {});
}

std::string BuildIdReader::wait_for_lines(BuildIdPatience patience) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + patience.all;
  std::unique_lock lock(shared_->mutex);
  const auto all_read = [&] { return shared_->wanted.empty() && !shared_->current; };
  bool goes_on = true;
  while (goes_on && !all_read()) {
    const uint64_t before = shared_->files_read;
    goes_on = shared_->changed.wait_until(lock, std::min(end, Clock::now() + patience.file), [&] {
      return shared_->files_read != before || all_read();
    });
  }
  return std::exchange(shared_->lines, {});
}

std::string BuildIdReader::give_up() {
  const std::lock_guard lock(shared_->mutex);
  std::string lines = std::exchange(shared_->lines, {});
  const auto give_up_one = [&](const WantedFile& file) {
    lines += unread_build_id_line(file);
    ++shared_->left_out;
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
      "many files were mapped at once. post uses the symbols of these files only with -nv, since "
      "nothing shows that they are the traced files.",
      shared_->left_out);
}

}  // namespace pi::perfutil
