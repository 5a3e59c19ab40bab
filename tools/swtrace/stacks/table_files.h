// SPDX-License-Identifier: MIT
// The files that processes have mapped, and their tables.
#ifndef SWTRACE_TABLE_FILES_H
#define SWTRACE_TABLE_FILES_H

#include <sys/stat.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "compile_budget.h"
#include "table_compiler.h"

namespace pi::swtrace {

class TableWork;
struct TableSource;

// How a file was mapped.
struct MappedAs {
  uint32_t pid;
  uint64_t begin, end;
  uint64_t inode;
  std::string path;  // as in /proc/PID/maps
  dev_t device = 0;  // of its file system; 0: not known
};

// How much the table of a file is needed.
enum class TableWish : uint8_t {
  none,
  expected,  // its process runs
  wanted,    // a stack waits for it
};

// A mapped file. Several can be the same file on disk, and then have one table.
class TableFile {
 public:
  // The bytes of its path are added to path_bytes, as long as it exists.
  TableFile(const MappedAs& place, std::shared_ptr<std::atomic<size_t>> path_bytes)
      : place_(place), path_bytes_(std::move(path_bytes)) {
    *path_bytes_ += place_.path.size();
  }
  ~TableFile() { *path_bytes_ -= place_.path.size(); }
  TableFile(const TableFile&) = delete;
  TableFile& operator=(const TableFile&) = delete;

  // Null before TableFiles::is_done(), and if there is none.
  const unwind::Table* table() const { return table_ ? &table_->table() : nullptr; }
  const std::string& path() const { return place_.path; }
  // Once it is done: why it could not be opened; "": it could.
  const std::string& refusal() const { return refusal_; }

 private:
  friend class TableFiles;
  friend class TableWork;
  const MappedAs place_;
  const std::shared_ptr<std::atomic<size_t>> path_bytes_;
  // Of the thread that calls TableFiles.
  bool is_done_ = false;
  std::shared_ptr<const SealedTable> table_;
  std::string refusal_;
  // Guarded by TableWork.
  std::shared_ptr<TableSource> source_;
  TableWish wish_ = TableWish::none;
  bool not_opened_ = false;
  std::string why_not_opened_;
};

// Called by one thread at a time. Files are opened and tables compiled in threads of their own,
// which a file system may block.
class TableFiles {
 public:
  // Called by two threads: for files of root, and for those of all other users.
  using Compile = std::function<Compiled(const UniqueFd& file)>;
  // Opens a mapped file, or a copy of the vdso; an error's message is the reason. Called by one
  // thread, or by others while that waits for a file system.
  using Open = std::function<Result<UniqueFd>(const MappedAs& place)>;
  // Finds out which file that is without opening it. Nothing: it is opened.
  using Find = std::function<std::optional<struct stat>(const MappedAs& place)>;
  // When: an early one is opened while its process lives.
  enum class When { early, when_wanted };

  struct Limits {
    // Of compiling: for the files of root, and for those of all other users.
    CompileBudget::Clock::duration time = CompileBudget::usual;
    // With a file system that does not answer.
    std::chrono::nanoseconds patience = std::chrono::seconds(5);
    // Of all tables of files of root, and of those of all other users.
    size_t table_bytes = 256 << 20;
    // The number of these files. Each table is a mapping, of which a process has 65,530.
    size_t files = 1 << 14;
  };
  TableFiles(Compile compile, const Limits& limits, Open open, When when, Find find = {});
  // Open the files of running processes.
  explicit TableFiles(Compile compile) : TableFiles(std::move(compile), Limits{}) {}
  TableFiles(Compile compile, const Limits& limits, const std::string& proc = "/proc");
  // Waits up to a second for the threads, then detaches them.
  ~TableFiles();
  TableFiles(const TableFiles&) = delete;
  TableFiles& operator=(const TableFiles&) = delete;

  // Of the paths' bytes, three quarters may be those of processes that are not own.
  void reserve_for(std::function<bool(uint32_t pid)> is_own) { is_own_ = std::move(is_own); }
  // Files that are opened when they are wanted are the same one for all processes, by path and
  // inode. Null for memory without a file, and if the paths of others use all memory for paths.
  std::shared_ptr<TableFile> mapped(const MappedAs& place);
  // Has the table compiled, if that is not done yet: a wanted one first, the one that most stacks
  // want.
  void ask(const std::shared_ptr<TableFile>& file, TableWish wish);
  // The table is ready, or there will be none.
  bool is_done(TableFile& file);
  // One sentence on each kind of files whose tables are missing; files that are opened when they
  // are wanted have their TableFile::refusal() instead.
  std::vector<std::string> notes() const;

 private:
  // False: a thread is missing.
  bool start();
  bool start_opener();
  std::shared_ptr<TableFile> make(const MappedAs& place);
  bool has_space(const MappedAs& place) const;

  std::shared_ptr<TableWork> work_;  // shared with the threads, which may outlive this
  const When when_;
  std::shared_ptr<std::atomic<size_t>> path_bytes_ = std::make_shared<std::atomic<size_t>>(0);
  std::function<bool(uint32_t pid)> is_own_;  // can be empty
  uint64_t paths_refused_ = 0;
  std::map<std::pair<std::string, uint64_t>, std::weak_ptr<TableFile>> shared_;
  std::vector<std::thread> threads_;
  unsigned lanes_ = 0;  // threads that compile
};

}  // namespace pi::swtrace

#endif  // SWTRACE_TABLE_FILES_H
