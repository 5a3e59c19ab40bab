// SPDX-License-Identifier: MIT
// The state of an a2n_context, and the conversion of exceptions to return codes.
#ifndef A2N_API_STATE_H
#define A2N_API_STATE_H

#include <cstdint>
#include <memory>
#include <new>
#include <string>

#include "a2n_context.h"
#include "environment.h"
#include "lookup/library.h"
#include "pi/no_cancel.h"
#include "pi/result.h"

struct a2n_context {
 public:
  // Created by the first call, with the settings from the environment. Inline: every look-up of an
  // address calls it.
  a2n::Library& library() {
    if (!library_) create_library();
    return *library_;
  }
  // Drops the library; the error text stays.
  void reset() { library_.reset(); }

  // Whether an environment variable fixes this setting. Call it only after library().
  bool is_fixed(a2n::Fixed setting) const { return (fixed_ & setting) != 0; }

  // Both store the error text for a2n_get_error_text() and return the code. The first one returns
  // A2N_SUCCESS and clears the text if there is no error, A2N_FILE_NOT_FOUND for ENOENT, else rc.
  int report(const pi::Status& status, int rc);
  int report(int rc, std::string text);
  const char* error_text() const { return error_text_.c_str(); }

 private:
  void create_library();

  std::unique_ptr<a2n::Library> library_;
  uint32_t fixed_ = 0;  // bits of Fixed
  std::string error_text_;
};

namespace a2n {

// Runs the body of a C function: no exception leaves it, and no thread is cancelled inside it.
template <class Work>
int guarded(a2n_context* context, Work work) noexcept {
  if (!context) return A2N_INVALID_ARGUMENT;
  const pi::NoCancel off;
  try {
    return work(context->library());
  } catch (const std::bad_alloc&) {
    return A2N_MEMORY_ERROR;
  } catch (...) {
    return A2N_INTERNAL_ERROR;
  }
}

// The same for functions that return a value instead of a code; failed: the value after an error.
template <class Value, class Work>
Value guarded_value(a2n_context* context, Value failed, Work work) noexcept {
  Value value = failed;
  guarded(context, [&](Library& lib) {
    value = work(lib);
    return A2N_SUCCESS;
  });
  return value;
}

}  // namespace a2n

#endif  // A2N_API_STATE_H
