// SPDX-License-Identifier: MIT
// Build-ids: from notes, from ELF files of both widths, from hostile bytes, by path and time.
#include "file/elf_note.h"

#include <elf.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <random>

#include <pi/unique_fd.h>

#include "file/build_ids.h"
#include "source/user_buffer.h"
#include "system/system_facts.h"
#include "temp_dir.h"

namespace pi::perfutil {
namespace {

using test::TempDir;

std::string note(uint32_t type, std::string name, const std::string& content) {
  const Elf64_Nhdr header{static_cast<uint32_t>(name.size() + 1),
                          static_cast<uint32_t>(content.size()), type};
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  name.resize((name.size() + 4) & ~size_t{3});
  bytes += name + content;
  bytes.resize((bytes.size() + 3) & ~size_t{3});
  return bytes;
}

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

template <class Ehdr, class Phdr>
std::string elf_file(unsigned char width, const std::string& notes) {
  Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = width;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_phoff = sizeof header;
  header.e_phentsize = sizeof(Phdr);
  header.e_phnum = 2;
  Phdr segments[2]{};
  segments[0].p_type = PT_LOAD;
  segments[1].p_type = PT_NOTE;
  segments[1].p_offset = sizeof header + sizeof segments;
  segments[1].p_filesz = static_cast<decltype(segments[1].p_filesz)>(notes.size());
  segments[1].p_align = 4;
  return std::string(reinterpret_cast<const char*>(&header), sizeof header) +
         std::string(reinterpret_cast<const char*>(segments), sizeof segments) + notes;
}

std::optional<std::string> id_of(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY));
  return build_id_of_file(fd.get());
}

const std::string two_notes = note(1, "GNU", "abi.") + note(NT_GNU_BUILD_ID, "GNU", "\xde\xad\x01");

TEST(ElfNote, TheGnuBuildIdIsFoundAfterOtherNotes) {
  EXPECT_EQ(build_id_in_notes(bytes_of(two_notes), 4), "dead01");
  EXPECT_FALSE(build_id_in_notes(bytes_of(note(NT_GNU_BUILD_ID, "Go", "1234")), 4));
  EXPECT_FALSE(build_id_in_notes({}, 4));
}

TEST(ElfNote, FilesOfBothWidthsAreRead) {
  const TempDir dir;
  EXPECT_EQ(id_of(dir.write("64", elf_file<Elf64_Ehdr, Elf64_Phdr>(ELFCLASS64, two_notes))),
            "dead01");
  EXPECT_EQ(id_of(dir.write("32", elf_file<Elf32_Ehdr, Elf32_Phdr>(ELFCLASS32, two_notes))),
            "dead01");
  EXPECT_EQ(id_of(dir.write("none", elf_file<Elf64_Ehdr, Elf64_Phdr>(ELFCLASS64, ""))), "");
  EXPECT_FALSE(id_of(dir.write("script", "#!/bin/sh\n")));
  EXPECT_FALSE(id_of(dir.write("empty", "")));
}

// For the sanitizers only: any result is accepted.
TEST(ElfNote, TruncatedAndCorruptedFilesAreHandled) {
  const TempDir dir;
  const std::string whole = elf_file<Elf64_Ehdr, Elf64_Phdr>(ELFCLASS64, two_notes);
  // The last byte is padding.
  for (size_t size = 0; size + 1 < whole.size(); ++size) {
    const auto id = id_of(dir.write("cut", whole.substr(0, size)));
    EXPECT_TRUE(!id || id->empty());
  }
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    std::string flipped = whole;
    for (int i = 0; i < 3; ++i) flipped[random() % flipped.size()] = static_cast<char>(random());
    const auto id = id_of(dir.write("flipped", flipped));
    EXPECT_LE(id.value_or("").size(), 128u);
  }
}

struct BuildIds : ::testing::Test {
  TempDir dir;
  std::string path = dir.write("lib.so", elf_file<Elf64_Ehdr, Elf64_Phdr>(ELFCLASS64, two_notes));
  ModuleMentions mentions;

  BuildIds() {
    struct stat facts {};
    EXPECT_EQ(::stat(path.c_str(), &facts), 0);
    mentions.inode = facts.st_ino;
    mentions.first_time = trace_clock() + 1'000'000'000;
  }
  std::string find(const std::string& name) { return find_build_id(name, mentions, "/proc"); }
};

TEST_F(BuildIds, TheFileThatWasMappedIsRead) {
  EXPECT_EQ(find(path), "dead01");
}

TEST_F(BuildIds, WithoutAnInodeTheTimesDecide) {
  mentions.inode = 0;
  EXPECT_EQ(find(path), "dead01");
  mentions.first_time = 1;
  EXPECT_EQ(find(path), "?");
}

TEST_F(BuildIds, AFileMovedToThePathIsRejectedAndANewLinkIsNot) {
  // Its modification time is old, its change time is not.
  const timespec old[2] = {{1, 0}, {1, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), old, 0), 0);
  mentions.first_time = 1;
  EXPECT_EQ(find(path), "dead01");
  ++mentions.inode;
  EXPECT_EQ(find(path), "?");
}

// The file was mapped by a process in a chroot or another mount namespace: the path leads to
// another file here.
TEST_F(BuildIds, AFileOlderThanTheMappingDidNotReplaceTheMappedOne) {
  ++mentions.inode;
  EXPECT_EQ(find(path), "!");
}

