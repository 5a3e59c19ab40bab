// SPDX-License-Identifier: MIT
// Compressed debug sections: zstd is supported, and a note names a section that is not usable.
#include <gmock/gmock.h>
#include <zstd.h>

#include "built_file.h"
#include "constants.h"
#include "dwarf_builder.h"
#include "heap.h"

namespace {

using namespace dwarf_builder;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using namespace std::string_literals;

constexpr uint32_t zstd = 2;  // ELFCOMPRESS_ZSTD; elf.h may be too old for it
using test::MiB;

std::string head_of(uint32_t type, uint64_t size) {
  Elf64_Chdr head{};
  head.ch_type = type;
  head.ch_size = size;
  head.ch_addralign = 1;
  return raw(head);
}

std::string frame_of(const std::string& bytes) {
  std::string frame(ZSTD_compressBound(bytes.size()), '\0');
  frame.resize(ZSTD_compress(frame.data(), frame.size(), bytes.data(), bytes.size(), 3));
  return frame;
}

class PackedSections : public BuiltFile {
 protected:
  // Writes a file with one line and a compressed .debug_line.
  void write_with(const std::string& packed_lines) {
    write_and_map(
        with_sections({{".debug_abbrev", abbreviation(1, 0x11, false, {{0x10, 0x17}}) + '\0'},
                       {".debug_info", unit4("\x01\0\0\0\0"s)},
                       {".debug_line", packed_lines, SHF_COMPRESSED}}));
  }
  static std::string lines() { return lines4(sequence(code, "\x03\x04\x01\x02\x10"s)); }

  void expect_note(const char* what) {
    EXPECT_THAT(frames_at(0), ElementsAre("nnnn 0"));
    EXPECT_THAT(notes(), ElementsAre(AllOf(HasSubstr(path_), HasSubstr(what))));
  }
};

TEST_F(PackedSections, ZstdIsRead) {
  write_with(head_of(zstd, lines().size()) + frame_of(lines()));
  EXPECT_THAT(frames_at(0), ElementsAre("nnnn 5"));
  EXPECT_THAT(notes(), IsEmpty());
}

TEST_F(PackedSections, ZstdInMoreThanOneFrameIsRead) {
  write_with(head_of(zstd, lines().size()) + frame_of(lines().substr(0, 20)) +
             frame_of(lines().substr(20)));
  EXPECT_THAT(frames_at(0), ElementsAre("nnnn 5"));
}

TEST_F(PackedSections, ZstdWithAWrongSizeIsNoted) {
  for (const int wrong : {-1, 1}) {
    A2nInit();
    write_with(head_of(zstd, lines().size() + wrong) + frame_of(lines()));
    expect_note(".debug_line cannot be unpacked");
  }
}

TEST_F(PackedSections, DamagedZstdIsNoted) {
  write_with(head_of(zstd, lines().size()) + "no zstd");
  expect_note(".debug_line cannot be unpacked");
}

TEST_F(PackedSections, ZstdBeyondTheLimitIsRefusedBeforeDecompression) {
  write_with(head_of(zstd, uint64_t{1} << 40) + frame_of(lines()));
  const test_support::HeapPeak peak;
  expect_note("unpacked it has");
  EXPECT_LT(peak.bytes(), 2 * MiB);
}

TEST_F(PackedSections, DamagedZlibIsNoted) {
  write_with(head_of(ELFCOMPRESS_ZLIB, lines().size()) + "no zlib");
  expect_note(".debug_line cannot be unpacked");
}

TEST_F(PackedSections, AnUnknownCompressionTypeIsNoted) {
  write_with(head_of(99, lines().size()) + lines());
  expect_note(".debug_line cannot be unpacked");
}

}  // namespace
