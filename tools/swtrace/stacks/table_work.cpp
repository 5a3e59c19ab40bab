// SPDX-License-Identifier: MIT
// Opens mapped files and has their tables compiled, in threads of its own.
#include "table_work.h"

#include <elf.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <exception>
#include <utility>

#include <fmt/format.h>
#include <pi/files.h>
#include <pi/printable.h>

namespace pi::swtrace {
namespace {

constexpr size_t max_early = 1 << 14;    // files that wait to be opened early
constexpr size_t max_descriptors = 400;  // of 1,024, which is a usual limit
// Of them: files of other users cannot keep those of root from being opened.
constexpr size_t max_descriptors_of_others = 300;
constexpr unsigned max_hanging_openers = 8;  // threads
constexpr char no_answer[] = "its file system does not answer";

}  // namespace

UniqueFd copy_of_vdso() {
  const auto* base = reinterpret_cast<const std::byte*>(::getauxval(AT_SYSINFO_EHDR));
  if (!base) return {};
  Elf64_Ehdr header;
  std::memcpy(&header, base, sizeof header);
  const size_t size = header.e_shoff + size_t{header.e_shentsize} * header.e_shnum;
  UniqueFd memory(::memfd_create("vdso", MFD_CLOEXEC));
  if (!memory || write_all(memory.get(), {base, size}) != 0) return {};
  return memory;
}

// While the process lives, map_files leads to the file itself. Without the permission for it, and
// for a process that has ended, the file of that path and inode is used.
Result<UniqueFd> open_mapped(const MappedAs& place, const std::string& proc) {
  const Error gone{ENOENT, "its process had ended, or it was deleted"};
  if (place.path == vdso_path) {
    UniqueFd copy = copy_of_vdso();
    if (!copy) return gone;
    return copy;
  }
  const std::string places[] = {
      fmt::format("{}/{}/map_files/{:x}-{:x}", proc, place.pid, place.begin, place.end),
      fmt::format("{}/{}/root{}", proc, place.pid, place.path), place.path};
  for (const std::string& path : places) {
    auto file = open_regular(path);
    if (file && has_mapped_inode(file->fd.get(), file->status.st_ino, place.inode))
      return std::move(file->fd);
  }
  return gone;
}

// Most processes map files that others have mapped, which need not be opened. A look-up by the path
// is fast, and there is no other file with that device and inode. Device numbers of mappings are
// not those of stat() in some file systems, such as overlayfs: then the process has to lead to its
// file.
std::optional<struct stat> find_mapped(const MappedAs& place, const std::string& proc) {
  struct stat facts {};
  const auto is_it = [&](const std::string& path) {
    return ::stat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode) &&
           facts.st_ino == place.inode;
  };
  if (place.device != 0 && is_it(place.path) && facts.st_dev == place.device) return facts;
  const std::string process = fmt::format("{}/{}", proc, place.pid);
  if (is_it(fmt::format("{}/map_files/{:x}-{:x}", process, place.begin, place.end))) return facts;
  const bool has_ended = ::access(process.c_str(), F_OK) != 0 && errno == ENOENT;
  if (has_ended && is_it(place.path)) return facts;
  return std::nullopt;
}

// A file on disk.
struct TableSource {
  enum class State : uint8_t { closed, open, queued, compiling, done };
  State state = State::closed;
  UniqueFd fd;  // while it is open or queued
  std::string path;
  bool of_root = false;
  uint64_t wants = 0;  // by stacks that wait
  std::shared_ptr<const SealedTable> table;
};

TableWork::TableWork(TableFiles::Compile compile, const TableFiles::Limits& limits,
                     TableFiles::Open open, TableFiles::Find find)
    : compile_(std::move(compile)),
      patience_(limits.patience),
      max_table_bytes_(limits.table_bytes),
      max_sources_(limits.files),
      open_(std::move(open)),
      find_(std::move(find)),
      lanes_{Lane(limits.time), Lane(limits.time)} {}

void TableWork::compile_files(unsigned lane) {
  Lock lock(mutex_);
  ++running_;
  compile_tables(lanes_[lane], lock);
  --running_;
  changed_.notify_all();
}

// The files that are open still are closed by the thread that opens.
bool TableWork::stop() {
  Lock lock(mutex_);
  stop_ = true;
  for (const auto& [identity, source] : sources_)
    if (source->fd) to_close_.push_back(std::move(source->fd));
  changed_.notify_all();
  opener_changed_.notify_all();
  return changed_.wait_for(lock, std::chrono::seconds(1), [&] { return running_ == 0; });
}

