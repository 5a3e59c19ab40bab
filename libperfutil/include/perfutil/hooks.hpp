// SPDX-License-Identifier: MIT
// libperfutil for C++: user hooks whose major, minor and arguments are known to the compiler.
#ifndef PERFUTIL_HOOKS_HPP
#define PERFUTIL_HOOKS_HPP

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

#include <perfutil/errors.h>
#include <perfutil/hooks.h>

namespace pitrace {

// What became of a hook. It may be ignored: the trace counts what it has lost.
class HookResult {
 public:
  constexpr explicit HookResult(int code) noexcept : code_(code) {}

  constexpr int code() const noexcept { return code_; }  // as PiTraceHook()
  // Written, not wanted by the trace, or there is no trace.
  constexpr bool ok() const noexcept { return code_ == PU_SUCCESS || code_ == PU_ERROR_NO_BUFFER; }
  constexpr explicit operator bool() const noexcept { return ok(); }
  // The buffer was full.
  constexpr bool lost() const noexcept { return code_ == PU_ERROR_BUFFER_FULL; }
  // The code's name and meaning; static storage.
  const char* name() const noexcept { return RcToString(code_); }

 private:
  int code_;
};

// Majors that a program may write: 1 to 254 without those by which a reader learns when and where
// records were made (TraceHook()).
constexpr bool hook_major_allowed(std::uint32_t major) noexcept {
  switch (major) {
    case 0x01:
    case 0x03:
    case 0x04:
    case 0x05:
    case 0x08:
    case 0x09:
    case 0x10:
    case 0x11:
    case 0x12:
    case 0x13:
    case 0x19:
    case 0x1a:
    case 0x1b:
    case 0x20:
    case 0x21:
    case 0x28:
    case 0x29:
    case 0x2b:
    case 0x2c:
    case 0x2e:
    case 0x2f:
    case 0xa8:
      return false;
    default:
      return major >= 1 && major <= 254;
  }
}

// An argument that becomes ints of the record: an integer, bool or enumeration. One of 32 bits or
// less is one int, a negative one as two's complement of 32 bits; one of 64 bits is two, low half
// first.
template <class T>
concept HookInt = (std::integral<T> || std::is_enum_v<T>)&&sizeof(T) <= 8;

// A type whose bytes become a string of the record: trivially copyable, without padding (which
// would write bytes of the stack into the trace), and no pointer, reference or view: the reader of
// a trace cannot follow it. An address is written as std::uintptr_t.
template <class T>
concept HookBytes = std::is_trivially_copyable_v<T> && !HookInt<T> && !std::is_pointer_v<T> &&
                    !std::is_member_pointer_v<T> && !std::is_null_pointer_v<T> &&
                    (std::has_unique_object_representations_v<T> || std::same_as<T, float> ||
                     std::same_as<T, double>);

namespace hook_detail {

template <class T>
struct IsSpan : std::false_type {};
template <class T, std::size_t extent>
struct IsSpan<std::span<T, extent>>
    : std::bool_constant<HookBytes<std::remove_cv_t<T>> || HookInt<std::remove_cv_t<T>>> {};
template <class T>
struct IsView : std::false_type {};
template <class T, std::size_t extent>
struct IsView<std::span<T, extent>> : std::true_type {};
template <class T, class Traits>
struct IsView<std::basic_string_view<T, Traits>> : std::true_type {};

}  // namespace hook_detail

// Text or data of any length: a string of the record. std::span of what HookInt or HookBytes takes.
template <class T>
concept HookView = std::same_as<T, std::string_view> || hook_detail::IsSpan<T>::value;

template <class T>
concept HookArgument = HookInt<T> || HookView<T> ||(HookBytes<T> && !hook_detail::IsView<T>::value);

namespace hook_detail {

template <HookArgument T>
inline constexpr std::size_t ints = HookInt<T> ? (sizeof(T) + 3) / 4 : 0;
// Bytes of a string whose length the type gives.
template <HookArgument T>
inline constexpr std::size_t bytes = HookInt<T> || HookView<T> ? 0 : sizeof(T);
// What the argument takes of a record, at least.
template <HookArgument T>
inline constexpr std::size_t record_bytes = HookInt<T> ? 4 * ints<T> : 4 + (bytes<T> + 3) / 4 * 4;

}  // namespace hook_detail

// A hook of one major and minor with arguments of these types. Usage:
//   inline constexpr pitrace::Hook<0x70, 1, std::uint32_t, std::string_view> request_begins;
//   request_begins(number, path);
// Ints and strings of the record are in the order of the arguments; ints come before strings. What
// exceeds a record is refused by the compiler, views that are too long by PU_ERROR_HOOK_TOO_LONG.
template <std::uint32_t Major, std::uint32_t Minor, HookArgument... Args>
class Hook {
 public:
  static constexpr std::uint32_t major = Major;
  static constexpr std::uint32_t minor = Minor;
  static constexpr std::size_t int_count = (std::size_t{0} + ... + hook_detail::ints<Args>);
  static constexpr std::size_t string_count = (std::size_t{0} + ... + (HookInt<Args> ? 0u : 1u));

  // Writes one record; what PiTraceHook() says of it is true here: any thread, async-signal-safe,
  // some nanoseconds when no trace wants it.
  HookResult operator()(const Args&... args) const noexcept {
    std::array<std::uint32_t, int_count> ints;
    std::array<pi_hook_string, string_count> strings;
    [[maybe_unused]] std::uint32_t* next_int = ints.data();
    [[maybe_unused]] pi_hook_string* next_string = strings.data();
    (put(args, next_int, next_string), ...);
    return HookResult(
        PiTraceHook(Major, Minor, ints.data(), int_count, strings.data(), string_count));
  }

 private:
  static_assert(hook_major_allowed(Major), "programs may not write records of this major");
  static_assert(int_count <= PI_HOOK_INTS_MAX, "a record holds 126 ints");
  static_assert(string_count <= PI_HOOK_STRINGS_MAX, "a record holds 16 strings");
  static_assert(((hook_detail::bytes<Args> <= PI_HOOK_STRING_BYTES_MAX) && ...),
                "a string of a record holds 2048 bytes");
  static_assert(12 + (string_count != 0 ? 4 : 0) +
                        (std::size_t{0} + ... + hook_detail::record_bytes<Args>) <=
                    PI_HOOK_BYTES_MAX,
                "a record holds 4000 bytes");

  template <class T>
  static void put(const T& value, std::uint32_t*& ints, pi_hook_string*& strings) noexcept {
    if constexpr (HookInt<T>) {
      if constexpr (sizeof(T) <= 4) {
        *ints++ = static_cast<std::uint32_t>(value);
      } else {
        *ints++ = static_cast<std::uint32_t>(static_cast<std::uint64_t>(value));
        *ints++ = static_cast<std::uint32_t>(static_cast<std::uint64_t>(value) >> 32);
      }
    } else if constexpr (std::same_as<T, std::string_view>) {
      *strings++ = {value.data(), value.size()};
    } else if constexpr (HookView<T>) {
      *strings++ = {value.data(), value.size_bytes()};
    } else {
      *strings++ = {&value, sizeof value};
    }
  }
};

}  // namespace pitrace

#endif  // PERFUTIL_HOOKS_HPP
