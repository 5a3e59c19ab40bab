// SPDX-License-Identifier: MIT
// The text of instructions, and the source lines that they belong to.
#include "code_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "text/columns.h"
#include "text/short_name.h"
#include "text/text.h"

namespace post {
namespace {

constexpr size_t tab_columns = 8;

// "demo/Outer$Inner.method(I)V" is in demo/Outer.java.
std::string java_file(const std::string& method) {
  std::string name = method.substr(0, method.find('('));
  const size_t dot = name.rfind('.');
  if (dot == std::string::npos) return {};
  name.resize(dot);
  std::ranges::replace(name, '.', '/');
  return name.substr(0, name.find('$')) + ".java";
}

}  // namespace

LinePlace CodeText::place_of(const Micro::Function& function, uint64_t offset) const {
  const std::vector<SourceFrame> frames = micro_.frames(function, offset);
  if (frames.empty() || frames.front().line == 0) return {};
  LinePlace place{std::string(frames.front().file), frames.front().line, {}};
  if (frames.size() > 1)
    place.function = without_arguments(readable_name(printable(frames.front().name)));
  if (place.file.empty() && function.code_id != 0)
    place.file = java_file(frames.size() > 1 ? std::string(frames.front().name)
                                             : summary_.names.text(function.symbol));
  return place;
}

size_t CodeText::length(const Micro::Function& function, std::span<const std::byte> code,
                        uint64_t offset) const {
  return engine(function).decode(code.subspan(offset), function.start + offset).length;
}

std::string CodeText::readable_name(const std::string& name) const {
  return summary_.symbolizer ? summary_.symbolizer->readable(name) : name;
}

// "malloc@plt" for an address that leads to malloc through the procedure linkage table.
std::string CodeText::plt_text(const Micro::Function& function, uint64_t address) const {
  const std::string name = micro_.plt_name(function, address);
  return name.empty() ? name : readable_name(printable(name)) + "@plt";
}

// The name of a branch target: "+1c" in the function itself, "memcpy", "libc.so.6:memcpy".
std::string CodeText::target_text(const Micro::Function& function, uint64_t size,
                                  uint64_t target) const {
  const std::string linked = plt_text(function, target);
  if (!linked.empty()) return linked;
  if (target != function.start && target - function.start < size)
    return fmt::format("+{:x}", target - function.start);
  const Lookup found = micro_.lookup(function, target);
  if (found.found == Found::no_module) return fmt::format("0x{:x}", target);
  std::string text = readable_name(printable(found.symbol));
  const std::string module = printable(found.module);
  if (module != summary_.names.text(function.module))
    text = module.substr(module.rfind('/') + 1) + ":" + text;
  if (target != found.start && found.start != 0) text += fmt::format("+{:x}", target - found.start);
  return text;
}

std::string CodeText::instruction(const Micro::Function& function, std::span<const std::byte> code,
                                  uint64_t offset) const {
  const uint64_t address = function.start + offset;
  const std::string text = engine(function).text(code.subspan(offset), address);
  const pi::Instruction decoded = engine(function).decode(code.subspan(offset), address);
  if (!decoded.target) {
    // In the linkage table itself, the jump through its slot.
    const std::string linked = decoded.flow == pi::Flow::jump ? plt_text(function, address) : "";
    return linked.empty() ? text : fmt::format("{}  ({})", text, linked);
  }
  return fmt::format("{} {}", text.substr(0, text.rfind(' ')),
                     target_text(function, code.size(), *decoded.target));
}

std::string expanded(std::string_view line) {
  std::string text;
  for (size_t at = 0; at <= line.size();) {
    const size_t tab = std::min(line.find('\t', at), line.size());
    text += printable(line.substr(at, tab - at));
    if (tab != line.size()) text.append(tab_columns - columns_of(text) % tab_columns, ' ');
    at = tab + 1;
  }
  return text;
}

}  // namespace post
