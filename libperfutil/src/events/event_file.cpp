// SPDX-License-Identifier: MIT
// Events that users define themselves, in a text file: docs/man/pitrace-events.5.
#include "event_file.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <pi/files.h>

#include "events.h"
#include "perfutil.h"
#include "system/text.h"

namespace pi::perfutil {
namespace {

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

// Excludes control characters, which a terminal would obey.
bool is_printable(char c) {
  return (c >= ' ' && c <= '~') || c == '\t';
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// Removes the first word and the blanks after it from text.
std::string_view take_word(std::string_view& text) {
  const auto end = std::find_if(text.begin(), text.end(), is_blank);
  const std::string_view word = text.substr(0, static_cast<size_t>(end - text.begin()));
  text = trimmed(text.substr(word.size()));
  return word;
}

bool is_name(std::string_view name) {
  return !name.empty() && name.size() <= max_event_name_bytes && is_letter(name.front()) &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return is_letter(c) || is_digit(c) || c == '_' || c == '-' || c == '.';
         });
}

// The error in the line, or an empty string; definition stays empty for a blank line or a comment.
std::string parse_line(std::string_view line, EventDefinition& definition) {
  if (line.size() > max_event_line_bytes)
    return fmt::format("the line is longer than {} bytes", max_event_line_bytes);
  if (!std::all_of(line.begin(), line.end(), is_printable))
    return "the line has characters that are not printable ASCII";
  line = trimmed(line);
  if (line.empty() || line.front() == '#') return "";
  const std::string name(take_word(line));
  if (!is_name(name))
    return fmt::format(
        "'{:.80}' is not a name: a letter, then up to {} letters, digits, '_', '-', '.'", name,
        max_event_name_bytes - 1);
  if (is_kernel_name(name))
    return fmt::format("'{}' is a name with a fixed meaning; choose another name", name);
  definition = {name, std::string(take_word(line)), std::string(line)};
  return definition.event.empty() ? fmt::format("'{}' has no event after it", name) : "";
}

Error file_error(const std::string& name, const std::string& reason) {
  return {PU_ERROR_FILE, fmt::format("The event file '{}' cannot be read: {}.", name, reason)};
}

}  // namespace

Result<std::vector<EventDefinition>> parse_event_definitions(std::string_view text,
                                                             const std::string& where) {
  std::vector<EventDefinition> definitions;
  std::set<std::string> names;
  for (size_t number = 1; !text.empty(); ++number) {
    EventDefinition definition;
    std::string wrong = parse_line(next_word(text, '\n'), definition);
    if (wrong.empty() && definition.name.empty()) continue;
    if (wrong.empty() && !names.insert(definition.name).second)
      wrong = fmt::format("'{}' is defined twice", definition.name);
    if (wrong.empty() && names.size() > max_event_definitions)
      wrong = fmt::format("there are more than {} events", max_event_definitions);
    if (!wrong.empty())
      return Error{PU_ERROR_INVALID_PARAMETER, fmt::format("{}:{}: {}.", where, number, wrong)};
    definitions.push_back(std::move(definition));
  }
  return definitions;
}

Result<std::vector<EventDefinition>> read_event_file(const std::string& name) {
  const auto file = open_regular(name);
  if (!file && file.error().code == not_regular)
    return file_error(name, "it is not a regular file");
  if (!file) return file_error(name, file.error().message);
  const auto text = read_whole(file->fd.get(), max_event_file_bytes + 1);
  if (!text) return file_error(name, text.error().message);
  if (text->size() > max_event_file_bytes)
    return file_error(name, fmt::format("it is larger than {} bytes", max_event_file_bytes));
  return parse_event_definitions(*text, name);
}

}  // namespace pi::perfutil
