// SPDX-License-Identifier: MIT
// Opens mapped files and has their tables compiled, in threads of its own.
#ifndef SWTRACE_TABLE_WORK_H
#define SWTRACE_TABLE_WORK_H

#include <sys/stat.h>

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <pi/files.h>

#include "table_files.h"

namespace pi::swtrace {

inline constexpr char vdso_path[] = "[vdso]";

// A copy of this process's vdso, which the kernel maps into all processes.
UniqueFd copy_of_vdso();
// The file that a process has mapped, if it still can be opened. proc: the directory /proc.
Result<UniqueFd> open_mapped(const MappedAs& place, const std::string& proc);
// What open_mapped() would open, where one call shows that. Nothing: it has to be opened.
std::optional<struct stat> find_mapped(const MappedAs& place, const std::string& proc);

// What the threads and their owner share. One thread opens and closes files, which must not wait
// for a compiler while processes end; two compile. A file system can make the first wait for ever:
// then another one goes on, a few times.
class TableWork {
 public:
  using FilePointer = std::shared_ptr<TableFile>;
  static constexpr unsigned lanes = 2;

  TableWork(TableFiles::Compile compile, const TableFiles::Limits& limits, TableFiles::Open open,
            TableFiles::Find find);

  // The work of a thread that compiles; lane is below their number.
  void compile_files(unsigned lane);
  // The work of the thread that opens.
  void open_files();
  // A thread that opens is to be started, because there is none, or because it hangs.
  bool wants_opener();
  // It could not be started.
  void has_no_opener();
  // False: a thread has not ended for a second.
  bool stop();

  void open_soon(const FilePointer& file);
  void ask(const FilePointer& file, TableWish wish);
  // Then table is that of the file, or null; refusal as in TableFile.
  bool is_done(const TableFile& file, std::shared_ptr<const SealedTable>& table,
               std::string& refusal) const;
  // with_unopened: also on files that could not be opened.
  std::vector<std::string> notes(bool with_unopened) const;

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
    size_t table_bytes = 0;
    size_t sources = 0;
    size_t open_files = 0;             // of queue, and those that may be queued
    std::deque<FilePointer> no_space;  // stacks wait for them, but they cannot be opened now
  };

  // With the lock held, which they may release:
  void open(const FilePointer& file, Lock& lock);
  // Runs work, which may last for ever, without the lock. False: another thread opens now.
  template <class Work>
  bool without_lock(FilePointer file, Lock& lock, Work work);
  void compile_tables(Lane& lane, Lock& lock);
  void compile_source(TableSource& source, Lane& lane, Lock& lock);
  // With the lock held:
  Lane& lane_of(uid_t owner) { return lanes_[owner == 0 ? 0 : 1]; }
  bool may_open(const Lane& lane) const;
  bool has_space(const TableFile& file, const Lane& lane);
  void open_later(const FilePointer& file, Lane& lane);
  FilePointer next_to_open();
  bool take_known(TableFile& file, const Identity& identity);
  void take(const FilePointer& file, Result<UniqueFd> fd, const Identity& identity);
  void attach(TableFile& file, const SourcePointer& source);
  void close_soon(UniqueFd fd);
  void give_up_opener();
  void put_into_queue(const SourcePointer& source);
  static SourcePointer take_most_wanted(Lane& lane);
  void close_unused();
  void forget_unmapped();
  void count_failure(const std::string& path, const std::string& reason);
  void count_not_opened(TableFile& file, std::string reason);

  const TableFiles::Compile compile_;
  const std::chrono::nanoseconds patience_;
  const size_t max_table_bytes_, max_sources_;  // of a lane
  const TableFiles::Open open_;
  const TableFiles::Find find_;  // can be empty
  mutable std::mutex mutex_;     // guards the members below
  std::condition_variable changed_;
  std::condition_variable opener_changed_;  // of what the thread that opens waits for
  bool stop_ = false;
  unsigned running_ = 0;
  std::deque<FilePointer> to_open_;
  std::deque<UniqueFd> to_close_;
  std::map<Identity, SourcePointer> sources_;
  std::array<Lane, lanes> lanes_;  // of files of root, and of others
  size_t open_files_ = 0;
  std::optional<std::chrono::steady_clock::time_point> forgotten_;  // when files were
  uint64_t not_opened_ = 0, failures_ = 0;
  std::string first_not_opened_, first_failure_;

  // Of the thread that opens:
  bool has_opener_ = false;
  uint64_t opener_ = 0;                                         // its number
  std::optional<std::chrono::steady_clock::time_point> begun_;  // since when it may hang
  FilePointer opening_;                                         // null: it closes
  unsigned hanging_ = 0;                                        // threads before it
  std::set<uint32_t> hanging_processes_;                        // whose files they open
  std::string first_hanging_;
};

}  // namespace pi::swtrace

#endif  // SWTRACE_TABLE_WORK_H
