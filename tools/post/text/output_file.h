// SPDX-License-Identifier: MIT
// A report file that appears under its name only when it is complete.
#ifndef POST_OUTPUT_FILE_H
#define POST_OUTPUT_FILE_H

#include <pi/new_file.h>
#include <pi/result.h>
#include <signal.h>
#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "sink.h"

namespace post {

// The file is written under a temporary name in the same directory and renamed by commit(). A link
// with the file's name is replaced, never followed. The file is removed when this is destroyed
// uncommitted, or when a signal ends the program: the handler has 64 entries, and fewer
// files are open at a time.
class OutputFile final : public Sink {
 public:
  // The file at path, which is read, is not replaced by create() and create_in_folder().
  static void keep(const std::string& path);
  // Whether create() would accept all the paths, which is known before anything is made.
  static pi::Status check(const std::vector<std::string>& paths);
  // mode is reduced by the umask. An error also if this process has made a file at that path.
  static pi::Result<std::unique_ptr<OutputFile>> create(const std::string& path, mode_t mode);
  // The same in a directory of its own, which is made if it is missing. A link in its place, or
  // another user's directory, is an error.
  static pi::Result<std::unique_ptr<OutputFile>> create_in_folder(const std::string& path,
                                                                  mode_t mode);
  ~OutputFile() override;
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  bool write(std::string_view text) override;
  bool rewrite(uint64_t offset, std::string_view text) override;
  void fail(int error) override {
    if (write_error_ == 0) write_error_ = error;
  }
  void write_beside(const std::string& name, const std::function<void(Sink&)>& content) override;
  void remove_beside(const std::string& beginning, const std::vector<std::string>& except) override;
  // Whether all writes have succeeded.
  bool good() const { return write_error_ == 0; }
  // Bytes written so far.
  uint64_t size() const { return size_; }
  // Writes what is still buffered: commit() fails then only if the file cannot be renamed.
  pi::Status complete();
  pi::Status commit();

 private:
  // folder: in which the file is, "" or with a slash at its end, if file does not know it.
  OutputFile(std::string path, mode_t mode, pi::NewFile file, const std::string& folder = {});

  void flush();
  void remove_unwanted();
  // reason: an errno.
  pi::Error problem(const char* what, int reason) const;

  const std::string path_;
  const mode_t mode_;
  pi::NewFile file_;
  const std::string folder_;
  const std::string temporary_;  // path of the file until it has its name
  std::string buffer_;           // not yet written
  uint64_t size_ = 0;
  int write_error_ = 0;
  bool completed_ = false;
  // What commit() does beside this file.
  std::vector<std::unique_ptr<OutputFile>> beside_;
  std::string unwanted_;  // beginning of files to be removed; empty: none
  std::vector<std::string> wanted_;
  std::string made_folder_;  // removed if it stays empty
};

// While it exists, these signals wait: several files can get their names together.
class SignalsWait {
 public:
  SignalsWait();
  ~SignalsWait();
  SignalsWait(const SignalsWait&) = delete;
  SignalsWait& operator=(const SignalsWait&) = delete;

 private:
  sigset_t before_;
};

// Ends the program on SIGINT, SIGTERM and SIGHUP as usual, but removes an unfinished file first; so
// does std::quick_exit().
void remove_unfinished_on_signals();

}  // namespace post

#endif  // POST_OUTPUT_FILE_H
