// SPDX-License-Identifier: MIT
// Has tables compiled by a child process without rights, and trusts nothing that it answers.
#ifndef SWTRACE_TABLE_COMPILER_H
#define SWTRACE_TABLE_COMPILER_H

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <pi/result.h>
#include <pi/unique_fd.h>

#include "sealed_table.h"

namespace pi::swtrace {

struct ChildLimits {
  const char* program = "/proc/self/exe";
  // For the table of one file: of a processor, or asleep.
  std::chrono::milliseconds time = std::chrono::seconds(15);
  // At a stretch: then it waits for a file system that does not answer.
  std::chrono::milliseconds asleep = std::chrono::seconds(5);
  unsigned files = 256;  // of one child
};

enum class NoTable { has_none, failed };

struct Compiled {
  // used: the time, as in ChildLimits.
  Compiled(Result<SealedTable> result, std::chrono::nanoseconds time = {})
      : table(std::move(result)), used(time) {}

  Result<SealedTable> table;  // an error's code is a NoTable, its message the reason
  std::chrono::nanoseconds used;
};

// The child is started with the first file, compiles one after the other, and ends with this.
// It is started again after it has died, for files of another owner, and after so many files that
// what a hostile one has done to it does not stay. Not thread-safe.
class TableCompiler {
 public:
  explicit TableCompiler(const ChildLimits& limits = {}) : limits_(limits) {}
  ~TableCompiler() { (void)end_child(); }
  TableCompiler(const TableCompiler&) = delete;
  TableCompiler& operator=(const TableCompiler&) = delete;

  // file: open for reading.
  Compiled compile(const UniqueFd& file);
  unsigned children() const { return children_; }

 private:
  Status start_child();
  // Why it has ended, or would have.
  std::string end_child();
  Result<SealedTable> compile_file(const UniqueFd& file);
  Result<SealedTable> ask(const UniqueFd& file, uint64_t bytes);
  Status send_request(const UniqueFd& file, const UniqueFd& memory, uint64_t bytes);
  bool wait_for_answer();
  // Of all children.
  std::chrono::nanoseconds used() const;
  // The answer, a TableStatus; an error after which the child is of no use.
  Result<uint64_t> answer();

  const ChildLimits limits_;
  UniqueFd channel_;
  pid_t child_ = 0;
  std::vector<pid_t> hanging_;       // children that did not end when they were killed
  std::chrono::nanoseconds used_{};  // of children that have ended, and asleep
  uid_t owner_ = 0;                  // of its files
  unsigned files_ = 0;
  uint64_t number_ = 0;
  unsigned children_ = 0;
};

// By a child process that each thread has of its own.
Compiled compile_by_child(const UniqueFd& file);

}  // namespace pi::swtrace

#endif  // SWTRACE_TABLE_COMPILER_H
