// SPDX-License-Identifier: MIT
// Sends requests by HTTP, each from a child process without rights, which reads what the store
// answers.
#ifndef PUSH_SENDER_H
#define PUSH_SENDER_H

#include <pi/result.h>

#include <string>
#include <vector>

#include "store.h"

namespace push {

struct Connection {
  std::vector<std::string> headers;  // secret: of the user
  std::string ca;                    // certificates to trust; empty: those of the system
  std::string certificate, key;      // of this client; empty: none
  long timeout_s = 30;               // of a request
};

struct Outcome {
  // sent; the store cannot take it now; it will not take this file; it takes nothing from us as
  // things are.
  enum class Kind { sent, later, refused, stop } kind = Kind::stop;
  long status = 0;         // of HTTP; 0: there was no answer
  long retry_after_s = 0;  // that the store asks for
  std::string text;        // printable: why, or a remark; may be empty
};

// As OTLP demands: 429, 502, 503 and 504 are tried again, other errors are not. Where this host's
// settings are wrong (401, 403, 404, 405, 407, a redirection), Kind::stop.
Outcome::Kind kind_of(long status);

// An error if the address is no http or https one, or contains credentials.
pi::Status check_url(const std::string& url);
// Whether what is sent there can be read by others on the way.
bool is_in_the_clear(const std::string& url);

Outcome send(const Request& request, const Connection& connection, Store store);

}  // namespace push

#endif  // PUSH_SENDER_H
