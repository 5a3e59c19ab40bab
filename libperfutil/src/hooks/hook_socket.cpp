// SPDX-License-Identifier: MIT
// The path of the socket at which a recorder with perf as its source accepts user hooks.
#include "hook_socket.h"

#include <cstdlib>
#include <exception>

#include <pi/user_socket.h>

namespace pi::perfutil {
namespace {

char path_found[sizeof sockaddr_un::sun_path];

// Not a C++ object with a constructor: that could run after another library's constructor, which
// may write a hook.
__attribute__((constructor)) void find_path() {
  try {
    const char* named = ::secure_getenv("PITRACE_SOCKET");
    const std::string path =
        named && *named == '/' ? std::string(named) + ".hooks" : user_socket_directory() + "/hooks";
    if (path.size() < sizeof path_found) std::memcpy(path_found, path.c_str(), path.size() + 1);
  } catch (const std::exception&) {
    // No memory: no user hooks through a recorder.
  }
}

}  // namespace

const char* hook_socket_path() {
  return path_found;
}

}  // namespace pi::perfutil