void TableWork::open_soon(const FilePointer& file) {
  const std::lock_guard lock(mutex_);
  if (!has_opener_) return;
  // What is not opened now is opened when its table is wanted.
  if (to_open_.size() >= max_early) return;
  to_open_.push_back(file);
  opener_changed_.notify_all();
}

void TableWork::ask(const FilePointer& file, TableWish wish) {
  const std::lock_guard lock(mutex_);
  if (file->not_opened_) return;
  const bool is_new = wish > file->wish_;
  file->wish_ = std::max(file->wish_, wish);
  if (file->source_ && file->source_->state != TableSource::State::closed) {
    if (wish == TableWish::wanted) ++file->source_->wants;
    put_into_queue(file->source_);
  } else if (!has_opener_) {
    count_not_opened(*file, no_answer);
  } else if (is_new && (wish == TableWish::wanted || to_open_.size() < max_early)) {
    to_open_.push_front(file);
    opener_changed_.notify_all();
  }
}

bool TableWork::is_done(const TableFile& file, std::shared_ptr<const SealedTable>& table,
                        std::string& refusal) const {
  const std::lock_guard lock(mutex_);
  if (file.not_opened_) refusal = file.why_not_opened_;
  if (file.not_opened_) return true;
  if (!file.source_ || file.source_->state != TableSource::State::done) return false;
  table = file.source_->table;
  return true;
}

void TableWork::put_into_queue(const SourcePointer& source) {
  if (source->state != TableSource::State::open) return;
  source->state = TableSource::State::queued;
  lanes_[source->of_root ? 0 : 1].queue.push_back(source);
  changed_.notify_all();
}

// ---- opening ----

void TableWork::open_files() {
  Lock lock(mutex_);
  ++running_;
  const uint64_t number = opener_;
  for (bool is_own = true; is_own;) {
    FilePointer file;
    opener_changed_.wait(
        lock, [&] { return stop_ || !to_close_.empty() || (file = next_to_open()) != nullptr; });
    if (!to_close_.empty()) {
      UniqueFd fd = std::move(to_close_.front());
      to_close_.pop_front();
      is_own = without_lock(nullptr, lock, [&] { fd.reset(); });
    } else if (stop_) {
      break;
    } else {
      open(file, lock);
      is_own = number == opener_;
    }
  }
  --running_;
  changed_.notify_all();
}

// First those that stacks have waited for longest. It is not in a queue any more.
TableWork::FilePointer TableWork::next_to_open() {
  std::deque<FilePointer>* queue = &to_open_;
  for (Lane& lane : lanes_)
    if (queue == &to_open_ && !lane.no_space.empty() && may_open(lane)) queue = &lane.no_space;
  if (queue->empty()) return nullptr;
  FilePointer file = std::move(queue->front());
  queue->pop_front();
  return file;
}

template <class Work>
bool TableWork::without_lock(FilePointer file, Lock& lock, Work work) {
  const uint64_t number = opener_;
  begun_ = std::chrono::steady_clock::now();
  opening_ = std::move(file);
  lock.unlock();
  work();
  lock.lock();
  if (number != opener_) return false;
  begun_.reset();
  opening_.reset();
  return true;
}

bool TableWork::wants_opener() {
  const std::lock_guard lock(mutex_);
  if (begun_ && std::chrono::steady_clock::now() - *begun_ > patience_) give_up_opener();
  if (has_opener_ || hanging_ == max_hanging_openers) return false;
  ++opener_;
  return has_opener_ = true;
}

void TableWork::has_no_opener() {
  const std::lock_guard lock(mutex_);
  has_opener_ = false;
}

// Nothing ends its wait. No other file of that process is opened.
void TableWork::give_up_opener() {
  has_opener_ = false;
  ++opener_;
  if (hanging_++ == 0) first_hanging_ = opening_ ? printable(opening_->place_.path) : "";
  if (opening_) {
    hanging_processes_.insert(opening_->place_.pid);
    count_not_opened(*opening_, no_answer);
  }
  begun_.reset();
  opening_.reset();
  if (hanging_ != max_hanging_openers) return;
  for (auto* queue : {&to_open_, &lanes_[0].no_space, &lanes_[1].no_space})
    for (const FilePointer& file : std::exchange(*queue, {})) count_not_opened(*file, no_answer);
}

