// SPDX-License-Identifier: MIT
// The trace file: layout by the published offsets, replacement in one step, a full disk.
#include "file/nrm2_writer.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <map>

#include "nrm2_file.h"
#include "perfutil.h"
#include "source/user_buffer.h"
#include "streams.h"
#include "temp_dir.h"

namespace pi::perfutil {
namespace {

using test::parse_trace_file;
using test::slurp;
using test::TempDir;

using test::type_build_ids;
using test::type_final_mte;
using test::type_info;
using test::type_trace;

// Buffers of two CPUs, 0 and 5, with some records each.
class TraceFileTest : public ::testing::Test {
 protected:
  TraceFileTest() : buffers_(1 << 16, 1 << 16) {
    for (const uint32_t cpu : {5u, 0u}) {
      EXPECT_TRUE(buffers_.add_cpu(cpu));
      for (uint64_t i = 0; i < 40; ++i)
        buffers_.at(cpu, PITRACE_BUFFER_TRACE).put_tprof(1000 + i, true, cpu, 2, i);
      for (uint64_t i = 0; i < 10; ++i)
        buffers_.at(cpu, PITRACE_BUFFER_MTE)
            .put_name(500 + i, PITRACE_MTE_NAME, {cpu, PITRACE_NAME_64}, std::string(i, 'n'));
    }
    buffers_.at(5, PITRACE_BUFFER_TRACE).count_lost_by_source(7);
    content_.buffers = buffers_.unread();
    content_.start_time = 0x1122334455667788;
    content_.stop_time = 0x2233445566778899;
    content_.interval_id = 9;
    content_.info.add("source", "perf");
    content_.build_ids = "abcd /bin/true\n";
    content_.kernel = {"ffffffff81000000 T _text\n", "complete", "demo 16384 0 - Live 0x0\n"};
  }

  BufferSet buffers_;
  TraceContent content_;
  TempDir dir_;
};

TEST_F(TraceFileTest, SectionsAreInOrderAndContainTheBuffersUnchanged) {
  const std::string name = dir_ / "t.nrm2";
  ASSERT_TRUE(write_trace_file(name, content_));
  const auto file = parse_trace_file(slurp(name));
  ASSERT_EQ(file.sections.size(), 6u);
  std::vector<std::pair<uint32_t, uint32_t>> order;
  for (const auto& section : file.sections) order.emplace_back(section.type(), section.cpu());
  EXPECT_EQ(order, (std::vector<std::pair<uint32_t, uint32_t>>{{type_trace, 0},
                                                               {type_trace, 5},
                                                               {type_final_mte, 0},
                                                               {type_final_mte, 5},
                                                               {type_info, 0},
                                                               {type_build_ids, 0}}));
  for (const auto& view : content_.buffers) {
    const size_t place = (view.kind == PITRACE_BUFFER_MTE ? 2u : 0u) + (view.cpu == 5 ? 1u : 0u);
    const auto bytes = file.sections[place].bytes();
    EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), view.records.begin(), view.records.end()));
  }
  EXPECT_EQ(file.sections[5].data, content_.build_ids);
  EXPECT_FALSE(file.has_rest);
}

