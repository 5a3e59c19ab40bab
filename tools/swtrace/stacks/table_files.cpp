// SPDX-License-Identifier: MIT
// Opens the files that processes have mapped, has their tables compiled, and keeps them.
#include "table_files.h"

#include <elf.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <system_error>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <pi/files.h>
#include <pi/printable.h>

namespace pi::swtrace {
namespace {

constexpr size_t max_early = 1 << 14;   // files that wait to be opened early
constexpr size_t max_open_files = 400;  // of 1,024 descriptors, which is a usual limit
constexpr size_t max_table_bytes = 512 << 20;
// A path has up to 4 KB, and programs can map a million files.
constexpr size_t max_path_bytes = 64 << 20;
constexpr size_t max_sources = 1 << 16;
constexpr char vdso[] = "[vdso]";

// A copy of this process's vdso, which the kernel maps into all processes.
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
UniqueFd open_mapped(const MappedAs& place, const std::string& proc) {
  if (place.path == vdso) return copy_of_vdso();
  const std::string places[] = {
      fmt::format("{}/{}/map_files/{:x}-{:x}", proc, place.pid, place.begin, place.end),
      fmt::format("{}/{}/root{}", proc, place.pid, place.path), place.path};
  for (const std::string& path : places) {
    auto file = open_regular(path);
    if (file && has_mapped_inode(file->fd.get(), file->status.st_ino, place.inode))
      return std::move(file->fd);
  }
  return {};
}

using Key = std::tuple<dev_t, ino_t, off_t, int64_t, int64_t>;

Key key_of(const UniqueFd& fd) {
  struct stat facts {};
  ::fstat(fd.get(), &facts);
  const FileIdentity file = identity_of(facts);
  return {file.device, file.inode, file.size, file.modified_ns, file.changed_ns};
}

}  // namespace

struct TableSource {
  UniqueFd fd;  // until the table is made, or others need the descriptor
  std::shared_ptr<const SealedTable> table;
  bool done = false;
  bool usable() const { return done || fd; }
};

// What the thread and its owner share.
struct TableWork {
  using FilePointer = std::shared_ptr<TableFile>;
  enum class Task { open, compile };

  TableWork(TableFiles::Compile compiler, CompileBudget::Clock::duration time,
            std::string proc_path)
      : compile(std::move(compiler)), proc(std::move(proc_path)), of_root(time), of_others(time) {}

  void run();
  void add(Task task, const FilePointer& file);
  void open(TableFile& file);
  void make(TableFile& file);
  void close_unused();
  void forget_unmapped();
  void compile_source(TableSource& source, const std::string& path);
  static void end(TableFile& file);
  void count_failure(const std::string& path, const std::string& reason);

  const TableFiles::Compile compile;
  const std::string proc;
  mutable std::mutex mutex;  // guards the members below
  std::condition_variable changed;
  std::deque<std::pair<Task, FilePointer>> tasks;
  bool stop = false, ended = false;
  uint64_t not_opened = 0, failures = 0;
  std::string first_not_opened, first_failure;

