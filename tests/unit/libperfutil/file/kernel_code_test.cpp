// SPDX-License-Identifier: MIT
// The kernel's code for an instruction trace: which pages, and their layout in the section.
#include "file/kernel_code.h"

#include <elf.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include <pi/nrm2.h>
#include <pitrace/encode.h>

#include "perfutil.h"
#include "temp_dir.h"

namespace pi::perfutil {
namespace {

using test::TempDir;

constexpr uint64_t text_start = 0xffffffff81000000;
constexpr uint64_t module_start = 0xffffffffc0400000;
constexpr size_t page_bytes = 4096;

// Four pages of text, each filled with its number, and one page of a module, filled with 'm'.
void write_kcore(const std::string& name) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_phoff = sizeof header;
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 3;
  Elf64_Phdr segments[3]{};
  segments[0].p_type = PT_NOTE;
  segments[1].p_type = PT_LOAD;
  segments[1].p_vaddr = text_start;
  segments[1].p_offset = page_bytes;
  segments[1].p_memsz = 4 * page_bytes;
  segments[2].p_type = PT_LOAD;
  segments[2].p_vaddr = module_start;
  segments[2].p_offset = 5 * page_bytes;
  segments[2].p_memsz = page_bytes;
  std::string bytes(6 * page_bytes, 'm');
  std::memcpy(bytes.data(), &header, sizeof header);
  std::memcpy(bytes.data() + sizeof header, segments, sizeof segments);
  for (size_t page = 0; page < 4; ++page)
    std::memset(bytes.data() + (page + 1) * page_bytes, '0' + static_cast<int>(page), page_bytes);
  std::ofstream(name, std::ios::binary) << bytes;
}

class Records {
 public:
  void branch(bool user, uint64_t from, uint64_t to) {
    pitrace_encode_branch(place(pitrace_size_branch(0)), 1, user, from, to, 0, 0);
  }
  void ints(uint32_t major, const std::vector<uint32_t>& ints) {
    const auto count = static_cast<uint32_t>(ints.size());
    pitrace_encode_ints(place(pitrace_size_ints(count)), 1, major, 1, ints.data(), count);
  }
  void gap(uint64_t to) {
    std::vector<uint32_t> data(PITRACE_GAP_INTS);
    pitrace_put_gap(data.data(), 1, 2, 3, to);
    ints(PITRACE_MAJOR_ITRACE_GAP, data);
  }
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  void* place(uint32_t size) {
    bytes_.resize(bytes_.size() + size);
    return bytes_.data() + bytes_.size() - size;
  }
  std::vector<std::byte> bytes_;
};

struct Stretch {
  uint64_t address;
  std::string bytes;
};

std::vector<Stretch> parse(const std::string& section) {
  std::vector<Stretch> all;
  for (size_t at = 0; at + nrm2::code::head_size <= section.size();) {
    uint64_t address, size;
    std::memcpy(&address, section.data() + at + nrm2::code::address, sizeof address);
    std::memcpy(&size, section.data() + at + nrm2::code::size, sizeof size);
    all.push_back({address, section.substr(at + nrm2::code::head_size, size)});
    at += nrm2::code::head_size + (size + 7) / 8 * 8;
  }
  return all;
}

TEST(KernelCode, TouchedPagesAreStoredAsRanges) {
  const TempDir dir;
  write_kcore(dir / "kcore");
  Records records;
  records.branch(true, 0x401000, 0x402000);                         // user code: none
  records.branch(true, 0x401000, text_start + 16);                  // a system call
  records.branch(false, text_start + 20, text_start + page_bytes);  // the next page
  records.gap(text_start + 3 * page_bytes + 5);
  std::vector<uint32_t> cut(PITRACE_CUT_INTS);
  pitrace_put_cut(cut.data(), 3, module_start + 8);
  records.ints(PITRACE_MAJOR_CUT_KERNEL, cut);
  KernelCode code(dir / "");
  code.see(records.bytes());
  const auto section = code.text();
  ASSERT_TRUE(section) << section.error().message;
  const auto stretches = parse(*section);
  ASSERT_EQ(stretches.size(), 3u);
  EXPECT_EQ(stretches[0].address, text_start);
  EXPECT_EQ(stretches[0].bytes, std::string(page_bytes, '0') + std::string(page_bytes, '1'));
  EXPECT_EQ(stretches[1].address, text_start + 3 * page_bytes);
  EXPECT_EQ(stretches[1].bytes, std::string(page_bytes, '3'));
  EXPECT_EQ(stretches[2].address, module_start);
  EXPECT_EQ(stretches[2].bytes, std::string(page_bytes, 'm'));
}

TEST(KernelCode, UnloadedPagesAreLeftOut) {
  const TempDir dir;
  write_kcore(dir / "kcore");
  Records records;
  records.branch(false, text_start, 0xffffffffc0800000);
  KernelCode code(dir / "");
  code.see(records.bytes());
  const auto section = code.text();
  ASSERT_TRUE(section);
  EXPECT_EQ(parse(*section).size(), 1u);
}

TEST(KernelCode, HasNoUserCode) {
  Records records;
  records.branch(true, 0x401000, 0x402000);
  records.gap(0x7fff00001000);
  KernelCode code("/nowhere");
  code.see(records.bytes());
  EXPECT_TRUE(code.empty());
}

TEST(KernelCode, CodeOfTheFirstTouchIsKept) {
  const TempDir dir;
  write_kcore(dir / "kcore");
  Records records;
  records.branch(false, text_start, text_start);
  KernelCode code(dir / "");
  code.see(records.bytes());
  std::filesystem::remove(dir / "kcore");
  code.see(records.bytes());
  const auto section = code.text();
  ASSERT_TRUE(section) << section.error().message;
  EXPECT_EQ(parse(*section).at(0).bytes, std::string(page_bytes, '0'));
}

TEST(KernelCode, AReadFailureIsReported) {
  const TempDir dir;
  Records records;
  records.branch(false, text_start, text_start);
  KernelCode missing(dir / "");
  missing.see(records.bytes());
  EXPECT_FALSE(missing.text());
  std::ofstream(dir / "kcore") << "no ELF file";
  KernelCode code(dir / "");
  code.see(records.bytes());
  InfoText info;
  EXPECT_EQ(code_or_note(code, info), "");
  EXPECT_EQ(info.text().rfind("note=The kernel's code is not in the trace", 0), 0u);
}

}  // namespace
}  // namespace pi::perfutil
