// SPDX-License-Identifier: MIT
// What the functions of a2n.h work on.
#include "api_state.h"

#include <cerrno>
#include <memory>

#include "environment.h"

namespace a2n {
namespace {

std::unique_ptr<Library> library;
uint32_t fixed = 0;

}  // namespace

std::string error_text;

Library& current_library() {
  if (!library) {
    library = std::make_unique<Library>();
    fixed = apply_environment(*library);
  }
  return *library;
}

void forget_library() {
  library.reset();
}

uint32_t fixed_settings() {
  return fixed;
}

int told(const pi::Status& status, int rc) {
  error_text = status ? "" : status.error().message;
  return status ? A2N_SUCCESS : status.error().code == ENOENT ? A2N_FILE_NOT_FOUND : rc;
}

}  // namespace a2n
