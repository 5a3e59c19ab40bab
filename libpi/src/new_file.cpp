// SPDX-License-Identifier: MIT
// A new file that gets its name only when it is complete and on the disk.
#include <pi/new_file.h>

#include <fcntl.h>
#include <pi/above_standard.h>
#include <pi/files.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <system_error>

namespace pi {
namespace {

Error failure(int error) {
  return {error, std::generic_category().message(error)};
}

constexpr int directory_flags = O_PATH | O_DIRECTORY | O_CLOEXEC;

// The name must not be predictable: in a directory where others may write, they could create it.
std::string random_name(const char* prefix) {
  uint64_t number = 0;
  if (::getrandom(&number, sizeof number, GRND_NONBLOCK) != sizeof number)
    number = static_cast<uint64_t>(::getpid());
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(number));
  return std::string(prefix) + digits + ".tmp";
}

// A device, a pipe or a socket, also at the end of a link: as root, a report named /dev/null would
// take the device's place. So would one named /dev/stdout, a link to any file.
bool is_special(int directory, const std::string& name) {
  struct stat status {
  }, link{};
  if (::fstatat(directory, name.c_str(), &status, 0) != 0) return false;
  if (!S_ISREG(status.st_mode)) return !S_ISDIR(status.st_mode);
  if (::fstatat(directory, name.c_str(), &link, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISLNK(link.st_mode))
    return false;
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    struct stat stream {};
    if (::fstat(fd, &stream) == 0 && stream.st_dev == status.st_dev &&
        stream.st_ino == status.st_ino)
      return true;
  }
  return false;
}

// A thread may have descriptors of its own.
std::string link_of(int fd) {
  return "/proc/thread-self/fd/" + std::to_string(fd);
}

// Opens a file without a name, which the kernel removes if the process is killed. None if the file
// system does not support that, or if the file could not be named later because /proc is missing.
UniqueFd open_unnamed(int directory, mode_t mode) {
  UniqueFd fd(::openat(directory, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, mode));
  struct stat status {};
  if (fd && ::lstat(link_of(fd.get()).c_str(), &status) != 0) fd.reset();
  return fd;
}

// Some file systems do not support fsync() and return these errors.
int sync_file(int fd) {
  if (::fsync(fd) == 0 || errno == EINVAL || errno == EROFS || errno == ENOTSUP) return 0;
  return errno;
}

// Opens the directory again, because an O_PATH descriptor cannot be synced. A directory without
// read permission cannot be synced; the file system writes it some seconds later.
void sync_directory(int directory) {
  const UniqueFd readable(::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (readable) (void)::fsync(readable.get());
}

}  // namespace

Result<NewFile> NewFile::create(const std::string& path, const char* prefix, mode_t mode,
                                Umask umask) {
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "" : path.substr(0, slash + 1);
  return make(UniqueFd(::open(folder.empty() ? "." : folder.c_str(), directory_flags)), folder,
              path.substr(folder.size()), prefix, mode, umask);
}

Result<NewFile> NewFile::create_in(int directory, const std::string& name, const char* prefix,
                                   mode_t mode, Umask umask) {
  return make(UniqueFd(::openat(directory, ".", directory_flags)), "", name, prefix, mode, umask);
}

Result<NewFile> NewFile::make(UniqueFd directory, const std::string& folder,
                              const std::string& target, const char* prefix, mode_t mode,
                              Umask umask) {
  const int error = errno;
  if (target.empty() || target == "." || target == "..") return failure(EISDIR);
  if (!directory) return failure(error);
  if (is_special(directory.get(), target)) return Error{not_regular, "it is not a regular file"};
  const mode_t first_mode = umask == Umask::applied ? mode : 0600;
  constexpr int attempts = 100;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    const std::string name = random_name(prefix);
    UniqueFd fd = open_unnamed(directory.get(), first_mode);
    const bool named = !fd;
    if (named)
      fd = UniqueFd(::openat(directory.get(), name.c_str(),
                             O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, first_mode));
    if (!fd && errno == EEXIST) continue;
    fd = above_standard(std::move(fd));
    if (!fd) return failure(errno);
    NewFile file(std::move(directory), std::move(fd), folder, target, name, named);
    if (umask == Umask::ignored && ::fchmod(file.fd(), mode) != 0) return failure(errno);
    return file;
  }
  return failure(EEXIST);
}

NewFile::~NewFile() {
  (void)give_up(0);
}

int NewFile::give_up(int error) {
  if (directory_ && named_ && !temporary_.empty()) ::unlinkat(directory_.get(), name_.c_str(), 0);
  temporary_.clear();
  return error;
}

// A link cannot replace a file, a rename can: so the file gets the temporary name first.
int NewFile::link_temporary() {
  if (named_) return 0;
  if (::linkat(AT_FDCWD, link_of(fd_.get()).c_str(), directory_.get(), name_.c_str(),
               AT_SYMLINK_FOLLOW) != 0)
    return errno;
  named_ = true;
  return 0;
}

int NewFile::publish(bool keep_old) {
  if (temporary_.empty()) return 0;
  if (const int error = link_temporary(); error != 0) return error;
  if (keep_old)
    if (const int error = rename_to_old(directory_.get(), target_); error != 0) return error;
  if (::renameat(directory_.get(), name_.c_str(), directory_.get(), target_.c_str()) != 0)
    return errno;
  temporary_.clear();
  return 0;
}

int NewFile::sync() const {
  return sync_file(fd_.get());
}

int NewFile::complete() {
  if (!fd_) return 0;
  if (const int error = sync_file(fd_.get()); error != 0) return error;
  if (!named_) {
    // btrfs writes a file without a name to the disk only once it has one. The first sync keeps the
    // time with a temporary name short.
    if (const int error = link_temporary(); error != 0) return error;
    if (const int error = sync_file(fd_.get()); error != 0) return error;
  }
  // Network file systems report a full disk only here.
  return ::close(fd_.release()) != 0 && errno != EINTR ? errno : 0;
}

int NewFile::commit(bool keep_old) {
  if (const int error = complete(); error != 0) return give_up(error);
  if (const int error = publish(keep_old); error != 0) return give_up(error);
  sync_directory(directory_.get());
  return 0;
}

int rename_to_old(int directory, const std::string& name) {
  if (::renameat(directory, name.c_str(), directory, (name + ".old").c_str()) == 0) return 0;
  return errno == ENOENT ? 0 : errno;
}

UniqueFd unnamed_file(const std::string& directory) {
  UniqueFd fd(::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (fd) return fd;
  // Not every file system supports O_TMPFILE.
  std::string name = directory + "/.unnamed-XXXXXX";
  fd = UniqueFd(::mkostemp(name.data(), O_CLOEXEC));
  if (fd) ::unlink(name.c_str());
  return fd;
}

}  // namespace pi
