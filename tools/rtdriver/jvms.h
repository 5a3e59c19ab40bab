// SPDX-License-Identifier: MIT
// Finds the sockets and keys of JVMs whose command server the caller may use.
#ifndef PI_RTDRIVER_JVMS_H
#define PI_RTDRIVER_JVMS_H

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <pi/result.h>

namespace pi::rtdriver {

// A private directory with sockets of one user.
struct Directory {
  std::string path;
  uid_t owner;
};

struct JvmSocket {
  uint32_t pid = 0;
  std::string path;
  uid_t owner = 0;
};

// The directories of this user; for root, those of all users. The environment variable PITRACE_JVMS
// names the only one. Directories that another user may have prepared are left out.
Result<std::vector<Directory>> socket_directories();

// The sockets in them, by process id, at most 1024 of each. The JVM may have ended.
std::vector<JvmSocket> find_sockets(const std::vector<Directory>& directories);

// Those with this process id: several if JVMs in containers have the same one.
std::vector<JvmSocket> sockets_of(const std::vector<JvmSocket>& all, uint32_t pid);

// The key of a port, from a file, or from the directories. owner: the only user whose file it may
// be; nothing: any.
Result<std::string> read_key(const std::string& file, std::optional<uid_t> owner = {});
Result<std::string> find_key(const std::vector<Directory>& directories, unsigned port);

}  // namespace pi::rtdriver

#endif  // PI_RTDRIVER_JVMS_H
