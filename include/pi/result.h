// SPDX-License-Identifier: MIT
// A value, or an error with a sentence for the user: the failure and, if known, the remedy.
#ifndef PI_RESULT_H
#define PI_RESULT_H

#include <string>
#include <utility>
#include <variant>

namespace pi {

struct Error {
  int code = -1;        // defined by each function; libperfutil: PU_*
  std::string message;  // one or two sentences without a final line feed
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  explicit operator bool() const { return state_.index() == 0; }
  T& operator*() { return std::get<0>(state_); }
  const T& operator*() const { return std::get<0>(state_); }
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : failed_(true), error_(std::move(error)) {}

  explicit operator bool() const { return !failed_; }
  const Error& error() const { return error_; }

 private:
  bool failed_ = false;
  Error error_;
};

using Status = Result<void>;

}  // namespace pi

#endif  // PI_RESULT_H
