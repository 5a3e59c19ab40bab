// SPDX-License-Identifier: MIT
// A reader of trace files for tests, written from the published layout and independent of the
// writer: its offsets are numbers.
#ifndef PI_TESTS_NRM2_FILE_H
#define PI_TESTS_NRM2_FILE_H

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pi::test {

// Types of sections.
constexpr uint32_t type_mte = 1, type_trace = 2, type_final_mte = 4, type_info = 0x100,
                   type_build_ids = 0x200, type_kernel = 0x400;

struct FileSection {
  std::string header;
  std::string data;
  bool truncated = false;  // the file ends before data_size bytes

  uint64_t number(size_t offset, size_t size) const {
    uint64_t value = 0;
    std::memcpy(&value, header.data() + offset, size);
    return value;
  }
  uint32_t type() const { return static_cast<uint32_t>(number(116, 4)); }
  uint32_t cpu() const { return static_cast<uint32_t>(number(24, 4)); }
  std::span<const std::byte> bytes() const {
    return {reinterpret_cast<const std::byte*>(data.data()), data.size()};
  }
};

struct TraceFile {
  std::vector<FileSection> sections;
  std::string kallsyms;
  std::string modules;
  bool has_rest = false;  // bytes that belong to no section

  const FileSection* find(uint32_t type) const {
    for (const auto& section : sections)
      if (section.type() == type) return &section;
    return nullptr;
  }
};

inline TraceFile parse_trace_file(const std::string& bytes) {
  TraceFile file;
  size_t at = 0;
  while (bytes.size() - at >= 512 && bytes.compare(at, 4, "NRM2") == 0) {
    FileSection section;
    section.header = bytes.substr(at, 512);
    const uint64_t size = section.number(16, 4);
    section.data = bytes.substr(at + 512, size);
    section.truncated = section.data.size() != size;
    at += 512 + section.data.size();
    file.sections.push_back(section);
  }
  if (file.sections.empty()) {
    file.has_rest = !bytes.empty();
    return file;
  }
  const FileSection& first = file.sections.front();
  const uint64_t kallsyms_at = first.number(80, 8), kallsyms_size = first.number(88, 8);
  const uint64_t modules_at = first.number(96, 8), modules_size = first.number(104, 8);
  if (kallsyms_size != 0) {
    file.kallsyms = bytes.substr(kallsyms_at, kallsyms_size);
    at = kallsyms_at + file.kallsyms.size();
  }
  if (modules_size != 0) {
    file.modules = bytes.substr(modules_at, modules_size);
    at = modules_at + file.modules.size();
  }
  file.has_rest = at != bytes.size();
  return file;
}

// Returns all values of a key in an info section's lines.
inline std::vector<std::string> info_values(const std::string& text, const std::string& key) {
  std::vector<std::string> values;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    if (line.starts_with(key + "=")) values.push_back(line.substr(key.size() + 1));
    at = end + 1;
  }
  return values;
}

}  // namespace pi::test

#endif  // PI_TESTS_NRM2_FILE_H
