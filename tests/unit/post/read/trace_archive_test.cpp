// SPDX-License-Identifier: MIT
// Archives: unpacked content equals the packed one; damaged and hostile archives do no harm.
#include "input_stride.h"
#include "read/trace_archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <pi/files.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <stdexcept>

namespace {

using namespace post;
using testing::HasSubstr;

class StringSink final : public Sink {
 public:
  bool write(std::string_view text) override {
    bytes += text;
    return true;
  }
  std::string bytes;
};

class TraceArchive : public testing::Test {
 protected:
  TraceArchive() {
    directory_ = testing::TempDir() + "archive_XXXXXX";
    if (!::mkdtemp(directory_.data())) throw std::runtime_error("mkdtemp failed");
  }
  ~TraceArchive() override { std::filesystem::remove_all(directory_); }

  std::string path(const std::string& name) const { return directory_ + "/" + name; }
  static void write(const std::string& name, const std::string& bytes) {
    std::ofstream(name, std::ios::binary | std::ios::trunc) << bytes;
  }
  pi::UniqueFd file(const std::string& name, const std::string& bytes) const {
    write(path(name), bytes);
    return pi::UniqueFd(::open(path(name).c_str(), O_RDONLY | O_CLOEXEC));
  }
  static std::string content(const pi::UniqueFd& fd) {
    std::string bytes(1 << 20, '\0');
    const ssize_t got = ::pread(fd.get(), bytes.data(), bytes.size(), 0);
    bytes.resize(static_cast<size_t>(got));
    return bytes;
  }
  // Incompressible bytes, so that damage hits the trace and not a compression table.
  static std::string noise(size_t size) {
    std::mt19937 random(3);
    std::string bytes(size, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    return bytes;
  }
  std::string packed(const std::string& trace, const std::string& symbols) const {
    const pi::UniqueFd trace_file = file("trace", trace);
    const pi::UniqueFd symbols_file = file("symbols", symbols);
    StringSink sink;
    EXPECT_TRUE(pack_archive({trace_file.get(), symbols_file.get(), {}, {}, {}}, sink));
    return sink.bytes;
  }
  pi::Result<ArchiveContent> unpacked(const std::string& bytes) const {
    write(path("archive"), bytes);
    return unpack_archive(path("archive"), directory_);
  }
  // Counts the names in the directory, which contains only files of the tests.
  size_t names() const {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(directory_), {}));
  }

  struct Member {
    std::string name;
    std::string bytes;
    unsigned type = AE_IFREG;
    std::string link = {};
    int64_t size = -1;  // the size in the header; -1: size of bytes
  };
  static std::string tar(const std::vector<Member>& members) {
    std::string out(1 << 20, '\0');
    size_t used = 0;
    archive* writer = archive_write_new();
    archive_write_add_filter_zstd(writer);
    archive_write_set_format_pax_restricted(writer);
    archive_write_open_memory(writer, out.data(), out.size(), &used);
    for (const Member& member : members) {
      archive_entry* entry = archive_entry_new();
      archive_entry_set_pathname(entry, member.name.c_str());
      archive_entry_set_filetype(entry, member.type);
      archive_entry_set_perm(entry, 0644);
      if (member.type == AE_IFLNK)
        archive_entry_set_symlink(entry, member.link.c_str());
      else if (!member.link.empty())
        archive_entry_set_hardlink(entry, member.link.c_str());
      archive_entry_set_size(
          entry, member.size >= 0 ? member.size : static_cast<int64_t>(member.bytes.size()));
      archive_write_header(writer, entry);
      archive_write_data(writer, member.bytes.data(), member.bytes.size());
      archive_entry_free(entry);
    }
    archive_write_close(writer);
    archive_write_free(writer);
    out.resize(used);
    return out;
  }

  std::string directory_;
};

