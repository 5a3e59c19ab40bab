// SPDX-License-Identifier: MIT
// A new file that gets its name only when it is complete and on the disk. Part of the static
// library pi_files.
#ifndef PI_NEW_FILE_H
#define PI_NEW_FILE_H

#include <sys/types.h>

#include <string>

#include <pi/result.h>
#include <pi/unique_fd.h>

namespace pi {

// The mode of a new file: exactly the given one, or without the bits of the process's umask, as for
// open().
enum class Umask { ignored, applied };

// Until commit() or publish() the bytes are in a temporary file in the same directory. Where the
// file system supports it that file has no name, and nothing remains of it if the process is
// killed; elsewhere it has a random name, and the destructor removes it. A link with the target's
// name is replaced, never followed; a device, pipe or socket, or a link to one, is refused.
class NewFile {
 public:
  // prefix: of the temporary file's name; it begins with a dot. The error's code is an error
  // number, EISDIR for a path that names a directory, or not_regular (pi/files.h); its message is
  // only the reason.
  static Result<NewFile> create(const std::string& path, const char* prefix, mode_t mode,
                                Umask umask = Umask::ignored);
  // The same for a name in a directory that is open; the caller keeps ownership of directory.
  static Result<NewFile> create_in(int directory, const std::string& name, const char* prefix,
                                   mode_t mode, Umask umask = Umask::ignored);
  NewFile(NewFile&&) = default;
  NewFile& operator=(NewFile&&) = delete;
  ~NewFile();

  int fd() const { return fd_.get(); }
  // The target's directory, and its name within it.
  int directory() const { return directory_.get(); }
  const std::string& target() const { return target_; }
  // The path that the temporary file has or will have, so that a signal handler can remove it;
  // empty once the file has its final name.
  const std::string& temporary() const { return temporary_; }

  // Gives the file its name now; writing may continue. keep_old: an existing file of that name
  // becomes NAME.old. Returns 0 or an error number.
  int publish(bool keep_old);
  // Syncs the file to the disk, without a name if it has none. Returns 0 or an error number.
  int sync() const;
  // Syncs the file to the disk, under its temporary name, and closes it. Returns 0 or an error
  // number. commit() does this too; separate calls show which step failed.
  int complete();
  // Completes the file, gives it its name, and syncs the directory: after a power failure the name
  // refers to the old file or to the whole new one. keep_old: as for publish(). Returns 0 or an
  // error number; after an error the old file remains, and the temporary one is removed.
  int commit(bool keep_old = false);

 private:
  NewFile(UniqueFd directory, UniqueFd fd, std::string folder, std::string target, std::string name,
          bool named)
      : directory_(std::move(directory)),
        fd_(std::move(fd)),
        target_(std::move(target)),
        name_(std::move(name)),
        temporary_(folder + name_),
        named_(named) {}
  static Result<NewFile> make(UniqueFd directory, const std::string& folder,
                              const std::string& target, const char* prefix, mode_t mode,
                              Umask umask);
  int link_temporary();
  int give_up(int error);

  UniqueFd directory_;
  UniqueFd fd_;
  std::string target_;     // within the directory
  std::string name_;       // of the temporary file, within the directory
  std::string temporary_;  // the same as a path
  bool named_;             // the temporary file has its name
};

// Renames a file to NAME.old. Returns 0, also if there is no such file, or an error number.
int rename_to_old(int directory, const std::string& name);

// A file without a name in a directory, for reading and writing by its owner: closing it deletes
// it. No descriptor, with errno set, if it cannot be created.
UniqueFd unnamed_file(const std::string& directory);

}  // namespace pi

#endif  // PI_NEW_FILE_H
