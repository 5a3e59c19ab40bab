// SPDX-License-Identifier: MIT
// Members of JSON that a table is made of; what is wrong becomes a std::runtime_error.
#ifndef POST_TABLE_JSON_H
#define POST_TABLE_JSON_H

#include <fmt/format.h>

#include <stdexcept>
#include <string>

#include "json.h"
#include "text/text.h"

namespace post {

inline const pi::Json& member(const pi::Json& json, const char* name) {
  const pi::Json* found = json.find(name);
  if (found == nullptr) throw std::runtime_error(fmt::format("\"{}\" is missing", name));
  return *found;
}

inline double number(const pi::Json& json, const char* name) {
  const auto value = member(json, name).number();
  if (!value) throw std::runtime_error(fmt::format("\"{}\" is no number", name));
  return *value;
}

inline uint64_t whole_number(const pi::Json& json, const char* name) {
  const auto value = member(json, name).whole_number();
  if (!value) throw std::runtime_error(fmt::format("\"{}\" is no whole number", name));
  return *value;
}

// Readable.
inline std::string text_of(const pi::Json& json, const char* name) {
  const std::string* value = member(json, name).text();
  if (value == nullptr) throw std::runtime_error(fmt::format("\"{}\" is no text", name));
  return printable(*value);
}

inline bool flag(const pi::Json& json, const char* name) {
  const bool* value = member(json, name).boolean();
  if (value == nullptr) throw std::runtime_error(fmt::format("\"{}\" is not true or false", name));
  return *value;
}

inline const pi::Json::Array& list(const pi::Json& json, const char* name) {
  const pi::Json& value = member(json, name);
  if (!value.is_array()) throw std::runtime_error(fmt::format("\"{}\" is no array", name));
  return value.elements();
}

}  // namespace post

#endif  // POST_TABLE_JSON_H
