// SPDX-License-Identifier: MIT
// Files and messages without the C library's buffers, and without points at which a thread can be
// cancelled.
#ifndef PI_HEAPIT_SYSTEM_H
#define PI_HEAPIT_SYSTEM_H

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <initializer_list>
#include <string_view>

namespace pi::heapit {

// New files belong to this user alone; no link is followed as the last component. Never a standard
// descriptor, which other threads may write to although the program has closed it.
class Descriptor {
 public:
  Descriptor(const char* path, int flags)
      : number_(above_standard(static_cast<int>(::syscall(
            SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY, 0600)))) {}
  ~Descriptor() { close(number_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  explicit operator bool() const { return number_ >= 0; }
  int number() const { return number_; }

 private:
  static void close(int number) {
    const int error = errno;
    if (number >= 0) ::syscall(SYS_close, number);
    errno = error;
  }
  static int above_standard(int number) {
    if (number < 0 || number > STDERR_FILENO) return number;
    const long higher = ::syscall(SYS_fcntl, number, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    close(number);
    return static_cast<int>(higher);
  }

  const int number_;
};

// One line on stderr.
template <class... Parts>
void say(const Parts&... parts) {
  char line[1024];
  size_t used = 0;
  for (const std::string_view part :
       {std::string_view("heapit: "), std::string_view(parts)..., std::string_view(".\n")})
    for (const char c : part)
      if (used < sizeof line) line[used++] = (c >= ' ' && c <= '~') || c == '\n' ? c : '?';
  (void)!::syscall(SYS_write, STDERR_FILENO, line, used);
}

}  // namespace pi::heapit

#endif  // PI_HEAPIT_SYSTEM_H