TEST_F(TraceFileTest, HeadersFollowThePublishedLayout) {
  const std::string name = dir_ / "t.nrm2";
  ASSERT_TRUE(write_trace_file(name, content_));
  const auto file = parse_trace_file(slurp(name));
  ASSERT_EQ(file.sections.size(), 6u);
  const auto& header = file.sections[1];
  EXPECT_EQ(header.header.substr(0, 4), "NRM2");
  EXPECT_EQ(header.number(4, 4), 0x04030201u);
  EXPECT_EQ(header.number(8, 1), 10u);
  EXPECT_EQ(header.number(12, 4), 512u);
  EXPECT_EQ(header.number(16, 4), header.data.size());
  EXPECT_EQ(header.number(24, 4), 5u);
  EXPECT_EQ(header.number(28, 4), 0u);
  EXPECT_EQ(header.number(32, 4), 2u);
  EXPECT_EQ(header.number(36, 8), content_.start_time);
  EXPECT_EQ(header.number(44, 8), content_.stop_time);
  EXPECT_EQ(header.number(52, 4), 1u);
  EXPECT_EQ(header.number(56, 4), 2u);
  EXPECT_EQ(header.number(60, 4), 2u);
  EXPECT_EQ(header.number(68, 4), 0x64u);
  EXPECT_EQ(header.number(76, 4), 9u);
  EXPECT_EQ(header.number(112, 4), 7u);
  EXPECT_EQ(header.number(116, 4), type_trace);
  EXPECT_EQ(header.header.substr(248, 8), std::string("Linux  \0", 8));
}

TEST_F(TraceFileTest, KernelTextsAreAppendedAndTheFirstHeaderHasTheirOffsets) {
  const std::string name = dir_ / "t.nrm2";
  ASSERT_TRUE(write_trace_file(name, content_));
  const auto file = parse_trace_file(slurp(name));
  EXPECT_EQ(file.kallsyms, content_.kernel.kallsyms);
  EXPECT_EQ(file.modules, content_.kernel.modules);
  EXPECT_EQ(file.sections[1].number(88, 8), 0u);
  content_.kernel = {"", "hidden", ""};
  ASSERT_TRUE(write_trace_file(name, content_));
  const auto without = parse_trace_file(slurp(name));
  EXPECT_EQ(without.sections[0].number(80, 8), 0u);
  EXPECT_EQ(without.sections[0].number(96, 8), 0u);
  EXPECT_EQ(test::info_values(without.find(type_info)->data, "kallsyms"),
            std::vector<std::string>{"hidden"});
}

TEST_F(TraceFileTest, ABufferThatBecameFullIsFlaggedInItsOwnHeaderAndTheInfoSaysSo) {
  for (uint64_t i = 0; i < 10'000; ++i)
    buffers_.at(5, PITRACE_BUFFER_TRACE).put_tprof(2000 + i, true, 1, 2, i);
  ASSERT_TRUE(buffers_.full());
  content_.buffers = buffers_.unread();
  content_.full = true;
  const std::string name = dir_ / "t.nrm2";
  ASSERT_TRUE(write_trace_file(name, content_));
  const auto file = parse_trace_file(slurp(name));
  for (const auto& section : file.sections)
    EXPECT_EQ(section.number(56, 4), section.type() == type_trace && section.cpu() == 5 ? 3u : 2u);
  EXPECT_EQ(test::info_values(file.find(type_info)->data, "ended"),
            std::vector<std::string>{"buffer full"});
}

TEST_F(TraceFileTest, TheFileHasMode0600WhateverTheUmask) {
  const mode_t before = ::umask(0277);
  const auto done = write_trace_file(dir_ / "t.nrm2", content_);
  ::umask(before);
  ASSERT_TRUE(done);
  struct stat facts {};
  ASSERT_EQ(::stat((dir_ / "t.nrm2").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 07777, 0600u);
}

TEST_F(TraceFileTest, ADeviceIsRefused) {
  const auto done = write_trace_file("/dev/null", content_);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, PU_ERROR_FILE);
  EXPECT_NE(done.error().message.find("'/dev/null' is not a regular file"), std::string::npos);
}

TEST_F(TraceFileTest, ASymbolicLinkIsRefusedAndItsTargetUntouched) {
  const std::string target = dir_.write("precious", "contents");
  for (const std::string& to : {target, dir_ / "nowhere"}) {
    const std::string link = dir_ / "link";
    std::filesystem::remove(link);
    std::filesystem::create_symlink(to, link);
    const auto done = write_trace_file(link, content_);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, PU_ERROR_FILE);
    EXPECT_NE(done.error().message.find("symbolic link"), std::string::npos);
    EXPECT_TRUE(std::filesystem::is_symlink(link));
  }
  EXPECT_EQ(slurp(target), "contents");
  EXPECT_FALSE(std::filesystem::exists(dir_ / "nowhere"));
}