void TableWork::open(const FilePointer& file, Lock& lock) {
  if (file->not_opened_) return;
  if (file->source_ && file->source_->state != TableSource::State::closed) return;
  if (hanging_processes_.contains(file->place_.pid)) return count_not_opened(*file, no_answer);
  Identity identity;
  const bool is_vdso = file->place_.path == vdso_path;
  std::optional<struct stat> found;
  bool is_own = true;
  if (find_ && !is_vdso)
    is_own = without_lock(file, lock, [&] {
      try {
        found = find_(file->place_);
      } catch (const std::bad_alloc&) {
      }
    });
  if (!is_own) return;
  if (found) identity = {identity_of(*found), found->st_uid};
  if ((found || is_vdso) && take_known(*file, identity)) return;
  // One whose owner is not known yet may be of root.
  Lane& lane = lane_of(identity.owner);
  if (!has_space(*file, lane)) return open_later(file, lane);
  Result<UniqueFd> fd = Error{ENOMEM, "no memory"};
  is_own = without_lock(file, lock, [&] {
    try {
      fd = open_(file->place_);
      struct stat facts {};
      if (fd && !is_vdso && ::fstat(fd->get(), &facts) == 0)
        identity = {identity_of(facts), facts.st_uid};
    } catch (const std::bad_alloc&) {
      fd = Error{ENOMEM, "no memory"};
    }
  });
  if (is_own)
    take(file, std::move(fd), identity);
  else if (fd)
    close_soon(std::move(*fd));
}

void TableWork::close_soon(UniqueFd fd) {
  if (!fd) return;
  to_close_.push_back(std::move(fd));
  opener_changed_.notify_all();
}

bool TableWork::may_open(const Lane& lane) const {
  return open_files_ < max_descriptors &&
         (&lane == lanes_.data() || lane.open_files < max_descriptors_of_others);
}

// Descriptors are limited: files that were opened early and were not needed so far are closed for
// one that is.
bool TableWork::has_space(const TableFile& file, const Lane& lane) {
  if (!may_open(lane) && file.wish_ != TableWish::none) close_unused();
  return may_open(lane);
}

// A wanted one waits for one that is being compiled, the others do not wait for it.
void TableWork::open_later(const FilePointer& file, Lane& lane) {
  if (file->wish_ == TableWish::wanted) lane.no_space.push_back(file);
}

void TableWork::take(const FilePointer& taken, Result<UniqueFd> fd, const Identity& identity) {
  TableFile& file = *taken;
  if (!fd) return count_not_opened(file, fd.error().message);
  Lane& lane = lane_of(identity.owner);
  if (lane.sources >= max_sources_) forget_unmapped();
  if (!take_known(file, identity)) {
    if (lane.sources >= max_sources_ && !sources_.contains(identity)) {
      close_soon(std::move(*fd));
      return count_not_opened(file, "there are too many files");
    }
    if (!has_space(file, lane)) {
      close_soon(std::move(*fd));
      return open_later(taken, lane);
    }
    SourcePointer& source = sources_[identity];
    if (!source) {
      source = std::make_shared<TableSource>();
      ++lane.sources;
    }
    source->state = TableSource::State::open;
    source->fd = std::move(*fd);
    source->path = file.place_.path;
    source->of_root = identity.owner == 0;
    ++open_files_;
    ++lane.open_files;
    attach(file, source);
  }
  close_soon(std::move(*fd));
}

void TableWork::attach(TableFile& file, const SourcePointer& source) {
  file.source_ = source;
  if (file.wish_ == TableWish::wanted) ++source->wants;
  if (file.wish_ != TableWish::none) put_into_queue(source);
}

// False: the file is not known, or it has to be opened again.
bool TableWork::take_known(TableFile& file, const Identity& identity) {
  const auto known = sources_.find(identity);
  if (known == sources_.end() || known->second->state == TableSource::State::closed) return false;
  attach(file, known->second);
  return true;
}

// It may be possible later, unless a stack waits now.
void TableWork::count_not_opened(TableFile& file, std::string reason) {
  if (file.wish_ != TableWish::wanted) return;
  file.not_opened_ = true;
  file.why_not_opened_ = std::move(reason);
  if (not_opened_++ == 0) first_not_opened_ = printable(file.place_.path);
}

