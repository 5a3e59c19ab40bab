// SPDX-License-Identifier: MIT
// The bytes of HotSpot's attach protocol, version 1: requests, replies, and replies as text to
// show.
#ifndef PI_ATTACH_PROTOCOL_H
#define PI_ATTACH_PROTOCOL_H

#include <optional>
#include <string>
#include <string_view>

namespace pi::attach {

// "load": the JVM loads a library by its absolute path and calls its Agent_OnAttach(options).
std::string load_request(const std::string& library, const std::string& options);

struct Reply {
  int code = 0;                   // what the JVM says about the request itself: 0 is success
  std::optional<int> agent_code;  // what Agent_OnAttach() returned
  std::string text;               // what follows the code
};

// Nothing when the bytes are not a reply.
std::optional<Reply> parse_reply(std::string_view bytes);

// Whether the JVM was started with -XX:-EnableDynamicAgentLoading. JDK 21 and later answer with
// code 0, earlier ones with an error.
bool refuses_agents(const Reply& reply);

// Makes untrusted text safe for a terminal or a log: line feeds stay, any other byte outside
// printable ASCII becomes \xNN. Empty lines at the end are removed.
std::string escaped(std::string_view text);

}  // namespace pi::attach

#endif  // PI_ATTACH_PROTOCOL_H
