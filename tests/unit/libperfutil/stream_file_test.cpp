// SPDX-License-Identifier: MIT
// The growing trace file: taking records away from under the texts behind them.
#include "stream_file.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <map>
#include <memory>

#include "nrm2_file.h"
#include "temp_dir.h"
#include "text.h"

namespace pi::perfutil {
namespace {

using test::parse_trace_file;
using test::slurp;
using test::TempDir;

constexpr uint32_t type_trace = 2, type_mte = 1, type_info = 0x100, type_build_ids = 0x200,
                   type_kernel = 0x400;

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
    section.bytes = static_cast<uint32_t>(data.size());
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

TEST_F(StreamFileTest, RecordsAreTakenAwayFromUnderTheTextsBehindThem) {
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

TEST_F(StreamFileTest, TheFileGoesOnWhereItWasCut) {
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

}  // namespace
}  // namespace pi::perfutil
