// SPDX-License-Identifier: MIT
// What a context of a2n_context.h contains, and how its functions turn exceptions into return
// codes.
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
  // Created, with the settings of the environment, when it is first asked for.
  a2n::Library& library();
  // Drops the library; the error text stays.
  void reset() { library_.reset(); }

  // Whether the environment made this setting. Asked only after library().
  bool is_fixed(a2n::Fixed setting) const { return (fixed_ & setting) != 0; }

  // Keep the text of an error for a2n_get_error_text() and return the code: rc, or that a file does
  // not exist; A2N_SUCCESS clears the text.
  int report(const pi::Status& status, int rc);
  int report(int rc, std::string text);
  const char* error_text() const { return error_text_.c_str(); }

 private:
  std::unique_ptr<a2n::Library> library_;
  uint32_t fixed_ = 0;  // bits of Fixed
  std::string error_text_;
};

namespace a2n {

// No exception leaves a C function, and no thread is cancelled inside it.
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

// The same for work that cannot return a code: it returns a value, which is failed's after an
// error.
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
