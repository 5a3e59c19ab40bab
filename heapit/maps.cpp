// SPDX-License-Identifier: MIT
// The mappings of a process, read without allocating.
#include "maps.h"

#include <algorithm>
#include <cstring>

#include "pages.h"
#include "system.h"

namespace pi::heapit {
namespace {

uint64_t take_number(std::string_view& text, int base) {
  uint64_t value = 0;
  size_t used = 0;
  for (; used < text.size(); ++used) {
    const char c = text[used];
    const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : base;
    if (digit >= base) break;
    value = value * static_cast<unsigned>(base) + static_cast<unsigned>(digit);
  }
  text.remove_prefix(std::min(used + 1, text.size()));  // and what is behind it
  return value;
}

std::string_view take_word(std::string_view& text) {
  const size_t end = std::min(text.find(' '), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return word;
}

// "BEGIN-END PERMISSIONS OFFSET DEVICE INODE   PATH"
MapsLine parse(std::string_view text) {
  MapsLine line{};
  line.begin = take_number(text, 16);
  line.end = take_number(text, 16);
  const std::string_view permissions = take_word(text);
  const auto is = [&](size_t place, char letter) {
    return place < permissions.size() && permissions[place] == letter;
  };
  line.readable = is(0, 'r');
  line.writable = is(1, 'w');
  line.executable = is(2, 'x');
  line.shared = is(3, 's');
  line.offset = take_number(text, 16);
  take_word(text);
  line.inode = take_number(text, 10);
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  line.path = text;
  return line;
}

// Not on the stack, which may be small; the longest path has 4096 bytes.
constexpr size_t buffer_bytes = 8192;
struct Buffer {
  char* const text = reinterpret_cast<char*>(map_pages(buffer_bytes));
  ~Buffer() { unmap_pages(reinterpret_cast<std::byte*>(text), buffer_bytes); }
};

}  // namespace

bool read_maps(const char* path, bool (*take)(const MapsLine& line, void* context), void* context) {
  const Buffer buffer;
  const Descriptor file(path, O_RDONLY);
  if (!file || !buffer.text) return false;
  size_t used = 0;
  for (;;) {
    const long count = ::syscall(SYS_read, file.number(), buffer.text + used, buffer_bytes - used);
    if (count <= 0) return count == 0;
    used += static_cast<size_t>(count);
    std::string_view rest(buffer.text, used);
    for (size_t end; (end = rest.find('\n')) != rest.npos; rest.remove_prefix(end + 1))
      if (!take(parse(rest.substr(0, end)), context)) return true;
    if (rest.size() == buffer_bytes) return false;
    std::memmove(buffer.text, rest.data(), rest.size());
    used = rest.size();
  }
}

}  // namespace pi::heapit
