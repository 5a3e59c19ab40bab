// SPDX-License-Identifier: MIT
// The growing trace file: removing records that texts follow.
#include "file/stream_file.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <map>
#include <memory>

#include "nrm2_file.h"
#include "source/user_buffer.h"
#include "system/text.h"
#include "temp_dir.h"

namespace pi::perfutil {
namespace {

using test::parse_trace_file;
using test::slurp;
using test::TempDir;

using test::type_build_ids;
using test::type_info;
using test::type_kernel;
using test::type_mte;
using test::type_trace;

class StreamFileTest : public ::testing::Test {
 protected:
  StreamFileTest() {
    auto file = StreamFile::create(name_, {});
    EXPECT_TRUE(file);
    file_ = std::make_unique<StreamFile>(std::move(*file));
    EXPECT_EQ(file_->add_text(type_info, "source=perf\n"), 0);
  }

  void add_records(uint32_t type, uint32_t cpu, const std::string& data, uint64_t records) {
    SectionFacts section;
    section.type = type;
    section.cpu = cpu;
    ASSERT_EQ(file_->add(section, bytes_of(data), records), 0);
  }

  test::TraceFile published() {
    EXPECT_EQ(file_->publish(false), 0);
    return parse_trace_file(slurp(name_));
  }

  TempDir dir_;
  std::string name_ = dir_ / "t.nrm2";
  std::unique_ptr<StreamFile> file_;
};

TEST_F(StreamFileTest, RecordsAreRemovedFromBeforeTheTexts) {
  add_records(type_mte, 1, std::string(1000, 'm'), 7);
  add_records(type_trace, 1, std::string(3000, 't'), 9);
  ASSERT_EQ(file_->add_text(type_build_ids, "abcd 1 /bin/true\n"), 0);
  ASSERT_EQ(file_->add_kernel({"ffffffff81000000 T _text\n", "complete", "demo 1 0 - Live 0\n"}),
            0);
  const uint64_t before = file_->size();

  ASSERT_EQ(file_->drop_last_records(), 0);

  EXPECT_EQ(before - file_->size(), 512u + 3000);
  EXPECT_EQ(file_->records(), (std::map<StreamFile::Stream, uint64_t>{{{1, 0}, 0}, {{1, 1}, 7}}));
  const auto file = published();
  std::vector<uint32_t> types;
  for (const auto& section : file.sections) types.push_back(section.type());
  EXPECT_EQ(types,
            (std::vector<uint32_t>{type_info, type_mte, type_build_ids, type_kernel, type_kernel}));
  EXPECT_EQ(file.find(type_build_ids)->data, "abcd 1 /bin/true\n");
  EXPECT_EQ(file.kallsyms, "ffffffff81000000 T _text\n");
  EXPECT_EQ(file.modules, "demo 1 0 - Live 0\n");
  EXPECT_FALSE(file.has_rest);
}

TEST_F(StreamFileTest, SectionsCanBeAddedAfterACut) {
  add_records(type_trace, 0, "tttt", 1);
  ASSERT_EQ(file_->add_text(type_build_ids, "abcd 1 /bin/true\n"), 0);
  ASSERT_EQ(file_->drop_last_records(), 0);
  add_records(type_trace, 2, "uuuuuuuu", 2);
  const auto file = published();
  ASSERT_EQ(file.sections.size(), 3u);
  EXPECT_EQ(file.sections[2].data, "uuuuuuuu");
  EXPECT_EQ(file.sections[2].cpu(), 2u);
  EXPECT_FALSE(file.has_rest);
}

TEST_F(StreamFileTest, TextsAloneAreKept) {
  const uint64_t before = file_->size();
  EXPECT_EQ(file_->drop_last_records(), ENOSPC);
  EXPECT_EQ(file_->size(), before);
}

// One record that is counted.
std::string record_bytes() {
  BufferSet buffers(1 << 16, 1 << 16);
  EXPECT_TRUE(buffers.add_cpu(0));
  UserBuffer& mte = buffers.at(0, PITRACE_BUFFER_MTE);
  pitrace_module module{};
  module.pid = 5;
  mte.put_module(1000, module, "/file");
  const auto records = mte.unread().records;
  return {reinterpret_cast<const char*>(records.data()), records.size()};
}

TEST_F(StreamFileTest, SectionsBeyondTheRememberedOnesAreFoundInTheFile) {
  const std::string data = record_bytes();
  uint64_t counted = 0;
  (void)whole_records(bytes_of(data), data.size(), counted);
  ASSERT_GT(counted, 0u);
  constexpr int all = 3000, kept = 10;
  for (int i = 0; i < all; ++i) add_records(i % 2 == 0 ? type_mte : type_trace, 0, data, counted);
  for (int i = 0; i < all - kept; ++i) ASSERT_EQ(file_->drop_last_records(), 0) << i;
  EXPECT_EQ(file_->records(), (std::map<StreamFile::Stream, uint64_t>{
                                  {{0, 0}, kept / 2 * counted}, {{0, 1}, kept / 2 * counted}}));
  const auto file = published();
  EXPECT_EQ(file.sections.size(), 1u + kept);
  EXPECT_FALSE(file.has_rest);
}

TEST_F(StreamFileTest, WithoutTraceAllNamesAndTextsAreKept) {
  const std::string data = record_bytes();
  for (int i = 0; i < 2000; ++i) add_records(i % 2 == 0 ? type_mte : type_trace, 0, data, 3);
  ASSERT_EQ(file_->add_kernel({"ffffffff81000000 T _text\n", "complete", "demo 1 0 - Live 0\n"}),
            0);
  auto other = file_->without_trace();
  ASSERT_TRUE(other);
  EXPECT_EQ(other->records(), (std::map<StreamFile::Stream, uint64_t>{{{0, 1}, 3000}}));
  ASSERT_EQ(other->publish(false), 0);
  const auto file = parse_trace_file(slurp(name_));
  EXPECT_EQ(file.sections.size(), 1u + 1000 + 2);
  EXPECT_EQ(file.kallsyms, "ffffffff81000000 T _text\n");
  EXPECT_EQ(file.modules, "demo 1 0 - Live 0\n");
  EXPECT_FALSE(file.has_rest);
}

}  // namespace
}  // namespace pi::perfutil
