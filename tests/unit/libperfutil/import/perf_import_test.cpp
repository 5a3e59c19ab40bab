// SPDX-License-Identifier: MIT
// Recordings of perf that are converted to trace files.
#include "import/perf_import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <zstd.h>

#include <cstring>

#include <fmt/format.h>
#include "import/recorded_kernel.h"
#include "nrm2_file.h"
#include "perf_data.h"
#include "perf_import_case.h"
#include "perfutil.h"
#include "streams.h"
#include "temp_dir.h"

namespace pi::perfutil {
namespace {

using ::testing::HasSubstr;

constexpr uint64_t fault_event = PERF_COUNT_SW_PAGE_FAULTS;

TEST_F(PerfImportTest, RecordsBecomeTicksAndNames) {
  PerfData data = clock_data();
  data.record(test::perf_comm(5, 5, "prog", true, 90))
      .record(test::perf_mmap2(5, 0x1000, 0x2000, 0, 77, PROT_EXEC, "/bin/prog", 95))
      .record(test::perf_mmap2(5, 0x5000, 0x1000, 0, 78, PROT_READ, "/data", 96))
      .record(sample(0x1234, 100, 1))
      .text_feature(3, "machine")
      .text_feature(4, "6.1");
  ASSERT_TRUE(import(data.file()));
  EXPECT_EQ(ticks(), (Lines{"10/23 @100 5 6 0 1234"}));
  EXPECT_EQ(names(), (Lines{"19/64 @90 5", "19/34 @90 5 64 'prog'",
                            "19/1 @95 5 2000 0 0 0 1000 0 0 0 0 4d '/bin/prog'"}));
  EXPECT_EQ(file_.find(test::type_trace)->cpu(), 1u);
  EXPECT_EQ(info("host"), Lines{"machine"});
  EXPECT_EQ(info("kernel"), Lines{"6.1"});
  EXPECT_EQ(info("tick"), Lines{"time"});
  EXPECT_EQ(info("tick_ns"), Lines{"1000000"});
  EXPECT_EQ(info("ended"), Lines{"off"});
  EXPECT_EQ(info("count.1.trace.written"), Lines{"1"});
  EXPECT_EQ(info("scope"), Lines{"process"});
  EXPECT_EQ(info("pid"), Lines{"5"});
}

TEST_F(PerfImportTest, RecordsAreSortedAndThoseOfBeforeHaveTheFirstTime) {
  PerfData data = clock_data();
  data.record(test::perf_comm(9, 9, "before", false, 0))
      .record(sample(1, 300, 0))
      .record(sample(2, 400, 0))
      .record(sample(3, 250, 1))
      .record(test::end_of_round())
      .record(sample(4, 350, 1))
      .record(sample(5, 500, 0))
      .record(test::end_of_round())
      .record(sample(6, 450, 1));
  ASSERT_TRUE(import(data.file()));
  EXPECT_EQ(names(), (Lines{"19/34 @250 9 64 'before'"}));
  EXPECT_EQ(ticks(), (Lines{"10/23 @300 5 6 0 1", "10/23 @400 5 6 0 2", "10/23 @500 5 6 0 5",
                            "10/23 @250 5 6 0 3", "10/23 @350 5 6 0 4", "10/23 @450 5 6 0 6"}));
  EXPECT_EQ(info("note"), Lines());
}

TEST_F(PerfImportTest, TheFirstEventOrTheNamedOneGivesTheTicks) {
  constexpr uint64_t longer = test::usual_sample | PERF_SAMPLE_PERIOD;
  PerfData data = clock_data();
  data.event(test::recorded_attr(fault_event, longer, 10), {8, 9}).names({"clock", "faults:u"});
  data.record(sample(1, 100)).record(sample(2, 110));
  for (const uint64_t period : {10u, 30u})
    data.record(PerfRecord(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER)
                    .u64(9)
                    .u64(3)
                    .u32(5)
                    .u32(6)
                    .u64(120)
                    .u32(0)
                    .u32(0)
                    .u64(period)
                    .end());
  ASSERT_TRUE(import(data.file()));
  EXPECT_EQ(ticks(), (Lines{"10/23 @100 5 6 0 1", "10/23 @110 5 6 0 2"}));
  EXPECT_THAT(info("note").at(0), HasSubstr("2 samples of other events are left out (faults:u"));
  ASSERT_TRUE(import(data.file(), "fault*"));
  EXPECT_EQ(ticks(), (Lines{"10/23 @120 5 6 0 3", "10/23 @120 5 6 0 3"}));
  EXPECT_EQ(info("event"), Lines{"faults:u"});
  EXPECT_EQ(info("period"), Lines{"10"});
  EXPECT_THAT(info("note").at(0), HasSubstr("stands for 10 to 30 faults:u"));
  const Status none = import(data.file(), "cycles");
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("no samples of an event cycles"));
  EXPECT_THAT(none.error().message, HasSubstr("clock, faults:u"));
}

TEST_F(PerfImportTest, SamplesWithoutCpuAndIdentifierAreRead) {
  constexpr uint64_t type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR |
                            PERF_SAMPLE_PERIOD | PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN;
  perf_event_attr attr = test::recorded_attr(clock_event, type, 4000);
  attr.freq = 1;
  attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED;
  PerfRecord record(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
  record.u64(0x10).u32(5).u32(6).u64(100).u64(0xadd).u64(250'000);
  record.u64(2).u64(7).u64(1).u64(11).u64(2).u64(12);  // counts of two events, with ids
  record.u64(3).u64(static_cast<uint64_t>(PERF_CONTEXT_USER)).u64(0x10).u64(0x20);
  PerfData data;
  data.event(attr, {1}).record(record.end());
  ASSERT_TRUE(import(data.file()));
  EXPECT_EQ(ticks(), (Lines{"10/23 @100 5 6 0 10 100 0 20"}));
  EXPECT_EQ(info("tick_ns"), Lines{"250000"});
  EXPECT_EQ(info("stacks"), Lines{"both"});
  EXPECT_THAT(info("cannot_see").at(0), HasSubstr("The CPU of each record"));
}

TEST_F(PerfImportTest, BuildIdsComeFromMappingsAndFromTheirList) {
  PerfData data = clock_data();
  std::string ids = "\x12\x34", list;
  ids.resize(20);
  PerfRecord listed(67);
  listed.u32(0xffffffff);
  for (const char each : ids) listed.add(each);
  listed.u32(0);
  test::append(list, listed.text("/lib/listed.so").end());
  PerfRecord mapped(PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_BUILD_ID);
  mapped.u32(5).u32(5).u64(0x1000).u64(0x1000).u64(0);
  mapped.u32(3).u32(0x00ccbbaa).u64(0).u64(0).u32(PROT_EXEC).u32(2).text("/lib/mapped.so");
  data.record(mapped.end(5, 5, 10)).record(sample(0x1000, 20)).feature(2, list);
  ASSERT_TRUE(import(data.file()));
  EXPECT_EQ(file_.find(test::type_build_ids)->data,
            "1234000000000000000000000000000000000000 /lib/listed.so\naabbcc /lib/mapped.so\n");
  EXPECT_EQ(names(), (Lines{"19/1 @10 5 1000 0 0 0 1000 0 0 0 0 0 '/lib/mapped.so'"}));
}

TEST_F(PerfImportTest, AProcessThatExistedIsNoForkAndGuestsAreLeftOut) {
  PerfData data = clock_data();
  auto fork = PerfRecord(PERF_RECORD_FORK, PERF_RECORD_MISC_FORK_EXEC);
  data.record(fork.u32(7).u32(3).u32(7).u32(3).u64(0).end(0, 0, 0))
      .record(test::perf_task(PERF_RECORD_FORK, 8, 7, 8, 7, 50))
      .record(test::perf_sample(PERF_RECORD_MISC_GUEST_USER, 1, 5, 6, 60))
      .record(sample(1, 70));
  ASSERT_TRUE(import(data.file()));
  EXPECT_EQ(names(), (Lines{"19/63 @50 7 3 200", "19/63 @50 8 7 0 7"}));
  EXPECT_EQ(ticks().size(), 1u);
  EXPECT_EQ(info("note"), Lines{"1 samples of code in virtual machines are left out."});
}

// Logs what it is asked, and finds two callers of each copy.
class LoggingCode final : public RecordedCode {
 public:
  pi_stack_resolver resolver() override {
    pi_stack_resolver functions{};
    functions.context = this;
    functions.begin = [](void*) {};
    functions.change = [](void* context, const pi_process_change* change) {
      static_cast<LoggingCode*>(context)->log.push_back(
          fmt::format("{} {} @{} {:x} {}", change->kind, change->pid, change->time, change->address,
                      change->path));
    };
    functions.resolve = [](void* context, const pi_stack_copy* copy, int, uint64_t* addresses,
                           uint32_t, pi_stack_frames* frames) {
      auto* self = static_cast<LoggingCode*>(context);
      self->copies.push_back(*copy);
      self->bytes.emplace_back(static_cast<const char*>(copy->bytes), copy->length);
      self->log.push_back(fmt::format("copy @{}", copy->time));
      addresses[0] = 0x21;
      addresses[1] = 0x22;
      *frames = {2, 1, PI_STACK_CUT};
      return 1;
    };
    functions.note = [](void*, unsigned index) { return index == 0 ? "a note" : nullptr; };
    return functions;
  }
  void add(const RecordedFile& file) override {
    log.push_back(fmt::format("file {} '{}' {}", file.path, file.build_id, file.of_this_host));
  }
  std::map<std::string, std::string> found_build_ids() const override {
    return {{"/lib/found.so", "ff"}};
  }

  Lines log;
  std::vector<pi_stack_copy> copies;
  Lines bytes;
};

TEST_F(PerfImportTest, CallersAreFoundInCopiesOfStacks) {
  LoggingCode code;
  code_ = &code;
  PerfData data;
  data.event(test::copied_attr(), {test::some_event})
      .record(test::perf_comm(5, 5, "prog", true, 90))
      .record(test::perf_mmap2(5, 0x1000, 0x2000, 0, 77, PROT_EXEC, "/bin/prog", 95))
      .record(test::end_of_round())
      .record(test::copied_sample(120, "the stack bytes.", PERF_SAMPLE_REGS_ABI_64))
      .record(test::perf_mmap2(5, 0x8000, 0x1000, 0, 78, PROT_EXEC, "/lib/later.so", 110))
      .record(test::end_of_round());
  const std::string whole = data.file();
  ASSERT_TRUE(import(whole));
  EXPECT_EQ(code.log,
            (Lines{"3 5 @90 0 ", "file /bin/prog '' true", "1 5 @95 1000 /bin/prog",
                   "file /lib/later.so '' true", "1 5 @110 8000 /lib/later.so", "copy @120"}));
  // By their DWARF numbers: ax, dx, cx, bx, si, di, bp, sp, r8 to r15, ip.
  const std::vector<uint64_t> wanted{100, 103, 102, 101, 104, 105, 106, 107, 116,
                                     117, 118, 119, 120, 121, 122, 123, 108};
  EXPECT_EQ(std::vector<uint64_t>(std::begin(code.copies.at(0).registers),
                                  std::end(code.copies.at(0).registers)),
            wanted);
  EXPECT_EQ(code.bytes, Lines{"the stack bytes."});
  // The kernel's caller, the address in user mode, and both frames, of which one is a guess.
  const uint32_t flags = PITRACE_STACK_USER_TABLES | PITRACE_STACK_USER_CUT | 2u << 24;
  EXPECT_EQ(ticks(), (Lines{fmt::format("10/20 @120 5 6 ffffffff 81000010 {:x} ffffffff 81000020 0 "
                                        "6c 0 21 0 22",
                                        flags | 1 | 3 << 8)}));
  EXPECT_EQ(info("note"), Lines{"a note"});
  EXPECT_EQ(info("cannot_see").size(), 0u);
  EXPECT_THAT(file_.find(test::type_build_ids)->data, HasSubstr("ff /lib/found.so\n"));
  EXPECT_EQ(test::slurp(dir_ / "trace").find("stack bytes"), std::string::npos);
}

// By pthread_exit(), which leaves the memory to the others.
TEST_F(PerfImportTest, AProcessEndsWithItsLastThread) {
  LoggingCode code;
  code_ = &code;
  PerfData data;
  data.event(test::copied_attr(), {test::some_event})
      .record(test::perf_task(PERF_RECORD_FORK, 5, 5, 6, 5, 10))
      .record(test::perf_comm(5, 7, "named", false, 11))
      .record(test::perf_task(PERF_RECORD_EXIT, 5, 5, 5, 5, 20))
      .record(test::perf_task(PERF_RECORD_EXIT, 5, 5, 6, 5, 30))
      .record(test::copied_sample(40, "the stack bytes.", PERF_SAMPLE_REGS_ABI_64))
      .record(test::perf_task(PERF_RECORD_EXIT, 5, 5, 7, 5, 50))
      // Another process of this number, with a thread whose end was lost, executes a program.
      .record(test::perf_task(PERF_RECORD_FORK, 5, 1, 5, 1, 60))
      .record(test::perf_task(PERF_RECORD_FORK, 5, 5, 8, 5, 61))
      .record(test::perf_comm(5, 5, "prog", true, 62))
      .record(test::perf_task(PERF_RECORD_EXIT, 5, 5, 5, 5, 70));
  ASSERT_TRUE(import(data.file()));
  EXPECT_EQ(code.log, (Lines{"copy @40", "4 5 @50 0 ", "2 5 @60 0 ", "3 5 @62 0 ", "4 5 @70 0 "}));
}

TEST_F(PerfImportTest, CopiesWithoutWhatIsNeededGiveCutStacks) {
  LoggingCode code;
  code_ = &code;
  PerfData data;
  perf_event_attr few = test::copied_attr();
  few.sample_regs_user = 0x180;  // sp and ip only
  data.event(test::copied_attr(), {test::some_event})
      .record(test::copied_sample(100, "stack of 32 bits", PERF_SAMPLE_REGS_ABI_32))
      .record(test::copied_sample(110, "", PERF_SAMPLE_REGS_ABI_NONE))
      .record(test::copied_sample(120, "it is cut here..", PERF_SAMPLE_REGS_ABI_64, 15));
  ASSERT_TRUE(import(data.file()));
  EXPECT_EQ(code.copies.size(), 0u);
  EXPECT_EQ(ticks().size(), 2u);
  EXPECT_EQ(info("count.0.trace.source"), Lines{"1"});
  EXPECT_THAT(info("cannot_see").at(0), HasSubstr("Callers in user code of 1 samples"));
  data = {};
  data.event(few, {test::some_event})
      .record(test::copied_sample(100, "the stack bytes.", PERF_SAMPLE_REGS_ABI_64, 2));
  ASSERT_TRUE(import(data.file()));
  EXPECT_EQ(code.copies.size(), 0u);
  EXPECT_THAT(info("cannot_see").at(0), HasSubstr("Callers in user code of 1 samples"));
}

// A record of each length, of which every field can be the last.
TEST_F(PerfImportTest, ACutCopyIsCountedAsLost) {
  LoggingCode code;
  code_ = &code;
  const auto whole = test::copied_sample(100, "the stack bytes.", PERF_SAMPLE_REGS_ABI_64);
  for (size_t size = sizeof(perf_event_header); size < whole.size(); size += 8) {
    auto record = std::vector(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size));
    const auto number = static_cast<uint16_t>(size);
    std::memcpy(record.data() + offsetof(perf_event_header, size), &number, sizeof number);
    PerfData data;
    data.event(test::copied_attr(), {test::some_event}).record(record);
    ASSERT_TRUE(import(data.file())) << size;
    EXPECT_EQ(ticks().size(), 0u) << size;
    EXPECT_EQ(info("count.0.trace.source"), Lines{"1"}) << size;
  }
  EXPECT_EQ(code.copies.size(), 0u);
}

TEST_F(PerfImportTest, CopiesOfAnotherMachineAreNotUnwound) {
  LoggingCode code;
  code_ = &code;
  PerfData data;
  data.event(test::copied_attr(), {test::some_event})
      .text_feature(6, "aarch64")
      .record(test::copied_sample(120, "the stack bytes.", PERF_SAMPLE_REGS_ABI_64));
  ASSERT_TRUE(import(data.file()));
  EXPECT_EQ(code.copies.size(), 0u);
  EXPECT_EQ(ticks(), Lines{"10/20 @120 5 6 ffffffff 81000010 1 ffffffff 81000020"});
  EXPECT_THAT(info("cannot_see").at(0), HasSubstr("of the machine aarch64 are not unwound"));
}

TEST_F(PerfImportTest, WithoutSamplesOfTheFirstEventOthersAreNamed) {
  PerfData data = clock_data();
  data.names({"clock", "few", "many"});
  for (const uint64_t id : {8, 9})
    data.event(test::recorded_attr(fault_event, test::usual_sample, 10), {id});
  data.record(sample(1, 100, 0, 8));
  for (const uint64_t time : {110, 120}) data.record(sample(1, time, 0, 9));
  EXPECT_THAT(import(data.file()).error().message,
              HasSubstr("has no samples of clock; choose another event with --event: many (2), "
                        "few (1)."));
  PerfData counts = clock_data();
  EXPECT_THAT(import(counts.feature(19, "").file()).error().message, HasSubstr("perf stat record"));
  PerfData tracer = clock_data();
  EXPECT_THAT(import(tracer.feature(18, "").file()).error().message, HasSubstr("Intel PT"));
}

TEST_F(PerfImportTest, NamesInMessagesDoNotSteerATerminal) {
  PerfData data = clock_data();
  data.names({"clock\x1b[2J\n"}).record(sample(1, 100));
  const Status status = import(data.file(), "other\x1b");
  EXPECT_EQ(status.error().message.find_first_of("\x1b\n"), std::string::npos);
  EXPECT_THAT(status.error().message, HasSubstr("clock\\x1b[2J\\x0a"));
}

TEST_F(PerfImportTest, AFileThatWasReplacedWhileItWasRecordedHasNoBuildId) {
  PerfData data = clock_data();
  for (const uint32_t id : {0xaau, 0xbbu}) {
    PerfRecord mapped(PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_BUILD_ID);
    mapped.u32(5).u32(5).u64(0x1000).u64(0x1000).u64(0);
    mapped.u32(1).u32(id).u64(0).u64(0).u32(PROT_EXEC).u32(2).text("/bin/twice");
    data.record(mapped.end(5, 5, 10));
  }
  ASSERT_TRUE(import(data.record(sample(0x1000, 20)).file()));
  EXPECT_EQ(file_.find(test::type_build_ids)->data, "? /bin/twice\n");
}

TEST_F(PerfImportTest, CallersThatAreRecordedInAnotherWayAreReported) {
  PerfData data;
  perf_event_attr attr = test::recorded_attr(
      clock_event, test::usual_sample | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_BRANCH_STACK, 1);
  attr.branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK;
  data.event(attr, {test::some_event})
      .record(test::perf_chain(
          PERF_RECORD_MISC_USER, 0x1234, 5, 100,
          {static_cast<uint64_t>(PERF_CONTEXT_USER), 0x1234, static_cast<uint64_t>(-640), 7}));
  ASSERT_TRUE(import(data.file()));
  EXPECT_EQ(ticks().size(), 1u);
  EXPECT_THAT(info("cannot_see"),
              testing::ElementsAre(HasSubstr("--call-graph lbr"),
                                   HasSubstr("of 1 samples: the kernel has recorded them later")));
}

TEST_F(PerfImportTest, ARecordingOfAPipeIsTheSame) {
  PerfData data = clock_data();
  data.names({"clock"}).text_feature(3, "machine").record(sample(0x1234, 100));
  ASSERT_TRUE(import(data.piped()));
  EXPECT_EQ(ticks(), (Lines{"10/23 @100 5 6 0 1234"}));
  EXPECT_EQ(info("host"), Lines{"machine"});
}

// One stream of compressed data: a record ends in the next compressed record.
TEST_F(PerfImportTest, CompressedRecordsAreUnpackedAcrossTheirBounds) {
  PerfData plain = clock_data();
  for (uint64_t i = 0; i < 5000; ++i) plain.record(sample(i, 100 + i));
  const std::string& records = plain.records();
  std::string packed(ZSTD_compressBound(records.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), records.data(), records.size(), 1));
  PerfData data = clock_data();
  for (size_t at = 0; at < packed.size(); at += 999)
    data.record(test::user_record(81, packed.substr(at, 999))).record(test::end_of_round());
  ASSERT_TRUE(import(data.file()));
  const Lines found = ticks();
  ASSERT_EQ(found.size(), 5000u);
  EXPECT_EQ(found.back(), "10/23 @5099 5 6 0 1387");
  EXPECT_EQ(info("ended"), Lines{"off"});
  // A part of them is missing.
  PerfData part = clock_data();
  part.record(test::user_record(81, packed.substr(0, packed.size() * 3 / 4)));
  ASSERT_TRUE(import(part.file()));
  EXPECT_LT(ticks().size(), 5000u);
  EXPECT_GT(ticks().size(), 0u);
  EXPECT_EQ(info("ended"), Lines{"running"});
}

TEST_F(PerfImportTest, ATruncatedFileGivesItsWholeRecordsAndSaysSo) {
  PerfData data = clock_data();
  for (uint64_t i = 0; i < 4; ++i) data.record(sample(i, 100 + i));
  const std::string whole = data.text_feature(3, "machine").file();
  const size_t begin = whole.find(data.records()), each = data.records().size() / 4;
  for (size_t size = 0; size < whole.size(); ++size) {
    const Status status = import(whole.substr(0, size));
    if (size <= begin) {
      // The list of events comes before the records; nothing of them is there.
      EXPECT_TRUE(!status || ticks().empty()) << size;
      continue;
    }
    ASSERT_TRUE(status) << size;
    EXPECT_EQ(ticks().size(), std::min((size - begin) / each, size_t{4})) << size;
    if (size < begin + 4 * each) {
      EXPECT_EQ(info("ended"), Lines{"running"}) << size;
    }
  }
}

TEST_F(PerfImportTest, WhatIsNoRecordingIsRefused) {
  EXPECT_THAT(import("").error().message, HasSubstr("is empty"));
  EXPECT_THAT(import("#!/bin/sh\n").error().message, HasSubstr("is no recording of perf"));
  EXPECT_THAT(import("2ELIFREP" + std::string(200, 0)).error().message,
              HasSubstr("big-endian machine"));
  EXPECT_FALSE(import("PERFILE2"));
  EXPECT_FALSE(import("PERFILE2" + std::string(200, 1)));
  EXPECT_EQ(import(std::string("PERFILE2") + std::string(200, 0)).error().code, PU_ERROR_FILE);
}

TEST_F(PerfImportTest, ABadRecordIsCountedAndTheNextOnesAreRead) {
  PerfData data = clock_data();
  data.record(PerfRecord(PERF_RECORD_SAMPLE).u64(test::some_event).end())
      .record(PerfRecord(PERF_RECORD_COMM).end())
      .record(PerfRecord(PERF_RECORD_MMAP2).u64(1).end(1, 1, 1))
      .record(sample(1, 100, 1'000'000))
      .record(sample(2, 110));
  ASSERT_TRUE(import(data.file()));
  EXPECT_EQ(ticks(), (Lines{"10/23 @110 5 6 0 2"}));
  EXPECT_EQ(info("count.0.trace.source"), Lines{"3"});
}

TEST_F(PerfImportTest, TheKernelsSymbolsAreUsedOnlyIfTheSymbolIsAtItsAddress) {
  EXPECT_TRUE(has_symbol("ffffffff81000000 T _text\n", "_text", 0xffffffff81000000));
  EXPECT_FALSE(has_symbol("ffffffff82000000 T _text\n", "_text", 0xffffffff81000000));
  EXPECT_FALSE(has_symbol("ffffffff81000000 T other_text\n", "_text", 0xffffffff81000000));
  EXPECT_FALSE(has_symbol("", "_text", 0));
  const std::string kallsyms = "ffffffff81000000 T _text\nffffffff81000100 T more\n";
  dir_.write("cache/[kernel.kallsyms]/00aa/kallsyms", kallsyms);
  RecordedKernel kernel{"elsewhere", "1.0", "00aa", "_text", 0xffffffff81000000};
  const KernelTexts found = find_kernel_texts(kernel, dir_.path(), dir_ / "cache");
  EXPECT_EQ(found.kallsyms_state, "complete");
  EXPECT_FALSE(found.kallsyms.empty());
  kernel.address += 0x200000;
  EXPECT_EQ(find_kernel_texts(kernel, dir_.path(), dir_ / "cache").kallsyms_state, "missing");
}

}  // namespace
}  // namespace pi::perfutil