TEST_F(TraceArchive, UnpackedContentIsEqualAndNoFilesRemain) {
  const std::string bytes = packed("the trace", "the symbols");
  const size_t before = names();
  const auto content_of = unpacked(bytes);
  ASSERT_TRUE(content_of) << content_of.error().message;
  EXPECT_EQ(content(content_of->trace), "the trace");
  EXPECT_EQ(content(content_of->symbols), "the symbols");
  EXPECT_EQ(content_of->damage, "");
  EXPECT_EQ(names(), before + 1);  // the archive itself
}

TEST_F(TraceArchive, ArchivesAreRecognisedByTheirFirstBytes) {
  write(path("archive"), packed("t", "s"));
  EXPECT_TRUE(is_archive(path("archive")));
  write(path("trace"), "NRM2....");
  EXPECT_FALSE(is_archive(path("trace")));
  EXPECT_FALSE(is_archive(path("nowhere")));
  EXPECT_FALSE(is_archive(directory_));
}

TEST_F(TraceArchive, FilesAreStoredBelowTheFilesFolder) {
  const pi::UniqueFd trace = file("trace", "t");
  const pi::UniqueFd symbols = file("symbols", "s");
  write(path("library.so"), "code");
  std::filesystem::create_directory(path("x"));
  StringSink sink;
  const auto open = [this](size_t) -> pi::Result<pi::UniqueFd> {
    auto opened = pi::open_regular(path("library.so"));
    if (!opened) return opened.error();
    return std::move(opened->fd);
  };
  ASSERT_TRUE(pack_archive(
      {trace.get(), symbols.get(), {directory_ + "/x/../library.so"}, open, {}}, sink));
  write(path("archive"), sink.bytes);
  archive* reader = archive_read_new();
  archive_read_support_filter_all(reader);
  archive_read_support_format_tar(reader);
  archive_read_open_filename(reader, path("archive").c_str(), 4096);
  std::vector<std::string> listed;
  for (archive_entry* entry = nullptr; archive_read_next_header(reader, &entry) == ARCHIVE_OK;)
    listed.emplace_back(archive_entry_pathname(entry));
  archive_read_free(reader);
  EXPECT_THAT(listed, testing::ElementsAre("README", "symbols.msi", "trace.nrm2",
                                           "files" + path("library.so")));
  const auto refuse = [](size_t) -> pi::Result<pi::UniqueFd> {
    return pi::Error{-1, "it was replaced"};
  };
  const pi::Status refused =
      pack_archive({trace.get(), symbols.get(), {path("library.so")}, refuse, {}}, sink);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "it was replaced");
}

TEST_F(TraceArchive, JitLogsAreStoredByDescriptor) {
  const pi::UniqueFd trace = file("trace", "t");
  const pi::UniqueFd symbols = file("symbols", "s");
  const pi::UniqueFd log = file("log-jita2n_7", "the log");
  // The path now leads to another user's file; the descriptor does not.
  write(path("secret"), "root's own");
  std::filesystem::remove(path("log-jita2n_7"));
  std::filesystem::create_symlink(path("secret"), path("log-jita2n_7"));
  StringSink sink;
  ASSERT_TRUE(
      pack_archive({trace.get(), symbols.get(), {}, {}, {{{LogKind::code, 7}, log.get()}}}, sink));
  const auto result = unpacked(sink.bytes);
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_EQ(result->logs.size(), 1u);
  EXPECT_EQ(result->logs.begin()->first, (LogKey{LogKind::code, 7}));
  EXPECT_EQ(content(result->logs.begin()->second), "the log");
  std::vector<Member> many{{"symbols.msi", "s"}, {"trace.nrm2", "t"}};
  for (int i = 0; i < 257; ++i) many.push_back({"logs/jita2n_" + std::to_string(i), "x"});
  EXPECT_FALSE(unpacked(tar(many)));
}