  // Of the thread alone.
  std::map<Key, std::shared_ptr<TableSource>> sources;
  size_t open_files = 0, table_bytes = 0;
  CompileBudget of_root, of_others;  // by the owner of the file
};

void TableWork::run() {
  std::unique_lock lock(mutex);
  for (;;) {
    changed.wait(lock, [&] { return stop || !tasks.empty(); });
    if (stop) break;
    const auto [task, file] = std::move(tasks.front());
    tasks.pop_front();
    lock.unlock();
    try {
      task == Task::open ? open(*file) : make(*file);
    } catch (const std::exception& error) {
      count_failure(file->place_.path, error.what());
      file->state_.store(TableFile::State::none, std::memory_order_release);
    }
    lock.lock();
  }
  ended = true;
  changed.notify_all();
}

void TableWork::add(Task task, const FilePointer& file) {
  const std::lock_guard lock(mutex);
  // What is not opened now is opened when its table is wanted.
  if (task == Task::open && tasks.size() >= max_early) return;
  // Stacks wait for a table, and its file is opened with it.
  if (task == Task::compile)
    tasks.emplace_front(task, file);
  else
    tasks.emplace_back(task, file);
  changed.notify_all();
}

void TableWork::count_failure(const std::string& path, const std::string& reason) {
  const std::lock_guard lock(mutex);
  if (failures++ == 0) first_failure = fmt::format("{}: {}", printable(path), reason);
}

// What the table's users see.
void TableWork::end(TableFile& file) {
  if (file.source_) file.table_ = file.source_->table;
  file.state_.store(file.table_ ? TableFile::State::ready : TableFile::State::none,
                    std::memory_order_release);
}

void TableWork::open(TableFile& file) {
  if (file.source_ && file.source_->usable()) return;
  if (open_files >= max_open_files) return;
  UniqueFd fd = open_mapped(file.place_, proc);
  if (!fd) return;
  if (sources.size() >= max_sources) forget_unmapped();
  if (sources.size() >= max_sources) return;
  auto& source = sources[file.place_.path == vdso ? Key{} : key_of(fd)];
  if (!source) {
    source = std::make_shared<TableSource>();
    source->fd = std::move(fd);
    ++open_files;
  }
  file.source_ = source;
  if (source->done) end(file);
}

void TableWork::make(TableFile& file) {
  if (open_files >= max_open_files && !(file.source_ && file.source_->usable())) close_unused();
  open(file);
  if (!file.source_ || !file.source_->usable()) {
    const std::lock_guard lock(mutex);
    if (not_opened++ == 0) first_not_opened = printable(file.place_.path);
  } else if (!file.source_->done) {
    compile_source(*file.source_, file.place_.path);
  }
  end(file);
}

// The files that were opened early and were not needed so far. Who needs one opens it again.
void TableWork::close_unused() {
  std::erase_if(sources, [](const auto& entry) {
    if (!entry.second->done) entry.second->fd = {};
    return !entry.second->done;
  });
  open_files = 0;
}

// The files of processes that have ended. Only this thread shares sources with mapped files.
void TableWork::forget_unmapped() {
  std::erase_if(sources, [this](const auto& entry) {
    const auto& source = entry.second;
    if (source.use_count() > 1) return false;
    if (source->table) table_bytes -= source->table->bytes();
    if (source->fd) --open_files;
    return true;
  });
}

void TableWork::compile_source(TableSource& source, const std::string& path) {
  source.done = true;
  const UniqueFd fd = std::move(source.fd);
  --open_files;
  if (table_bytes >= max_table_bytes) forget_unmapped();
  if (table_bytes >= max_table_bytes)
    return count_failure(path, "the tables of other files use all memory that tables may use");
  struct stat facts {};
  ::fstat(fd.get(), &facts);
  CompileBudget& budget = facts.st_uid == 0 ? of_root : of_others;
  const auto begin = CompileBudget::Clock::now();
  if (budget.is_spent(begin))
    return count_failure(path, "the tables of other files have used the time for compiling");
  auto table = compile(fd);
  budget.use(CompileBudget::Clock::now() - begin);
  if (table) {
    table_bytes += table->bytes();
    source.table = std::make_shared<const SealedTable>(std::move(*table));
  } else if (table.error().code == static_cast<int>(NoTable::failed)) {
    count_failure(path, table.error().message);
  }
}

TableFiles::TableFiles(Compile compile, CompileBudget::Clock::duration time, std::string proc)
    : work_(std::make_shared<TableWork>(std::move(compile), time, std::move(proc))) {}

TableFiles::~TableFiles() {
  std::unique_lock lock(work_->mutex);
  work_->stop = true;
  work_->changed.notify_all();
  if (!thread_.joinable()) return;
  const bool ended =
      work_->changed.wait_for(lock, std::chrono::seconds(1), [&] { return work_->ended; });
  lock.unlock();
  ended ? thread_.join() : thread_.detach();
}

bool TableFiles::start() {
  if (thread_.joinable()) return true;
  try {
    thread_ = std::thread([work = work_] { work->run(); });
  } catch (const std::system_error&) {
    // Tried again with the next file.
  }
  return thread_.joinable();
}

std::shared_ptr<TableFile> TableFiles::mapped(const MappedAs& place) {
  if (place.path != vdso && !place.path.starts_with('/')) return nullptr;
  if (place.path.starts_with("//")) return nullptr;  // "//anon"
  if (*path_bytes_ + place.path.size() > max_path_bytes) {
    ++paths_refused_;
    return nullptr;
  }
  auto file = std::make_shared<TableFile>(place, path_bytes_);
  if (start()) work_->add(TableWork::Task::open, file);
  return file;
}

void TableFiles::want(const std::shared_ptr<TableFile>& file) {
  if (file->wanted_ || !start()) return;
  file->wanted_ = true;
  work_->add(TableWork::Task::compile, file);
}

std::vector<std::string> TableFiles::notes() const {
  const std::lock_guard lock(work_->mutex);
  std::vector<std::string> notes;
  if (work_->failures != 0)
    notes.push_back(
        fmt::format("No unwind table could be made of {} file(s), so that stacks end "
                    "in their code, or are guessed. The first is {}.",
                    work_->failures, work_->first_failure));
  if (work_->not_opened != 0)
    notes.push_back(
        fmt::format("{} mapped file(s) could not be opened for their unwind tables: "
                    "their processes had ended, or they were deleted. The first is {}.",
                    work_->not_opened, work_->first_not_opened));
  if (paths_refused_ != 0)
    notes.push_back(
        fmt::format("{} mapped file(s) have no unwind tables, since the recorder keeps a limited "
                    "number of bytes of paths.",
                    paths_refused_));
  return notes;
}

}  // namespace pi::swtrace