TEST_F(BuildIds, AFileChangedAfterItWasMappedIsNotUsed) {
  mentions.first_time =
      trace_clock() - 3'600'000'000'000 < trace_clock() ? trace_clock() - 3'600'000'000'000 : 1;
  EXPECT_EQ(find(path), "?");
}

TEST_F(BuildIds, DeletedAndMissingFilesAreMarked) {
  EXPECT_EQ(find(path + " (deleted)"), "?");
  EXPECT_EQ(find(dir / "missing"), "!");
  EXPECT_EQ(find(path + "/below-a-file"), "!");
  EXPECT_EQ(find("relative"), "?");
}

// A /proc/PID/map_files entry of a mapped file, which every user may open in this test.
TEST_F(BuildIds, ADeletedFileIsReadThroughAProcessThatHasItMapped) {
  ASSERT_EQ(::mkdir((dir / "7").c_str(), 0700), 0);
  ASSERT_EQ(::mkdir((dir / "7/map_files").c_str(), 0700), 0);
  ASSERT_EQ(::rename(path.c_str(), (dir / "7/map_files/1000-3000").c_str()), 0);
  EXPECT_EQ(find_build_id(path, mentions, dir.path()), "!");
  mentions.places = {{7, 0x1000, 0x2000}, {7, 0x1000, 0x3000}};
  EXPECT_EQ(find_build_id(path, mentions, dir.path()), "dead01");
  EXPECT_EQ(find_build_id("/memfd:code (deleted)", mentions, dir.path()), "dead01");
  ++mentions.inode;
  EXPECT_EQ(find_build_id(path, mentions, dir.path()), "!");
}

TEST_F(BuildIds, AFileWithoutBuildIdIsMarked) {
  struct stat facts {};
  const std::string script = dir.write("script", "#!/bin/sh\n");
  ASSERT_EQ(::stat(script.c_str(), &facts), 0);
  mentions.inode = facts.st_ino;
  EXPECT_EQ(find(script), "-");
}

TEST_F(BuildIds, EveryFileIsListedOnceAndAPathMayHaveSeveral) {
  BufferSet buffers(1 << 16, 1 << 16);
  ASSERT_TRUE(buffers.add_cpu(0));
  UserBuffer& mte = buffers.at(0, PITRACE_BUFFER_MTE);
  pitrace_module module{};
  module.pid = 5;
  module.inode = mentions.inode;
  mte.put_module(mentions.first_time, module, path);
  mte.put_module(mentions.first_time, module, path);
  mte.put_module(mentions.first_time, module, "/line\nfeed");
  module.stamp = PITRACE_STAMP_ANON;
  mte.put_module(mentions.first_time, module, "//anon");
  BuildIdTable table;
  const auto lines = [&] {
    std::string text;
    for (const WantedFile& file : table.take()) text += build_id_line(file, "/proc");
    return text;
  };
  table.see(0, mte.unread().records);
  const std::string inode = std::to_string(mentions.inode);
  // A zero byte stands for the line feed.
  const std::string feed = std::string("!@") + inode + " /line" + '\0' + "feed\n";
  EXPECT_THAT(lines(), testing::AnyOf("dead01@" + inode + " " + path + "\n" + feed,
                                      feed + "dead01@" + inode + " " + path + "\n"));
  EXPECT_EQ(lines(), "");

  mte.reset();
  module.stamp = 0;
  mte.put_module(mentions.first_time, module, path);
  ++module.inode;
  mte.put_module(mentions.first_time, module, path);
  table.see(0, mte.unread().records);
  EXPECT_EQ(lines(), "!@" + std::to_string(mentions.inode + 1) + " " + path + "\n");
}

// A path may be chosen by another user: opening such a file would wait, or have a side effect.
TEST_F(BuildIds, OnlyRegularFilesAreEverOpened) {
  const std::string fifo = dir / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_EQ(find(fifo), "!");
}

// A table for four files: when it has more, it forgets the oldest two, which are then reported
// again when they are found again.
TEST(BuildIdTable, RemembersALimitedNumberOfFiles) {
  BufferSet buffers(1 << 16, 1 << 16);
  ASSERT_TRUE(buffers.add_cpu(0));
  UserBuffer& mte = buffers.at(0, PITRACE_BUFFER_MTE);
  pitrace_module module{};
  module.pid = 5;
  BuildIdTable table(4);
  const auto taken = [&](uint64_t inode) {
    mte.reset();
    module.inode = inode;
    mte.put_module(1000, module, "/file");
    table.see(0, mte.unread().records);
    return table.take().size();
  };
  for (uint64_t inode = 1; inode <= 4; ++inode) EXPECT_EQ(taken(inode), 1u);
  EXPECT_EQ(taken(4), 0u);
  EXPECT_EQ(taken(3), 0u);
  for (uint64_t inode = 5; inode <= 6; ++inode) EXPECT_EQ(taken(inode), 1u);
  EXPECT_EQ(taken(1), 1u);
}

TEST(VdsoBuildId, IsHexadecimal) {
  const std::string id = build_id_of_vdso();
  EXPECT_GE(id.size(), 16u);
  EXPECT_EQ(id.find_first_not_of("0123456789abcdef"), std::string::npos);
}

}  // namespace
}  // namespace pi::perfutil
