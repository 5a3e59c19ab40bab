// SPDX-License-Identifier: MIT
// Rust's v0 mangling (RFC 2603): a recursive-descent parser that prints while it parses.
#include "rust_v0.h"

#include <charconv>
#include <cstdint>

#include "demangle.h"
#include "punycode.h"

namespace a2n {

// Limits for hostile names, which nest deeply and repeat themselves; real names stay far below.
constexpr int max_depth = 200;
constexpr int max_steps = 20000;
constexpr size_t max_output = 1 << 16;

bool RustV0::enter() {
  return ++depth_ <= max_depth && ++steps_ <= max_steps;
}

void RustV0::print(std::string_view text) {
  if (silent_ || failed_) return;
  out_ += text;
  if (out_.size() > max_output) failed_ = true;
}

char RustV0::next() {
  if (at_ >= in_.size()) return fail(), '\0';
  return in_[at_++];
}

bool RustV0::eat(char c) {
  if (failed_ || at_ >= in_.size() || in_[at_] != c) return false;
  ++at_;
  return true;
}

// Base-62 number with digits 0-9a-zA-Z, terminated by '_': "_" is 0, "0_" is 1.
uint64_t RustV0::base62() {
  if (eat('_')) return 0;
  uint64_t value = 0;
  while (!failed_ && !eat('_')) {
    const char c = next();
    uint64_t digit = 0;
    if (c >= '0' && c <= '9') {
      digit = static_cast<uint64_t>(c - '0');
    } else if (c >= 'a' && c <= 'z') {
      digit = static_cast<uint64_t>(c - 'a') + 10;
    } else if (c >= 'A' && c <= 'Z') {
      digit = static_cast<uint64_t>(c - 'A') + 36;
    } else {
      fail();
    }
    if (value > (UINT64_MAX - digit) / 62 - 1) return fail(), 0;
    value = value * 62 + digit;
  }
  return value + 1;
}

uint64_t RustV0::optional_base62(char tag) {
  return eat(tag) ? base62() + 1 : 0;
}

std::string RustV0::identifier() {
  const bool unicode = eat('u');
  size_t length = 0;
  if (!eat('0')) {  // numbers have no leading zeros: a digit after '0' is not part of the length
    const auto [end, error] = std::from_chars(in_.data() + at_, in_.data() + in_.size(), length);
    if (failed_ || error != std::errc()) return fail(), "";
    at_ = static_cast<size_t>(end - in_.data());
  }
  eat('_');  // separates the length from a name that begins with a digit or '_'
  if (length > in_.size() - at_) return fail(), "";
  const std::string_view text = in_.substr(at_, length);
  at_ += length;
  if (!unicode) return std::string(text);
  if (auto decoded = decode_punycode(text)) return *decoded;
  return "punycode{" + std::string(text) + "}";
}

// Prints "for<'a, 'b> " of a function type or dyn bound; body may use these lifetimes.
template <class Body>
void RustV0::in_binder(Body body) {
  const uint64_t count = optional_base62('G');
  if (count > 256) return fail();
  const uint64_t outer = lifetimes_;
  if (count > 0) {
    print("for<");
    for (uint64_t i = 0; i < count; ++i) {
      if (i > 0) print(", ");
      ++lifetimes_;
      print_lifetime(1);
    }
    print("> ");
  }
  body();
  lifetimes_ = outer;
}

// An index counts outwards from the innermost binder; 0 is an erased lifetime.
void RustV0::print_lifetime(uint64_t index) {
  if (index == 0) return print("'_");
  if (index > lifetimes_) return silent_ ? void() : fail();
  const uint64_t depth = lifetimes_ - index;
  if (depth < 26) {
    const char name[] = {'\'', static_cast<char>('a' + depth), '\0'};
    print(name);
  } else {
    print("'_" + std::to_string(depth));
  }
}

void RustV0::path(bool in_value) {
  if (!enter()) return fail();
  switch (next()) {
    case 'C':
      optional_base62('s');
      print(identifier());
      break;
    case 'N':
      nested_path(in_value);
      break;
    case 'M':
      impl_path();
      print("<");
      type();
      print(">");
      break;
    case 'X':
      impl_path();
      [[fallthrough]];
    case 'Y':
      print("<");
      type();
      print(" as ");
      path(false);
      print(">");
      break;
    case 'I':
      path(in_value);
      if (in_value) print("::");
      print("<");
      list(", ", [this] { generic_argument(); });
      print(">");
      break;
    case 'B':
      back_reference([this, in_value] { path(in_value); });
      break;
    default:
      fail();
  }
  leave();
}

void RustV0::nested_path(bool in_value) {
  const char space = next();
  path(in_value);
  const uint64_t number = optional_base62('s');
  const std::string name = identifier();
  if (space >= 'A' && space <= 'Z') {  // a namespace of the compiler
    print("::{");
    print(space == 'C' ? "closure" : space == 'S' ? "shim" : std::string(1, space));
    if (!name.empty()) print(":" + name);
    print("#" + std::to_string(number) + "}");
  } else if (space >= 'a' && space <= 'z') {
    if (!name.empty()) print("::" + name);
  } else {
    fail();
  }
}

// Parses the path of the impl block without printing it: the readable name omits it.
void RustV0::impl_path() {
  const bool outer = silent_;
  silent_ = true;
  optional_base62('s');
  path(false);
  silent_ = outer;
}

void RustV0::generic_argument() {
  if (eat('L')) {
    print_lifetime(base62());
  } else if (eat('K')) {
    constant(false);
  } else {
    type();
  }
}

const char* RustV0::basic_type(char tag) {
  static constexpr const char* names[26] = {
      "i8",    "bool",  "char", "f64", "str",   "f32",  nullptr, "u8",    "isize",
      "usize", nullptr, "i32",  "u32", "i128",  "u128", "_",     nullptr, nullptr,
      "i16",   "u16",   "()",   "...", nullptr, "i64",  "u64",   "!"};
  return tag >= 'a' && tag <= 'z' ? names[tag - 'a'] : nullptr;
}

void RustV0::type() {
  if (!enter()) return fail();
  const char tag = next();
  if (const char* name = basic_type(tag)) {
    print(name);
    return leave();
  }
  switch (tag) {
    case 'R':
    case 'Q':
      reference(tag);
      break;
    case 'P':
    case 'O':
      print(tag == 'P' ? "*const " : "*mut ");
      type();
      break;
    case 'A':
    case 'S':
      print("[");
      type();
      if (tag == 'A') {
        print("; ");
        constant(true);
      }
      print("]");
      break;
    case 'T':
      print("(");
      if (list(", ", [this] { type(); }) == 1) print(",");
      print(")");
      break;
    case 'F':
      in_binder([this] { function_type(); });
      break;
    case 'D':
      dyn_type();
      break;
    case 'B':
      back_reference([this] { type(); });
      break;
    default:
      if (at_ > 0) --at_;
      path(false);
  }
  leave();
}

void RustV0::reference(char tag) {
  print("&");
  if (eat('L')) {
    if (const uint64_t lifetime = base62()) {
      print_lifetime(lifetime);
      print(" ");
    }
  }
  if (tag == 'Q') print("mut ");
  type();
}

void RustV0::function_type() {
  if (eat('U')) print("unsafe ");
  if (eat('K')) {
    std::string abi = "C";
    if (!eat('C')) {
      abi = identifier();
      for (char& c : abi) c = c == '_' ? '-' : c;
    }
    print("extern \"" + abi + "\" ");
  }
  print("fn(");
  list(", ", [this] { type(); });
  print(")");
  if (eat('u')) return;  // returns nothing
  print(" -> ");
  type();
}

void RustV0::dyn_type() {
  print("dyn ");
  in_binder([this] { list(" + ", [this] { dyn_trait(); }); });
  if (!eat('L')) return fail();
  if (const uint64_t lifetime = base62()) {
    print(" + ");
    print_lifetime(lifetime);
  }
}

// A trait whose "Name = Type" bindings go into the same brackets as its generic arguments.
void RustV0::dyn_trait() {
  bool open = path_left_open();
  while (eat('p')) {
    print(open ? ", " : "<");
    open = true;
    print(identifier() + " = ");
    type();
  }
  if (open) print(">");
}

bool RustV0::path_left_open() {
  if (!enter()) return fail(), false;
  bool open = false;
  if (eat('B')) {
    back_reference([this, &open] { open = path_left_open(); });
  } else if (eat('I')) {
    path(false);
    print("<");
    list(", ", [this] { generic_argument(); });
    open = true;
  } else {
    path(false);
  }
  leave();
  return open;
}

std::optional<std::string> RustV0::run() {
  path(true);
  // The instantiating crate is not part of the readable name.
  if (!failed_ && at_ < in_.size() && in_[at_] >= 'A' && in_[at_] <= 'Z') {
    silent_ = true;
    path(false);
  }
  const bool suffix = at_ < in_.size() && (in_[at_] == '.' || in_[at_] == '$');
  if (failed_ || (at_ != in_.size() && !suffix)) return std::nullopt;
  return out_ + readable_suffix(in_.substr(at_));
}

std::optional<std::string> demangle_rust_v0(std::string_view name) {
  if (!name.starts_with("_R") || name.size() < 3) return std::nullopt;
  if (name[2] < 'A' || name[2] > 'Z') return std::nullopt;  // a digit marks a later version
  return RustV0(name.substr(2)).run();
}

}  // namespace a2n
