// SPDX-License-Identifier: MIT
// Sends a request to the recorder and returns its reply.
#include "cli.h"
#include "commands.h"
#include "perfutil.h"
#include "recorder.h"
#include "service.h"

namespace pi::swtrace {
std::optional<Reply> ask(const Request& request) {
  const auto path = service::socket_path(recorder_names);
  auto reply = path ? service::ask_service(*path, recorder_names, request) : path.error();
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
