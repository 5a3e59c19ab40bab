// SPDX-License-Identifier: MIT
// Parser of Rust's v0 mangling: rust_v0.cpp has paths and types, rust_v0_const.cpp constants.
#ifndef A2N_RUST_V0_H
#define A2N_RUST_V0_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace a2n {

// Positions, also those in back references, are relative to the character after "_R".
class RustV0 {
 public:
  explicit RustV0(std::string_view in) : in_(in) {}
  std::optional<std::string> run();

 private:
  bool enter();
  void leave() { --depth_; }
  void fail() { failed_ = true; }
  void print(std::string_view text);
  char next();
  bool eat(char c);

  uint64_t base62();
  uint64_t optional_base62(char tag);
  std::string identifier();
  std::string_view hex_digits();
  void print_lifetime(uint64_t index);

  template <class Read>
  void back_reference(Read read);
  template <class Body>
  void in_binder(Body body);
  // Calls item for each item up to an 'E'; returns their number.
  template <class Item>
  size_t list(const char* separator, Item item);

  void path(bool in_value);
  void nested_path(bool in_value);
  void impl_path();
  void generic_argument();
  static const char* basic_type(char tag);
  void type();
  void reference(char tag);
  void function_type();
  void dyn_type();
  void dyn_trait();
  bool path_left_open();

  // in_value: the constant is inside an expression, so it needs no braces.
  void constant(bool in_value);
  void structured_constant(char tag, bool in_value);
  void constant_fields();
  void print_integer();
  void print_char();
  void print_string();

  std::string_view in_;
  size_t at_ = 0;
  std::string out_;
  uint64_t lifetimes_ = 0;  // number of lifetimes bound by the enclosing binders
  int depth_ = 0;
  int steps_ = 0;
  bool silent_ = false;
  bool failed_ = false;
};

// Calls read at an earlier position, then continues after the reference.
template <class Read>
void RustV0::back_reference(Read read) {
  const size_t here = at_ - 1;  // position of the 'B'
  const uint64_t target = base62();
  if (failed_ || target >= here) return fail();
  if (silent_) return;
  const size_t after = at_;
  at_ = target;
  read();
  at_ = after;
}

template <class Item>
size_t RustV0::list(const char* separator, Item item) {
  size_t count = 0;
  while (!failed_ && !eat('E')) {
    if (count++ > 0) print(separator);
    item();
  }
  return count;
}

}  // namespace a2n

#endif  // A2N_RUST_V0_H
