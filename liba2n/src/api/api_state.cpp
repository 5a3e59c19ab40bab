// SPDX-License-Identifier: MIT
// The state of an a2n_context.
#include "api_state.h"

#include <cerrno>
#include <utility>

void a2n_context::create_library() {
  auto created = std::make_unique<a2n::Library>();
  fixed_ = a2n::apply_environment(*created);
  library_ = std::move(created);
}

int a2n_context::report(const pi::Status& status, int rc) {
  error_text_ = status ? "" : status.error().message;
  return status ? A2N_SUCCESS : status.error().code == ENOENT ? A2N_FILE_NOT_FOUND : rc;
}

int a2n_context::report(int rc, std::string text) {
  error_text_ = std::move(text);
  return rc;
}
