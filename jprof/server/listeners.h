// SPDX-License-Identifier: MIT
// Where the command server listens: a Unix socket in a private directory, and on request a TCP port
// of this machine, whose key is in a file beside the socket.
#ifndef PI_JPROF_LISTENERS_H
#define PI_JPROF_LISTENERS_H

#include <atomic>
#include <cstdint>
#include <string>

#include <pi/result.h>
#include <pi/unique_fd.h>

namespace pi::jprof {

class Listeners {
 public:
  Listeners() = default;
  Listeners(const Listeners&) = delete;
  Listeners& operator=(const Listeners&) = delete;
  ~Listeners() { remove_files(); }

  // Replaces the socket of an ended process with the same pid, and removes those of others.
  Status open_socket(uint32_t pid);
  // The first free port of first and the seven after it.
  Status open_port(unsigned first);

  int socket() const { return socket_.get(); }
  int port_socket() const { return port_socket_.get(); }  // -1: none
  const std::string& path() const { return path_; }
  unsigned port() const { return port_; }  // 0: none
  const std::string& key() const { return key_; }

  // Removes the files of socket and key. From any thread, any number of times.
  void remove_files();
  void close() {
    socket_.reset();
    port_socket_.reset();
  }

 private:
  // A server in another network namespace can have the same port, and its key the same place.
  bool is_key_of_other(const std::string& path) const;
  Status write_key();

  UniqueFd socket_, port_socket_;
  std::string directory_, path_, key_path_, key_;
  unsigned port_ = 0;
  std::atomic<bool> has_files_ = false;
};

}  // namespace pi::jprof

#endif  // PI_JPROF_LISTENERS_H
