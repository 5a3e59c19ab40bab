// SPDX-License-Identifier: MIT
// libperfutil for C++: what a call returns, a value or an error with its code and sentence.
//
// Errors are values and no exceptions: a program must go on where it may not trace, where the
// module is not loaded, or where another process owns the trace, and destructors and hooks must not
// throw. It also works with -fno-exceptions. Result has the subset of std::expected (C++23) that it
// needs.
#ifndef PERFUTIL_RESULT_HPP
#define PERFUTIL_RESULT_HPP

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include <perfutil/errors.h>

namespace pitrace {

// A failed call: its return code, what happened and what to do about it.
class Error {
 public:
  Error(int code, std::string text) : code_(code), text_(std::move(text)) {}

  // The error of the call of this thread that has just returned code, with PiErrorText(); where
  // that is empty, with RcToString(code). May throw std::bad_alloc.
  static Error last(int code) {
    const char* const text = PiErrorText();
    return {code, *text != '\0' ? text : RcToString(code)};
  }

  int code() const noexcept { return code_; }  // PU_ERROR_*, PU_FAILURE or PI_ERROR_FORKED
  // The code's name and meaning; static storage.
  const char* name() const noexcept { return RcToString(code_); }
  // One or two sentences, never empty.
  const std::string& text() const noexcept { return text_; }

 private:
  int code_;
  std::string text_;
};

// A T, or the error that there is none of. operator* and operator-> need a value, error() an error:
// test it first.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool has_value() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return has_value(); }
  T& operator*() & noexcept { return *std::get_if<0>(&state_); }
  const T& operator*() const& noexcept { return *std::get_if<0>(&state_); }
  T&& operator*() && noexcept { return std::move(*std::get_if<0>(&state_)); }
  T* operator->() noexcept { return std::get_if<0>(&state_); }
  const T* operator->() const noexcept { return std::get_if<0>(&state_); }
  const Error& error() const noexcept { return *std::get_if<1>(&state_); }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}

  // The result of a function of the C interface that has just returned rc.
  static Result of(int rc) { return rc >= PU_SUCCESS ? Result() : Result(Error::last(rc)); }

  bool has_value() const noexcept { return !error_; }
  explicit operator bool() const noexcept { return has_value(); }
  const Error& error() const noexcept { return *error_; }

 private:
  std::optional<Error> error_;
};

}  // namespace pitrace

#endif  // PERFUTIL_RESULT_HPP