// Those that nobody waits for. Who needs one opens it again.
void TableWork::close_unused() {
  for (Lane& lane : lanes_)
    std::erase_if(lane.queue, [](const SourcePointer& source) {
      if (source->wants != 0) return false;
      source->state = TableSource::State::open;
      return true;
    });
  for (const auto& [identity, source] : sources_) {
    if (source->state != TableSource::State::open) continue;
    source->state = TableSource::State::closed;
    close_soon(std::move(source->fd));
    --open_files_;
    --lanes_[source->of_root ? 0 : 1].open_files;
  }
}

// The files of processes that have ended. Not for each of many files that are too many.
void TableWork::forget_unmapped() {
  const auto now = std::chrono::steady_clock::now();
  if (forgotten_ && now - *forgotten_ < std::chrono::seconds(1)) return;
  forgotten_ = now;
  std::erase_if(sources_, [this](const auto& entry) {
    const SourcePointer& source = entry.second;
    if (source.use_count() > 1) return false;
    Lane& lane = lanes_[source->of_root ? 0 : 1];
    --lane.sources;
    if (source->table) lane.table_bytes -= source->table->bytes();
    if (source->fd) {
      --open_files_;
      --lane.open_files;
    }
    close_soon(std::move(source->fd));
    return true;
  });
}

// ---- compiling ----

void TableWork::compile_tables(Lane& lane, Lock& lock) {
  for (;;) {
    changed_.wait(lock, [&] { return stop_ || !lane.queue.empty(); });
    if (stop_) return;
    compile_source(*take_most_wanted(lane), lane, lock);
  }
}

TableWork::SourcePointer TableWork::take_most_wanted(Lane& lane) {
  const auto most =
      std::max_element(lane.queue.begin(), lane.queue.end(),
                       [](const auto& a, const auto& b) { return a->wants < b->wants; });
  SourcePointer source = std::move(*most);
  lane.queue.erase(most);
  return source;
}

void TableWork::compile_source(TableSource& source, Lane& lane, Lock& lock) {
  const auto begin = CompileBudget::Clock::now();
  if (source.wants == 0 && lane.budget.is_low(begin)) {
    source.state = TableSource::State::open;
    return;
  }
  UniqueFd fd = std::move(source.fd);
  source.state = TableSource::State::compiling;
  --open_files_;
  --lane.open_files;
  opener_changed_.notify_all();
  if (lane.table_bytes >= max_table_bytes_) forget_unmapped();
  if (lane.table_bytes >= max_table_bytes_) {
    count_failure(source.path, "the tables of other files use all memory that tables may use");
  } else if (lane.budget.is_spent(begin)) {
    count_failure(source.path, "the tables of other files have used the time for compiling");
  } else {
    lock.unlock();
    Compiled compiled(Error{static_cast<int>(NoTable::failed), "no memory"});
    try {
      compiled = compile_(fd);
    } catch (const std::bad_alloc&) {
    }
    lock.lock();
    lane.budget.use(compiled.used);
    auto& table = compiled.table;
    if (table) {
      lane.table_bytes += table->bytes();
      source.table = std::make_shared<const SealedTable>(std::move(*table));
    } else if (table.error().code == static_cast<int>(NoTable::failed)) {
      count_failure(source.path, table.error().message);
    }
  }
  source.state = TableSource::State::done;
  close_soon(std::move(fd));
}

// ---- notes ----

void TableWork::count_failure(const std::string& path, const std::string& reason) {
  if (failures_++ == 0) first_failure_ = fmt::format("{}: {}", printable(path), reason);
}

std::vector<std::string> TableWork::notes(bool with_unopened) const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> notes;
  if (failures_ != 0)
    notes.push_back(
        fmt::format("No unwind table could be made of {} file(s), so that stacks end "
                    "in their code, or are guessed. The first is {}.",
                    failures_, first_failure_));
  if (with_unopened && not_opened_ != 0)
    notes.push_back(
        fmt::format("{} mapped file(s) could not be opened for their unwind tables: "
                    "their processes had ended, they were deleted, or their file system does not "
                    "answer. The first is {}.",
                    not_opened_, first_not_opened_));
  if (hanging_ != 0)
    notes.push_back(
        fmt::format("{} time(s) a file system did not answer when a mapped file was opened for its "
                    "unwind table, or closed.{}{}",
                    hanging_, first_hanging_.empty() ? "" : " The first is ", first_hanging_));
  return notes;
}

}  // namespace pi::swtrace
