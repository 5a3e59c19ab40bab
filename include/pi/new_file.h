// SPDX-License-Identifier: MIT
// A file that gets its name only when it is complete and on the disk. In the static library
// pi_files.
#ifndef PI_NEW_FILE_H
#define PI_NEW_FILE_H

#include <sys/types.h>

#include <string>

#include <pi/result.h>
#include <pi/unique_fd.h>

namespace pi {

// What a new file's mode is: the one that was given, or, as for open(), without the bits of the
// process's umask.
enum class Umask { ignored, applied };

// Until commit() or publish() the bytes are in a temporary file beside the target, which the
// destructor removes. A link at the target's place is replaced, never followed.
class NewFile {
 public:
  // prefix: of the temporary file's name, a dot first. The error's code is an error number, EISDIR
  // for a path that names a directory.
  static Result<NewFile> create(const std::string& path, const char* prefix, mode_t mode,
                                Umask umask = Umask::ignored);
  // The same for a name in a directory that is open; directory stays the caller's.
  static Result<NewFile> create_in(int directory, const std::string& name, const char* prefix,
                                   mode_t mode, Umask umask = Umask::ignored);
  NewFile(NewFile&&) = default;
  NewFile& operator=(NewFile&&) = delete;
  ~NewFile();

  int fd() const { return fd_.get(); }
  // Of the target; a path, and names within it.
  int directory() const { return directory_.get(); }
  const std::string& target() const { return target_; }
  // As a path, for those who remove it in a signal handler; empty once the file has its name.
  const std::string& temporary() const { return temporary_; }

  // Gives the file its name now, while it goes on being written. keep_old: a file of that name
  // becomes NAME.old. 0 or an error number.
  int publish(bool keep_old);
  // Brings the file to the disk and closes it. 0 or an error number. commit() does it as well; this
  // is for those who want to know what it was that failed.
  int complete();
  // Completes the file and gives it its name, which is then on the disk, too:
  // after a loss of power the name leads to the old file or the whole new one. keep_old: as for
  // publish(). 0 or an error number; the old file then stays, and the temporary one is removed.
  int commit(bool keep_old = false);

 private:
  NewFile(UniqueFd directory, UniqueFd fd, std::string folder, std::string target, std::string name)
      : directory_(std::move(directory)),
        fd_(std::move(fd)),
        target_(std::move(target)),
        name_(std::move(name)),
        temporary_(folder + name_) {}
  static Result<NewFile> make(UniqueFd directory, const std::string& folder,
                              const std::string& target, const char* prefix, mode_t mode,
                              Umask umask);
  int take_name();
  int give_up(int error);

  UniqueFd directory_;
  UniqueFd fd_;
  std::string target_;     // within the directory
  std::string name_;       // of the temporary file, within the directory
  std::string temporary_;  // the same as a path
};

}  // namespace pi

#endif  // PI_NEW_FILE_H
