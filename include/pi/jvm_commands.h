// SPDX-License-Identifier: MIT
// The contract between the command server of JProf, in a Java virtual machine (JVM), and its client
// rtdriver: where they meet, and the form of their messages.
//
// A client of a TCP port first sends the line "KEY " and the key, and gets 'K'. Then:
// * classic: the client sends commands as text; the answer is 'K' (done) or 'N' (not done), or the
//   process id for QUERY_PID.
// * framed: the client sends the greeting and gets 'K'. Then both sides send frames: a length, four
//   bytes with the highest first, and as many bytes of text. An answer is a frame with 'K' or 'N',
//   frames of text, and an empty frame.
#ifndef PI_JVM_COMMANDS_H
#define PI_JVM_COMMANDS_H

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <pi/result.h>
#include <pi/user_socket.h>

namespace pi::jvm_commands {

constexpr std::string_view greeting = "\x0e\x0f\x0e\x0f";
constexpr std::string_view key_word = "KEY ";
constexpr char done = 'K', not_done = 'N';
constexpr size_t max_classic = 512;             // bytes of a classic message
constexpr size_t max_frame = size_t{64} << 10;  // bytes of text
constexpr size_t length_bytes = 4;
constexpr unsigned first_port = 8888, port_count = 8;  // a server takes the first free one

constexpr const char* directory_variable = "PITRACE_JVMS";
constexpr std::string_view socket_prefix = "jprof-", socket_suffix = ".socket";

// The directory of the sockets and keys of this user's JVMs. It need not exist.
inline Result<std::string> directory() {
  const char* named = ::secure_getenv(directory_variable);
  if (!named || !*named) return user_socket_directory();
  if (*named != '/') return Error{-1, "PITRACE_JVMS must be an absolute path."};
  return std::string(named);
}

inline std::string socket_name(uint32_t pid) {
  return std::string(socket_prefix) + std::to_string(pid) + std::string(socket_suffix);
}

inline std::string key_name(unsigned port) {
  return std::string(socket_prefix) + "port-" + std::to_string(port) + ".key";
}

inline std::string length_text(size_t length) {
  std::string text;
  for (int shift = 24; shift >= 0; shift -= 8)
    text += static_cast<char>(static_cast<unsigned char>(length >> shift));
  return text;
}

// The length at the beginning of text, which has at least length_bytes.
inline size_t read_length(std::string_view text) {
  size_t length = 0;
  for (size_t i = 0; i < length_bytes; ++i)
    length = length << 8 | static_cast<unsigned char>(text[i]);
  return length;
}

inline std::string frame(std::string_view text) {
  return length_text(text.size()) + std::string(text);
}

}  // namespace pi::jvm_commands

#endif  // PI_JVM_COMMANDS_H
