// SPDX-License-Identifier: MIT
// A log: whole records are appended, so that it stays readable after errors and crashes.
#ifndef PI_JPROF_LOG_FILE_H
#define PI_JPROF_LOG_FILE_H

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <pi/new_file.h>
#include <pi/result.h>
#include <pi/unique_fd.h>

namespace pi::jprof {

// Not thread-safe. Nothing is buffered: what was appended survives the process.
class LogFile {
 public:
  // The options that decide where a log is, for the advice of errors.
  struct ChosenBy {
    const char* directory;
    const char* name;
  };
  static constexpr ChosenBy by_log_options{"LOGPATH=DIR", "LOGPREFIX=P"};
  static constexpr ChosenBy by_minima_option{"SAVEMINIMA=FILE", "SAVEMINIMA=FILE"};

  enum class Opened { anew, again };

  // Creates the file. An existing one, of an earlier process with the same pid, is renamed to
  // PATH.old; one that this object wrote before close() is continued. Fails while another process
  // writes it.
  Result<Opened> open(const std::string& path, ChosenBy options = by_log_options);
  // What was written since begin_whole() is lost.
  void close();
  // For an open log that is empty. What is written from here on is in the file when finish() has
  // succeeded: until then, and if the process is killed meanwhile, the file is empty. Returns 0 or
  // an error number.
  int begin_whole();
  // Returns 0 and closes the log, or returns an error number.
  int finish();
  void remove_if_empty() const;
  // Removes the open file, of which only a part could be written.
  void discard();
  bool is_open() const { return static_cast<bool>(fd_); }
  const std::string& path() const { return path_; }
  // For writing; this object's own, while the file is open.
  int descriptor() const { return whole_ ? whole_->fd() : fd_.get(); }

  // Writes all and returns 0, or nothing and returns errno. ENOENT: the file was removed, so that
  // no process could read what is written.
  int append(std::string_view text);

 private:
  Status move_away(ChosenBy options) const;
  bool has_its_name() const;
  int truncate_to(off_t size, int error) const;

  UniqueFd fd_;
  std::optional<NewFile> whole_;  // takes the file's place
  std::string path_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace pi::jprof

#endif  // PI_JPROF_LOG_FILE_H
