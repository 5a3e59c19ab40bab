// SPDX-License-Identifier: MIT
// Text in cells of a terminal: a wide character takes two, a combining one none.
#include "cells.h"

#include <cwchar>

#include "text/columns.h"
#include "text/text.h"

namespace post::top {
namespace {

size_t character_bytes(std::string_view text) {
  size_t size = 1;
  while (size < text.size() && (static_cast<unsigned char>(text[size]) & 0xc0) == 0x80) ++size;
  return size;
}

// Cells of the first character, which is valid UTF-8; -1: not known.
int width_at(std::string_view text) {
  const size_t size = character_bytes(text);
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  if (size == 1) return 1;
  wchar_t code = static_cast<wchar_t>(byte(0) & (0xff >> (size + 1)));
  for (size_t i = 1; i < size; ++i) code = code << 6 | (byte(i) & 0x3f);
  return ::wcwidth(code);
}

// The number of bytes at the text's beginning that take at most the given number of cells.
size_t bytes_of_first(std::string_view text, size_t cells) {
  size_t at = 0;
  for (size_t taken = 0; at < text.size();) {
    taken += static_cast<size_t>(width_at(text.substr(at)));
    if (taken > cells) break;
    at += character_bytes(text.substr(at));
  }
  return at;
}

}  // namespace

std::string showable(std::string_view text, bool utf8) {
  const std::string harmless = printable(text);
  if (!utf8) return ascii_text(harmless);
  std::string shown;
  for (std::string_view rest = harmless; !rest.empty();) {
    const std::string_view character = rest.substr(0, character_bytes(rest));
    shown += width_at(character) < 0 ? ascii_text(character) : std::string(character);
    rest.remove_prefix(character.size());
  }
  return shown;
}

size_t cells_of(std::string_view text) {
  size_t cells = 0;
  for (; !text.empty(); text.remove_prefix(character_bytes(text)))
    cells += static_cast<size_t>(width_at(text));
  return cells;
}

std::string cut_to(std::string_view text, size_t cells, std::string_view mark) {
  if (cells_of(text) <= cells) return std::string(text);
  const size_t marked = cells_of(mark);
  if (cells <= marked) return std::string(text.substr(0, bytes_of_first(text, cells)));
  return std::string(text.substr(0, bytes_of_first(text, cells - marked))) + std::string(mark);
}

std::string squeezed(std::string_view text, size_t cells, std::string_view mark) {
  const size_t all = cells_of(text);
  const size_t marked = cells_of(mark);
  if (all <= cells || cells <= marked) return cut_to(text, cells, mark);
  const size_t kept = cells - marked;
  const std::string_view head = text.substr(0, bytes_of_first(text, (kept + 1) / 2));
  std::string_view tail = text;
  while (cells_of(tail) > kept - cells_of(head)) tail.remove_prefix(character_bytes(tail));
  // Combining characters belong to the one that was removed.
  while (!tail.empty() && width_at(tail) == 0) tail.remove_prefix(character_bytes(tail));
  return std::string(head) + std::string(mark) + std::string(tail);
}

std::string filled(std::string text, size_t cells) {
  const size_t taken = cells_of(text);
  if (taken < cells) text.append(cells - taken, ' ');
  return text;
}

}  // namespace post::top
