// SPDX-License-Identifier: MIT
// Opens the files that processes have mapped, has their tables compiled, and keeps them.
#ifndef SWTRACE_TABLE_FILES_H
#define SWTRACE_TABLE_FILES_H

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "compile_budget.h"
#include "table_child.h"

namespace pi::swtrace {

struct TableWork;

// How a file was mapped.
struct MappedAs {
  uint32_t pid;
  uint64_t begin, end;
  uint64_t inode;
  std::string path;  // as in /proc/PID/maps
};

// A file on disk.
struct TableSource;

// A mapped file. Several can be the same file on disk, and then have one table.
class TableFile {
 public:
  enum class State : uint8_t {
    pending,  // nobody has asked for it, or it is not ready
    ready,
    none,
  };
  // The bytes of its path are added to path_bytes, as long as it exists.
  TableFile(const MappedAs& place, std::shared_ptr<std::atomic<size_t>> path_bytes)
      : place_(place), path_bytes_(std::move(path_bytes)) {
    *path_bytes_ += place_.path.size();
  }
  ~TableFile() { *path_bytes_ -= place_.path.size(); }
  TableFile(const TableFile&) = delete;
  TableFile& operator=(const TableFile&) = delete;

  State state() const { return state_.load(std::memory_order_acquire); }
  // Null unless it is ready.
  const unwind::Table* table() const {
    return state() == State::ready ? &table_->table() : nullptr;
  }

 private:
  friend class TableFiles;
  friend struct TableWork;
  const MappedAs place_;
  const std::shared_ptr<std::atomic<size_t>> path_bytes_;
  bool wanted_ = false;  // of the thread that calls want()
  std::atomic<State> state_{State::pending};
  std::shared_ptr<const SealedTable> table_;  // written before state_
  std::shared_ptr<TableSource> source_;       // of the thread of TableFiles
};

// Files are opened and tables compiled in a thread of its own, which a file system may block.
class TableFiles {
 public:
  using Compile = std::function<Result<SealedTable>(const UniqueFd& file)>;

  // time: for the files of root, and for those of all other users.
  explicit TableFiles(Compile compile, CompileBudget::Clock::duration time = CompileBudget::usual,
                      std::string proc = "/proc");
  // Waits up to a second for the thread, then detaches it.
  ~TableFiles();
  TableFiles(const TableFiles&) = delete;
  TableFiles& operator=(const TableFiles&) = delete;

  // Opens the file soon, while its process lives. Null for memory without a file, and if the paths
  // of others use all memory for paths.
  std::shared_ptr<TableFile> mapped(const MappedAs& place);
  // Has the table compiled, if that is not done yet.
  void want(const std::shared_ptr<TableFile>& file);
  // One sentence on each kind of files whose tables are missing.
  std::vector<std::string> notes() const;

 private:
  bool start();

  std::shared_ptr<TableWork> work_;  // shared with the thread, which may outlive this
  std::shared_ptr<std::atomic<size_t>> path_bytes_ = std::make_shared<std::atomic<size_t>>(0);
  uint64_t paths_refused_ = 0;
  std::thread thread_;
};

}  // namespace pi::swtrace

#endif  // SWTRACE_TABLE_FILES_H
