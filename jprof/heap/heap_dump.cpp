// SPDX-License-Identifier: MIT
// Dumps the heap of this JVM: space on the disk, the JVM's own dump, the same as log-hd, a
// comparison.
#include "heap/heap_dump.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <mutex>
#include <system_error>

#include <pi/file_size_signal.h>
#include <pi/files.h>
#include <pi/log_hd.h>
#include <pi/new_file.h>

#include "heap/jvm_dump.h"
#include "heap/jvm_sizes.h"
#include "name_logs.h"
#include "return_codes.h"

namespace pi::jprof {
namespace {

constexpr uint64_t mib = 1 << 20;

std::string reason(int error) {
  return std::generic_category().message(error);
}

// References of 4 bytes and short headers become 8 bytes and 25 in the JVM's dump: it has at most
// 2.1 times the bytes of the objects, and some for classes and names. The log-hd is there at the
// same time, of a third of that or less.
uint64_t space_for(uint64_t heap) {
  return heap / 10 * 21 + 64 * mib;
}

// The files of one dump.
class DumpFiles {
 public:
  // path: of the log-hd.
  static Result<DumpFiles> in_directory_of(const std::string& path) {
    DumpFiles files;
    const size_t slash = path.rfind('/');
    files.folder_ = path.substr(0, slash == 0 ? 1 : slash);
    files.name_ = path.substr(slash + 1);
    files.directory_ = UniqueFd(::open(files.folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!files.directory_)
      return Error{no_logs, "'" + files.folder_ + "' cannot be opened: " + reason(errno) +
                                ". LOGPATH=DIR names another directory"};
    return files;
  }

  std::string path() const { return folder_ + "/" + name_; }
  std::string original_path() const { return path() + extension; }
  // The same file, whatever happens to the directory's path.
  std::string path_for_jvm() const { return path_of(directory_.get()) + "/" + name_ + extension; }

  Status check_space(uint64_t heap) const {
    struct statvfs disk {};
    if (::fstatvfs(directory_.get(), &disk) != 0) return {};
    const uint64_t free = uint64_t{disk.f_bavail} * disk.f_frsize;
    if (free >= space_for(heap)) return {};
    return Error{no_logs, "'" + folder_ + "' has " + std::to_string(free / mib) +
                              " MiB free, and the dump of a heap of " + std::to_string(heap / mib) +
                              " MiB may need " + std::to_string(space_for(heap) / mib) +
                              ". Free some, or use a directory of another disk: LOGPATH=DIR"};
  }

  // An .hprof that an earlier process with the same pid left becomes .hprof.old.
  Status move_old_away() const {
    const std::string original = name_ + extension;
    struct stat status {};
    if (::fstatat(directory_.get(), original.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return {};
    if (S_ISREG(status.st_mode) && rename_to_old(directory_.get(), original) == 0) return {};
    return Error{no_logs, "'" + original_path() +
                              "' exists and cannot be renamed. Remove it, or choose another name "
                              "with LOGPREFIX=P"};
  }

  void remove_original() const { ::unlinkat(directory_.get(), (name_ + extension).c_str(), 0); }

  // Writes the log-hd, and removes the .hprof when it is no longer needed.
  Status convert(const log_hd::Facts& facts) const {
    const auto failure = [this](const std::string& why) {
      return Error{no_logs, "'" + path() + "' cannot be written: " + why + ". The dump is in '" +
                                original_path() + "', which hdump reads, too"};
    };
    const NoFileSizeSignal quiet;
    struct stat status {};
    const UniqueFd original(::openat(directory_.get(), (name_ + extension).c_str(),
                                     O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!original || ::fstat(original.get(), &status) != 0) return failure(reason(errno));
    if (!S_ISREG(status.st_mode) || status.st_uid != ::geteuid())
      return failure("the JVM's file was replaced by another one");
    auto file = NewFile::create_in(directory_.get(), name_, ".log-hd-", 0600);
    if (!file) return failure(file.error().message);
    if (const auto written = log_hd::write(original.get(), file->fd(), facts); !written)
      return failure(written.error().message);
    if (const auto same = log_hd::compare(file->fd(), original.get()); !same)
      return failure("it was read again, and " + same.error().message);
    if (const int error = file->commit(true); error != 0) return failure(reason(error));
    remove_original();
    return {};
  }

 private:
  static constexpr const char* extension = ".hprof";
  std::string folder_, name_;
  UniqueFd directory_;
};

Status write_dump(jvmtiEnv* jvmti, JNIEnv* jni, const DumpFiles& files, bool live) {
  if (const auto enough = files.check_space(used_heap(jni)); !enough) return enough;
  if (const auto moved = files.move_old_away(); !moved) return moved;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  if (const auto dumped = dump_heap(jni, files.path_for_jvm(), live); !dumped) {
    files.remove_original();
    return Error{no_logs,
                 "the JVM cannot write '" + files.original_path() + "': " + dumped.error().message};
  }
  log_hd::Facts facts = facts_of_jvm(jvmti, jni);
  facts.agent = JPROF_VERSION;
  facts.pid = static_cast<uint32_t>(::getpid());
  facts.time_ms =
      static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
  return files.convert(facts);
}

}  // namespace

Answer take_heap_dump(jvmtiEnv* jvmti, JNIEnv* jni, const Options& options, bool live) {
  static std::mutex one_at_a_time;
  static unsigned written = 0;
  const std::lock_guard lock(one_at_a_time);
  const std::string kind = "hd." + std::to_string(written + 1);
  const auto files = DumpFiles::in_directory_of(
      log_path(options, kind.c_str(), static_cast<uint32_t>(::getpid())));
  if (!files) return failed(files.error().message);
  if (const auto done = write_dump(jvmti, jni, *files, live); !done)
    return failed(done.error().message);
  ++written;
  return {true, "written: '" + files->path() + "'"};
}

}  // namespace pi::jprof
