// SPDX-License-Identifier: MIT
// Carries a command to the recorder and its answer back.
#include <fmt/format.h>

#include "cli.h"
#include "commands.h"
#include "perfutil.h"
#include "recorder_socket.h"

namespace pi::swtrace {
namespace {

Result<Reply> exchange(const Request& request) {
  const auto path = socket_path();
  if (!path) return path.error();
  const auto peer = connect_to(*path);
  if (!peer) return peer.error();
  std::string packet;
  // No time limit on the answer: writing a large trace takes as long as the disk needs.
  if (send_packet(peer->get(), encode_request(request)) &&
      receive_packet(peer->get(), reply_bytes_most, packet))
    if (auto reply = decode_reply(packet)) return *reply;
  return Error{PU_FAILURE,
               "The recorder did not answer; it may just have ended. Try again, or start a new one "
               "with 'swtrace init'."};
}

}  // namespace

std::optional<Reply> ask(const Request& request) {
  auto reply = exchange(request);
  if (!reply) {
    cli::error(reply.error().message);
    return std::nullopt;
  }
  return *reply;
}

int ask_and_report(const Request& request) {
  const auto reply = ask(request);
  if (!reply) return cli::exit_failure;
  if (reply->rc == PU_SUCCESS) return cli::exit_good;
  cli::error(reply->text);
  return cli::exit_failure;
}

}  // namespace pi::swtrace
