// SPDX-License-Identifier: MIT
// Reads the name of a method from a Java virtual machine's memory.
#include <algorithm>
#include <cctype>
#include <string_view>

#include <pi/java_text.h>

#include "hotspot.h"

namespace pi::swtrace {
namespace {

constexpr uint64_t word = sizeof(uint64_t);
// post shows no longer names; a process can have any number of them.
constexpr size_t max_text = 1024;

class MethodReader {
 public:
  MethodReader(const ReadMemory& read, const MethodLayout& layout) : read_(read), layout_(layout) {}

  std::optional<std::string> name(uint64_t method) const {
    const auto code = pointer(method, layout_.const_method);
    const auto constants = code ? pointer(*code, layout_.constants) : std::nullopt;
    const auto owner = constants ? pointer(*constants, layout_.owner) : std::nullopt;
    const auto length = constants ? load<int32_t>(*constants + layout_.length) : std::nullopt;
    if (!owner || !length) return std::nullopt;
    const auto class_name = symbol(pointer(*owner, layout_.klass_name));
    const auto text = [&](uint64_t index_at) -> std::optional<std::string> {
      const auto index = load<uint16_t>(*code + index_at);
      if (!index || *index == 0 || *index >= *length) return std::nullopt;
      return symbol(pointer(*constants, layout_.constants_size + *index * word));
    };
    const auto own = class_name ? text(layout_.name) : std::nullopt;
    const auto signature = own ? text(layout_.signature) : std::nullopt;
    if (!signature) return std::nullopt;
    return java_log_name(java_method_name(of_hidden_class(*class_name), *own, *signature));
  }

 private:
  template <class T>
  std::optional<T> load(uint64_t address) const {
    T value;
    if (!read_(address, std::as_writable_bytes(std::span(&value, 1)))) return std::nullopt;
    return value;
  }

  std::optional<uint64_t> pointer(uint64_t structure, uint64_t offset) const {
    const auto value = load<uint64_t>(structure + offset);
    if (!value || *value == 0 || *value % word != 0) return std::nullopt;
    return value;
  }

  std::optional<std::string> symbol(std::optional<uint64_t> at) const {
    const auto length = at ? load<uint16_t>(*at + layout_.symbol_length) : std::nullopt;
    if (!length || *length == 0) return std::nullopt;
    std::string text(std::min<size_t>(*length, max_text), '\0');
    if (!read_(*at + layout_.symbol_text, std::as_writable_bytes(std::span(text))))
      return std::nullopt;
    return text;
  }

  // "Some$$Lambda+0x00007f0a1c001000" has a point before the address where the JVM tells it to
  // JProf.
  static std::string of_hidden_class(std::string name) {
    const size_t plus = name.rfind("+0x");
    if (plus == name.npos) return name;
    const auto is_digit = [](unsigned char c) { return std::isxdigit(c) != 0; };
    if (std::all_of(name.begin() + static_cast<ptrdiff_t>(plus) + 3, name.end(), is_digit))
      name[plus] = '.';
    return name;
  }

  const ReadMemory& read_;
  const MethodLayout& layout_;
};

}  // namespace

std::optional<std::string> read_method_name(const ReadMemory& read, const MethodLayout& layout,
                                            uint64_t method) {
  if (method == 0 || method % word != 0) return std::nullopt;
  return MethodReader(read, layout).name(method);
}

}  // namespace pi::swtrace