TEST_F(TraceFileTest, OtherThanRegularFilesAreRefused) {
  ASSERT_EQ(::mkfifo((dir_ / "fifo").c_str(), 0600), 0);
  std::filesystem::create_directory(dir_ / "folder");
  for (const char* name : {"fifo", "folder", "", ".", "missing/t.nrm2"}) {
    const auto done = write_trace_file(dir_ / name, content_);
    ASSERT_FALSE(done) << name;
    EXPECT_EQ(done.error().code, PU_ERROR_FILE);
  }
}

TEST_F(TraceFileTest, ARegularFileIsReplacedAndNoTemporaryFileRemains) {
  const std::string name = dir_.write("t.nrm2", "old");
  ASSERT_TRUE(write_trace_file(name, content_));
  EXPECT_EQ(slurp(name).substr(0, 4), "NRM2");
  size_t entries = 0;
  for (const auto& entry : std::filesystem::directory_iterator(dir_.path())) {
    ++entries;
    EXPECT_EQ(entry.path().filename(), "t.nrm2");
  }
  EXPECT_EQ(entries, 1u);
}

// Limits the size of this process's files; writing beyond fails with EFBIG, as a full disk with
// ENOSPC.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(uint64_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    handler_ = ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int) = SIG_DFL;
};

void expect_readable(const std::string& bytes, uint64_t limit) {
  SCOPED_TRACE(limit);
  EXPECT_LE(bytes.size(), limit);
  const auto file = parse_trace_file(bytes);
  ASSERT_FALSE(file.sections.empty());
  EXPECT_FALSE(file.has_rest);
  EXPECT_TRUE(file.kallsyms.empty());
  for (const auto& section : file.sections) {
    EXPECT_FALSE(section.truncated);
    bool whole = true;
    if (section.type() < type_info) test::records_of(section.bytes(), &whole);
    EXPECT_TRUE(whole);
  }
  if (const auto* info = file.find(type_info)) {
    EXPECT_EQ(test::info_values(info->data, "ended"), std::vector<std::string>{"disk full"});
    EXPECT_EQ(test::info_values(info->data, "kallsyms"), std::vector<std::string>{"missing"});
    EXPECT_EQ(test::info_values(info->data, "note").size(), 1u);
  }
}

TEST_F(TraceFileTest, OnAFullDiskTheFileStaysReadableAndItsInfoReportsIt) {
  const std::string whole_name = dir_ / "whole";
  ASSERT_TRUE(write_trace_file(whole_name, content_));
  const uint64_t size = slurp(whole_name).size();
  const std::string name = dir_ / "cut";
  size_t with_info = 0;
  for (uint64_t limit = 0; limit < size; limit += 13) {
    std::filesystem::remove(name);
    Status done;
    {
      const FileSizeLimit full(limit);
      done = write_trace_file(name, content_);
    }
    ASSERT_FALSE(done) << limit;
    EXPECT_EQ(done.error().code, PU_ERROR_FILE);
    if (!std::filesystem::exists(name)) {
      // Too small for one section with a record.
      EXPECT_LT(limit, 512u + 16 + 28);
      EXPECT_NE(done.error().message.find("The trace is not in a file"), std::string::npos);
      continue;
    }
    const std::string bytes = slurp(name);
    expect_readable(bytes, limit);
    EXPECT_NE(done.error().message.find(std::to_string(size - bytes.size()) + " of " +
                                        std::to_string(size)),
              std::string::npos)
        << done.error().message;
    with_info += parse_trace_file(bytes).find(type_info) != nullptr;
  }
  // All but the smallest can hold it.
  EXPECT_GT(with_info, size / 13 * 3 / 4);
}

}  // namespace
}  // namespace pi::perfutil
