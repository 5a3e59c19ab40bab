// SPDX-License-Identifier: MIT
// Has tables compiled by a child process without rights, and trusts nothing that it answers.
#ifndef SWTRACE_TABLE_COMPILER_H
#define SWTRACE_TABLE_COMPILER_H

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>

#include <pi/result.h>
#include <pi/unique_fd.h>

#include "sealed_table.h"

namespace pi::swtrace {

struct ChildLimits {
  const char* program = "/proc/self/exe";
  std::chrono::milliseconds time = std::chrono::seconds(15);  // for the table of one file
  unsigned files = 256;                                       // of one child
};

enum class NoTable { has_none, failed };

// The child is started with the first file, compiles one after the other, and ends with this.
// It is started again after it has died, for files of another owner, and after so many files that
// what a hostile one has done to it does not stay. Not thread-safe.
class TableCompiler {
 public:
  explicit TableCompiler(const ChildLimits& limits = {}) : limits_(limits) {}
  ~TableCompiler() { (void)end_child(); }
  TableCompiler(const TableCompiler&) = delete;
  TableCompiler& operator=(const TableCompiler&) = delete;

  // An error's code is a NoTable, its message the reason. file: open for reading.
  Result<SealedTable> compile(const UniqueFd& file);
  unsigned children() const { return children_; }

 private:
  Status start_child();
  // Why it has ended, or would have.
  std::string end_child();
  Result<SealedTable> ask(const UniqueFd& file, uint64_t bytes);
  Status send_request(const UniqueFd& file, const UniqueFd& memory, uint64_t bytes);
  // The answer, a TableStatus; an error after which the child is of no use.
  Result<uint64_t> answer();

  const ChildLimits limits_;
  UniqueFd channel_;
  pid_t child_ = 0;
  uid_t owner_ = 0;  // of its files
  unsigned files_ = 0;
  uint64_t number_ = 0;
  unsigned children_ = 0;
};

// By a child process that each thread has of its own.
Result<SealedTable> compile_by_child(const UniqueFd& file);

}  // namespace pi::swtrace

#endif  // SWTRACE_TABLE_COMPILER_H
