// SPDX-License-Identifier: MIT
// The layout of nrm2 files: sections to streams, texts, symbols, and invalid files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>

#include "read/nrm2_reader.h"
#include "record_builder.h"

namespace {

using namespace test_support;
using pi::nrm2::section_final_mte;
using pi::nrm2::section_info;
using pi::nrm2::section_mte;
using pi::nrm2::section_trace;
using post::DamageLog;
using post::MemorySource;
using testing::ElementsAre;
using testing::HasSubstr;

const Bytes eight(8);

post::TraceFile good(const Bytes& bytes, DamageLog& damage) {
  MemorySource source(bytes);
  auto file = read_layout(source, damage);
  EXPECT_TRUE(file) << file.error().message;
  return file ? *file : post::TraceFile{};
}

std::string refusal(const Bytes& bytes) {
  MemorySource source(bytes);
  DamageLog damage;
  auto file = read_layout(source, damage);
  return file ? "accepted" : file.error().message;
}

TEST(Nrm2Reader, JoinsSectionsOfABufferInFileOrder) {
  TraceBuilder trace;
  trace.section(section_trace, {.cpu = 1}, eight)
      .section(section_mte, {.cpu = 1, .start_time = 0x4100000000}, eight)
      .section(section_trace, {.cpu = 0}, eight)
      .section(section_trace, {.cpu = 1}, eight)
      .section(section_final_mte, {.cpu = 0}, eight);
  DamageLog damage;
  const post::TraceFile file = good(trace.bytes(), damage);
  EXPECT_FALSE(damage.any());
  ASSERT_EQ(file.streams.size(), 4u);
  EXPECT_EQ(file.streams[0].key, (post::StreamKey{0, true}));
  EXPECT_TRUE(file.streams[0].final_mte);
  EXPECT_EQ(file.streams[1].key, (post::StreamKey{1, true}));
  EXPECT_EQ(file.streams[1].time_high, 0x41u);
  EXPECT_EQ(file.streams[2].key, (post::StreamKey{0, false}));
  EXPECT_EQ(file.streams[3].key, (post::StreamKey{1, false}));
  ASSERT_EQ(file.streams[3].extents.size(), 2u);
  EXPECT_EQ(file.streams[3].extents[0].offset, 512u);
  EXPECT_EQ(file.streams[3].extents[1].offset, 512u + 3 * 520u);
  EXPECT_EQ(file.streams[3].size(), 16u);
}

TEST(Nrm2Reader, FindsSymbolsAfterTheSections) {
  TraceBuilder trace;
  trace.section(section_trace, {.cpus = 4}, eight)
      .symbols("ffffffff81000000 T _text\n", "ext4 1\n");
  DamageLog damage;
  const post::TraceFile file = good(trace.bytes(), damage);
  EXPECT_FALSE(damage.any());
  EXPECT_EQ(file.cpus, 4u);
  EXPECT_EQ(file.kallsyms.offset, 520u);
  EXPECT_EQ(file.kallsyms.size, 25u);
  EXPECT_EQ(file.modules.offset, 545u);
  EXPECT_EQ(file.modules.size, 7u);
}

TEST(Nrm2Reader, UnknownSectionsAreOfALaterVersionOrDamaged) {
  TraceBuilder trace;
  trace.section(section_trace, {}, eight);
  const size_t at = trace.bytes().size();
  trace.section(0x7777, {}, eight);
  DamageLog damage;
  good(trace.bytes(), damage);
  EXPECT_THAT(damage.messages(), ElementsAre(HasSubstr("is of the unknown type 0x7777")));
  trace.put(at + pi::nrm2::offset::version, pi::nrm2::version + 1);
  DamageLog none;
  good(trace.bytes(), none);
  EXPECT_FALSE(none.any());
}

// A trace with each kind of section that has a checksum.
TraceBuilder sealed_trace() {
  TraceBuilder trace;
  trace.section(section_trace, {}, eight)
      .section(pi::nrm2::section_mte, {.cpu = 1}, eight)
      .text(section_info, "source=perf\nended=off\n")
      .text(pi::nrm2::section_build_ids, "0123 /bin/a\n")
      .text(pi::nrm2::section_frame_names, "1 a.b()V\n")
      .seal();
  return trace;
}

TEST(Nrm2Reader, EachByteThatHasChangedIsReported) {
  const Bytes whole = sealed_trace().bytes();
  DamageLog none;
  good(whole, none);
  EXPECT_FALSE(none.any());
  for (size_t at = 0; at < whole.size(); ++at) {
    Bytes bytes = whole;
    bytes[at] ^= std::byte{0x10};
    DamageLog damage;
    MemorySource source(bytes);
    const auto file = post::read_layout(source, damage);
    EXPECT_TRUE(!file || damage.any()) << at;
  }
}

TEST(Nrm2Reader, HolesAreReported) {
  const Bytes whole = sealed_trace().bytes();
  for (const size_t length : {8, 64, 300, 520})
    for (size_t at = 0; at + length <= whole.size(); at += 8) {
      Bytes bytes = whole;
      std::fill_n(bytes.begin() + static_cast<ptrdiff_t>(at), length, std::byte{0});
      if (bytes == whole) continue;
      DamageLog damage;
      MemorySource source(bytes);
      const auto file = post::read_layout(source, damage);
      EXPECT_TRUE(!file || damage.any()) << length << " at " << at;
    }
}

TEST(Nrm2Reader, MissingFactsAreReported) {
  TraceBuilder trace;
  trace.section(section_trace, {}, eight).text(pi::nrm2::section_build_ids, "0123 /bin/a\n");
  DamageLog none;
  good(trace.bytes(), none);
  EXPECT_FALSE(none.any());
  trace.seal();
  DamageLog damage;
  good(trace.bytes(), damage);
  EXPECT_THAT(damage.messages(), ElementsAre(HasSubstr("facts about the recording are missing")));
}

TEST(Nrm2Reader, BytesBehindTheKernelsSymbolsAreReported) {
  TraceBuilder trace;
  trace.section(section_trace, {}, eight).symbols("text", "more");
  Bytes bytes = trace.bytes();
  DamageLog none;
  good(bytes, none);
  EXPECT_FALSE(none.any());
  bytes.resize(bytes.size() + 4);
  DamageLog damage;
  good(bytes, damage);
  EXPECT_THAT(damage.messages(), ElementsAre(HasSubstr("nothing is known of")));
}

TEST(Nrm2Reader, SymbolsThatNoHeaderNamesAreReported) {
  TraceBuilder trace;
  trace.section(section_trace, {}, eight).text(section_info, "ended=off\nkallsyms=complete\n");
  DamageLog damage;
  good(trace.bytes(), damage);
  EXPECT_THAT(damage.messages(), ElementsAre(HasSubstr("where the kernel's symbols are")));
}

TEST(Nrm2Reader, ReadsTextsAndFlags) {
  TraceBuilder trace;
  trace.section(section_trace, {.flags = pi::nrm2::flag_full, .lost = 5}, eight)
      .text(section_info, "source=driver\n")
      .text(pi::nrm2::section_build_ids, "ab12 /bin/a\n")
      .text(pi::nrm2::section_frame_names, "1 a.b()V\n")
      .text(pi::nrm2::section_frame_names, "2 a.c()V\n");
  DamageLog damage;
  const post::TraceFile file = good(trace.bytes(), damage);
  EXPECT_FALSE(damage.any());
  EXPECT_EQ(file.streams.size(), 1u);
  EXPECT_EQ(file.info.source, "driver");
  ASSERT_EQ(file.build_ids.size(), 1u);
  EXPECT_EQ(file.build_ids[0].path, "/bin/a");
  EXPECT_EQ(file.frame_names, (post::FrameNames{{1, "a.b()V"}, {2, "a.c()V"}}));
  EXPECT_THAT(file.full, ElementsAre(post::StreamKey{0, false}));
  ASSERT_EQ(file.header_lost.size(), 1u);
  EXPECT_EQ(file.header_lost[0].second, 5u);
}

TEST(Nrm2Reader, RefusesInvalidAndUnsupportedFiles) {
  TraceBuilder trace;
  trace.section(section_trace, {}, eight);
  EXPECT_THAT(refusal({}), HasSubstr("empty"));
  EXPECT_THAT(refusal(Bytes(2000)), HasSubstr("not an nrm2"));
  Bytes cut(trace.bytes().begin(), trace.bytes().begin() + 100);
  EXPECT_THAT(refusal(cut), HasSubstr("ends after 100 bytes"));
  TraceBuilder big_endian = trace;
  big_endian.put(pi::nrm2::offset::endian, uint32_t{0x01020304});
  EXPECT_THAT(refusal(big_endian.bytes()), HasSubstr("big-endian"));
  TraceBuilder newer = trace;
  newer.put(pi::nrm2::offset::version, uint32_t{0x00020000});
  EXPECT_THAT(refusal(newer.bytes()), HasSubstr("version 2"));
  TraceBuilder odd = trace;
  odd.put(pi::nrm2::offset::header_size, uint32_t{256});
  EXPECT_THAT(refusal(odd.bytes()), HasSubstr("first header is damaged"));
}

TEST(Nrm2Reader, KeepsThePresentBytesOfATruncatedSection) {
  TraceBuilder trace;
  trace.section(section_trace, {}, eight).section(section_trace, {.cpu = 1}, eight);
  Bytes bytes = trace.bytes();
  bytes.resize(bytes.size() - 3);
  DamageLog damage;
  const post::TraceFile file = good(bytes, damage);
  EXPECT_THAT(damage.messages(), ElementsAre(HasSubstr("cut short: 5 of 8 bytes")));
  EXPECT_EQ(damage.bytes(), 3u);
  ASSERT_EQ(file.streams.size(), 2u);
  EXPECT_EQ(file.streams[1].size(), 5u);
}

TEST(Nrm2Reader, ReportsTruncatedSymbols) {
  TraceBuilder trace;
  trace.section(section_trace, {}, eight).symbols("ffffffff81000000 T _text\n", "");
  Bytes bytes = trace.bytes();
  bytes.resize(bytes.size() - 10);
  DamageLog damage;
  const post::TraceFile file = good(bytes, damage);
  EXPECT_THAT(damage.messages(), ElementsAre(HasSubstr("names of the kernel are missing")));
  EXPECT_EQ(file.kallsyms.offset, 0u);
  EXPECT_EQ(file.streams.at(0).size(), 8u);
}

TEST(Nrm2Reader, FindsTheNextSectionAfterADamagedHeader) {
  TraceBuilder trace;
  trace.section(section_trace, {}, eight)
      .section(section_trace, {.cpu = 1}, eight)
      .section(section_trace, {}, eight);
  trace.put(520, 'X');  // in the second section's magic
  DamageLog damage;
  const post::TraceFile file = good(trace.bytes(), damage);
  EXPECT_THAT(damage.messages(),
              ElementsAre(HasSubstr(
                  "no section begins at file offset 520; the next one found is at 1040")));
  EXPECT_EQ(damage.bytes(), 520u);
  ASSERT_EQ(file.streams.size(), 1u);
  EXPECT_EQ(file.streams[0].extents.size(), 2u);
}

TEST(Nrm2Reader, ResynchronisesWhenASectionSizeIsTooLarge) {
  for (const uint32_t wrong : {600u, 0xfffffff0u}) {
    TraceBuilder trace;
    trace.section(section_trace, {}, eight)
        .section(section_trace, {.cpu = 1}, eight)
        .section(section_trace, {}, Bytes(800));
    trace.put(pi::nrm2::offset::data_size, wrong);
    DamageLog damage;
    const post::TraceFile file = good(trace.bytes(), damage);
    EXPECT_EQ(damage.places(), 1u);
    ASSERT_EQ(file.streams.size(), 2u);
    ASSERT_EQ(file.streams[0].extents.size(), 2u);
    EXPECT_EQ(file.streams[0].extents[0].size, 8u);
    EXPECT_TRUE(file.streams[0].extents[1].after_gap);
    EXPECT_EQ(file.streams[0].extents[1].size, 800u);
  }
}

TEST(Nrm2Reader, IgnoresSymbolsThatOverlapSections) {
  TraceBuilder trace;
  trace.section(section_trace, {}, Bytes(100));
  trace.put(pi::nrm2::offset::kallsyms_offset, uint64_t{550});
  trace.put(pi::nrm2::offset::kallsyms_size, uint64_t{20});
  DamageLog damage;
  const post::TraceFile file = good(trace.bytes(), damage);
  EXPECT_THAT(damage.messages(), ElementsAre(HasSubstr("within the sections")));
  EXPECT_EQ(file.kallsyms.offset, 0u);
  EXPECT_EQ(file.streams.at(0).size(), 100u);
}

TEST(Nrm2Reader, ManySectionsOfManyCpusAreRead) {
  TraceBuilder trace;
  for (uint32_t cpu = 0; cpu < 3000; ++cpu)
    trace.section(section_trace, {.cpu = cpu * 20}, std::span(eight).first(cpu % 9));
  DamageLog damage;
  EXPECT_EQ(good(trace.bytes(), damage).streams.size(), 3000u);
  EXPECT_FALSE(damage.any());
}

TEST(Nrm2Reader, WholeSectionsOfAGrowingFileEndBeforeAPartlyWrittenOne) {
  TraceBuilder trace;
  trace.section(section_mte, {}, eight);
  const uint64_t first = trace.bytes().size();
  trace.section(section_trace, {}, eight);
  const Bytes whole = trace.bytes();
  for (uint64_t size = first; size <= whole.size(); ++size) {
    const std::span<const std::byte> part(whole.data(), size);
    MemorySource source(part);
    EXPECT_EQ(end_of_whole_sections(source), size == whole.size() ? size : first);
  }
  Bytes damaged = whole;
  damaged[first] = std::byte{0};
  MemorySource source(damaged);
  EXPECT_EQ(end_of_whole_sections(source), damaged.size());
}

}  // namespace
