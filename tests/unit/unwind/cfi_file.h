// SPDX-License-Identifier: MIT
// ELF files with hand-written call frame information.
#ifndef TESTS_UNWIND_CFI_FILE_H
#define TESTS_UNWIND_CFI_FILE_H

#include <dwarf.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "elf_builder.h"

namespace unwind_test {

inline std::string cfi(std::initializer_list<int> bytes) {
  std::string text;
  for (const int byte : bytes) text += static_cast<char>(byte);
  return text;
}

// As compilers for x86-64 begin each CIE: the CFA is rsp + 8, the return address is below it.
inline std::string usual_start() {
  return cfi({DW_CFA_def_cfa, 7, 8, DW_CFA_offset + 16, 1});
}

// A section of one CIE and functions, with absolute addresses.
class CfiSection {
 public:
  // augmentation: "", or "z" and letters, for each of which the data have a byte.
  explicit CfiSection(bool eh_frame, const std::string& start = usual_start(),
                      const std::string& augmentation = "", const std::string& data = "")
      : eh_frame_(eh_frame), sized_(!augmentation.empty()) {
    std::string body = id(eh_frame ? 0 : -1) + '\x01' + augmentation + '\0';
    body += cfi({1, 0x78, 16});  // alignment of code 1, of data -8; the return address
    if (sized_) body += static_cast<char>(data.size()) + data;
    bytes_ = entry(body + start);
  }

  CfiSection& function(uint64_t begin, uint64_t size, const std::string& instructions = "") {
    // In .eh_frame the distance back to the CIE, in .debug_frame its offset.
    std::string body = id(eh_frame_ ? static_cast<int32_t>(bytes_.size()) + 4 : 0);
    body += ElfBuilder::raw(begin) + ElfBuilder::raw(size);
    if (sized_) body += '\0';
    bytes_ += entry(body + instructions);
    return *this;
  }

  const std::string& bytes() const { return bytes_; }

 private:
  static std::string id(int32_t value) { return ElfBuilder::raw(value); }
  static std::string entry(std::string body) {
    while (body.size() % 8 != 4) body += static_cast<char>(DW_CFA_nop);
    return ElfBuilder::raw(static_cast<uint32_t>(body.size())) + body;
  }

  const bool eh_frame_;
  const bool sized_;
  std::string bytes_;
};

inline std::vector<std::byte> as_bytes(const std::string& text) {
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  return {first, first + text.size()};
}

inline void add_section(ElfBuilder& elf, const std::string& section, const std::string& name) {
  elf.section(name, SHT_PROGBITS, section, 0, name == ".eh_frame" ? SHF_ALLOC : 0, 0x10000);
}

inline std::vector<std::byte> file_with(const std::string& section, const std::string& name,
                                        ElfBuilder::Code code = ElfBuilder::Code::in_file) {
  ElfBuilder elf(code);
  add_section(elf, section, name);
  return as_bytes(elf.bytes());
}

inline std::vector<std::byte> file_with(const CfiSection& section) {
  return file_with(section.bytes(), ".eh_frame");
}

}  // namespace unwind_test

#endif  // TESTS_UNWIND_CFI_FILE_H
