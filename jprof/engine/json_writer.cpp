// SPDX-License-Identifier: MIT
// Writes JSON, piece by piece.
#include "json_writer.h"

#include <cstdio>

#include "method_names.h"

namespace pi::callflow {

void JsonWriter::separate() {
  if (needs_comma_) text_ += ',';
  needs_comma_ = true;
}

void JsonWriter::open(char bracket) {
  separate();
  text_ += bracket;
  needs_comma_ = false;
}

void JsonWriter::close(char bracket) {
  text_ += bracket;
  needs_comma_ = true;
}

void JsonWriter::key(const char* name) {
  separate();
  text_ += '"';
  text_ += name;
  text_ += "\":";
  needs_comma_ = false;
}

void JsonWriter::number(int64_t value) {
  separate();
  append_number(text_, value, 0);
}

void JsonWriter::number(double value) {
  separate();
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.6g", value);
  text_ += digits;
}

void JsonWriter::boolean(bool value) {
  separate();
  text_ += value ? "true" : "false";
}

void JsonWriter::string(std::string_view value) {
  separate();
  text_ += '"';
  for (const char c : value) {
    if (c == '"' || c == '\\') text_ += '\\';
    text_ += c;
  }
  text_ += '"';
}

void JsonWriter::count(const char* name, uint64_t value) {
  key(name);
  number(static_cast<int64_t>(value));
}

void write_losses(JsonWriter& json, const Losses& lost) {
  json.key("lost");
  json.open('{');
  json.count("nodes", lost.nodes);
  json.count("frames", lost.frames);
  json.count("reentered", lost.reentered);
  json.count("abandoned", lost.abandoned);
  json.count("unreadable", lost.unreadable);
  json.count("log", lost.log);
  json.count("threads", lost.threads);
  json.count("samples", lost.samples);
  json.close('}');
}

}  // namespace pi::callflow