TEST_F(TraceArchive, ContainsThePackagesOfFiles) {
  const pi::UniqueFd trace = file("trace", "t");
  const pi::UniqueFd symbols = file("symbols", "s");
  StringSink sink;
  const Packages packages{{"/usr/bin/a", "app"}, {"/usr/lib/x", "libx1"}};
  ASSERT_TRUE(pack_archive({trace.get(), symbols.get(), {}, {}, {}, packages}, sink));
  const auto result = unpacked(sink.bytes);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->packages, packages);
  EXPECT_FALSE(unpacked(tar({{"symbols.msi", "s"},
                             {"packages", "p /x\n", AE_IFREG, "", int64_t{17} << 20},
                             {"trace.nrm2", "t"}})));
}

TEST_F(TraceArchive, MemberNamesAreNeverWrittenAsPaths) {
  const auto result = unpacked(tar({{"../escaped", "x"},
                                    {path("absolute"), "x"},
                                    {"link", "", AE_IFLNK, "/etc/passwd"},
                                    {"folder", "", AE_IFDIR, ""},
                                    {"symbols.msi", "s"},
                                    {"trace.nrm2", "t"}}));
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(content(result->trace), "t");
  EXPECT_EQ(names(), 1u);
  EXPECT_FALSE(std::filesystem::exists(directory_ + "/../escaped"));
}

TEST_F(TraceArchive, TamperedMembersAreRefused) {
  const Member symbols{"symbols.msi", "s"};
  for (const Member& trace : std::vector<Member>{{"trace.nrm2", "", AE_IFLNK, "/etc/passwd"},
                                                 {"trace.nrm2", "", AE_IFREG, "symbols.msi"},
                                                 {"trace.nrm2", "", AE_IFIFO}}) {
    const auto result = unpacked(tar({symbols, trace}));
    ASSERT_FALSE(result);
    EXPECT_THAT(result.error().message, HasSubstr("tampered"));
  }
  const auto twice = unpacked(tar({symbols, {"trace.nrm2", "t"}, {"trace.nrm2", "u"}}));
  ASSERT_FALSE(twice);
  EXPECT_THAT(twice.error().message, HasSubstr("twice"));
  const auto big = unpacked(tar({{"symbols.msi", "s", AE_IFREG, "", int64_t{5} << 30}}));
  ASSERT_FALSE(big);
  EXPECT_THAT(big.error().message, HasSubstr("which is too large"));
}

TEST_F(TraceArchive, OtherArchivesAreRefused) {
  const auto result = unpacked(tar({{"hello", "x"}}));
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("no archive of a trace"));
  EXPECT_FALSE(unpacked("\x28\xb5\x2f\xfd" + noise(200)));
}

TEST_F(TraceArchive, ATruncatedArchiveYieldsThePresentPartOfItsTrace) {
  const std::string trace = noise(600000);
  const std::string bytes = packed(trace, noise(1000));
  const auto result = unpacked(bytes.substr(0, bytes.size() / 2));
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_NE(result->damage, "");
  const std::string got = content(result->trace);
  EXPECT_GT(got.size(), 100000u);
  EXPECT_TRUE(got == trace.substr(0, got.size()));
  EXPECT_FALSE(unpacked(bytes.substr(0, 100)));
}

TEST_F(TraceArchive, EveryTruncationIsDetected) {
  const std::string bytes = packed(noise(20000), noise(1000));
  for (size_t size = 0; size < bytes.size(); size += 131) {
    const auto result = unpacked(bytes.substr(0, size));
    ASSERT_TRUE(!result || !result->damage.empty()) << size;
  }
}

// A flipped bit is detected wherever it changes the unpacked content.
TEST_F(TraceArchive, EveryFlippedBitThatChangesContentIsDetected) {
  const std::string trace = noise(5000);
  const std::string symbols = noise(1000);
  const std::string bytes = packed(trace, symbols);
  std::mt19937 random(5);
  for (size_t i = 0; i < test_support::rounds(1500); ++i) {
    std::string damaged = bytes;
    damaged[random() % damaged.size()] ^= static_cast<char>(1 << random() % 8);
    const auto result = unpacked(damaged);
    if (!result || !result->damage.empty()) continue;
    ASSERT_TRUE(content(result->trace) == trace && content(result->symbols) == symbols);
  }
}

}  // namespace
