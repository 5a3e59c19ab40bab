// SPDX-License-Identifier: MIT
// Opens mapped files and has their tables compiled, in threads of its own.
#ifndef SWTRACE_TABLE_WORK_H
#define SWTRACE_TABLE_WORK_H

#include <array>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include <pi/files.h>

#include "table_files.h"

namespace pi::swtrace {

inline constexpr char vdso_path[] = "[vdso]";

// What the threads and their owner share. One thread opens files, which must not wait for a
// compiler while processes end; two compile.
class TableWork {
 public:
  using FilePointer = std::shared_ptr<TableFile>;
  static constexpr unsigned threads = 3;

  TableWork(TableFiles::Compile compile, CompileBudget::Clock::duration time, std::string proc);

  // The work of a thread, whose number is below that of all.
  void run(unsigned number);
  // False: a thread has not ended for a second.
  bool stop();

  void open_soon(const FilePointer& file);
  void ask(const FilePointer& file, TableWish wish);
  // Then table is that of the file, or null.
  bool is_done(const TableFile& file, std::shared_ptr<const SealedTable>& table) const;
  std::vector<std::string> notes() const;

 private:
  using Lock = std::unique_lock<std::mutex>;
  using SourcePointer = std::shared_ptr<TableSource>;
  // Which file on disk it is; that of the vdso is empty.
  struct Identity {
    FileIdentity file;
    uid_t owner = 0;

    auto all() const {
      return std::tuple(file.device, file.inode, file.size, file.modified_ns, file.changed_ns,
                        owner);
    }
    bool operator<(const Identity& other) const { return all() < other.all(); }
  };
  // Files whose tables one thread compiles.
  struct Lane {
    explicit Lane(CompileBudget::Clock::duration time) : budget(time) {}
    std::vector<SourcePointer> queue;
    CompileBudget budget;
  };

  // With the lock held, which they may release:
  void open_files(Lock& lock);
  void open(const FilePointer& file, Lock& lock);
  bool has_space(const TableFile& file, Lock& lock);
  void compile_tables(Lane& lane, Lock& lock);
  void compile_source(TableSource& source, Lane& lane, Lock& lock);
  // With the lock held:
  void take(TableFile& file, UniqueFd fd, const Identity& identity);
  void put_into_queue(const SourcePointer& source);
  static SourcePointer take_most_wanted(Lane& lane);
  void close_unused();
  void forget_unmapped();
  void count_failure(const std::string& path, const std::string& reason);
  void count_not_opened(TableFile& file);

  const TableFiles::Compile compile_;
  const std::string proc_;
  mutable std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  bool stop_ = false;
  unsigned running_ = 0;
  std::deque<FilePointer> to_open_;
  std::map<Identity, SourcePointer> sources_;
  std::array<Lane, 2> lanes_;  // of files of root, and of others
  size_t open_files_ = 0, table_bytes_ = 0;
  uint64_t not_opened_ = 0, failures_ = 0;
  std::string first_not_opened_, first_failure_;
};

}  // namespace pi::swtrace

#endif  // SWTRACE_TABLE_WORK_H
