// SPDX-License-Identifier: MIT
// The checker of random schedules detects errors: each test falsifies one thing in a correct file.
#include "check_schedule.h"

#include <gmock/gmock.h>
#include <pi/nrm2.h>
#include <pitrace/encode.h>

#include <unistd.h>

#include <cstring>
#include <fstream>
#include <memory>

namespace schedule {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

// A trace of one CPU: numbers 0 to 9, written from time 100 on; 4 and 5 were lost.
class CheckSchedule : public testing::Test {
 protected:
  void SetUp() override {
    for (uint32_t number = 0; number < 10; ++number) {
      const bool lost = number == 4 || number == 5;
      log_->entries[number] = lost ? recorded | WriterLog::refused : uint8_t{recorded};
      if (number == 6) put_lost(2);
      if (!lost) put_hook(number);
    }
    log_->count = 10;
  }

  void put(uint32_t major, uint32_t minor, std::initializer_list<uint32_t> ints) {
    const auto count = static_cast<uint32_t>(ints.size());
    std::vector<char> record(pitrace_size_ints(count));
    pitrace_encode_ints(reinterpret_cast<__u8*>(record.data()), time_, major, minor, ints.begin(),
                        count);
    records_.push_back(record);
  }
  void put_hook(uint32_t number) {
    put(hook_major, 0, {0, 0, number});
    time_ += 10;
  }
  void put_lost(uint32_t lost) { put(PITRACE_MAJOR_SYSTEM, PITRACE_SYSTEM_LOST, {0, lost}); }

  static void add_section(std::string& file, uint32_t type, const std::string& data) {
    std::string header(pi::nrm2::header_size, '\0');
    const auto set = [&](size_t at, const void* value, size_t size) {
      std::memcpy(header.data() + at, value, size);
    };
    const auto size = static_cast<uint32_t>(data.size());
    set(pi::nrm2::offset::magic, pi::nrm2::magic, sizeof pi::nrm2::magic);
    set(pi::nrm2::offset::data_size, &size, sizeof size);
    set(pi::nrm2::offset::section_type, &type, sizeof type);
    file += header + data;
  }

  std::vector<std::string> problems() {
    std::string trace, file;
    for (const auto& record : records_) trace.append(record.begin(), record.end());
    add_section(file, pi::nrm2::section_trace, trace);
    add_section(file, pi::nrm2::section_info, counts_);
    // Tests run in parallel.
    const std::string name = testing::TempDir() + "check_schedule." +
                             testing::UnitTest::GetInstance()->current_test_info()->name() + "." +
                             std::to_string(::getpid()) + ".nrm2";
    std::ofstream(name, std::ios::binary) << file;
    const auto result =
        check_file(name, {mode_, true, true, true, {{log_.get(), from_, log_->count}}});
    ::unlink(name.c_str());
    return result.problems;
  }

  std::unique_ptr<WriterLog> log_ = std::make_unique<WriterLog>();
  std::vector<std::vector<char>> records_;
  std::string counts_ =
      "count.0.trace.produced=10\ncount.0.trace.written=8\ncount.0.trace.full=2\n";
  Mode mode_ = Mode::continuous;
  uint64_t from_ = 0;
  uint32_t time_ = 100;
};

TEST_F(CheckSchedule, AcceptsACorrectFile) {
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(CheckSchedule, FindsAMissingRecord) {
  records_.erase(records_.begin() + 2);
  counts_ = "count.0.trace.produced=10\ncount.0.trace.written=7\ncount.0.trace.full=3\n";
  EXPECT_THAT(problems(), Contains(HasSubstr("accepted and missing in the middle is 1")));
}

TEST_F(CheckSchedule, FindsADuplicateRecord) {
  records_.insert(records_.begin() + 2, records_[1]);
  EXPECT_THAT(problems(), Contains(HasSubstr("number 1 twice or out of order")));
}

TEST_F(CheckSchedule, FindsARecordWrittenWhileTheTraceWasOff) {
  log_->entries[7] = not_recorded;
  EXPECT_THAT(problems(), Contains(HasSubstr("number 7 was written while the trace was off")));
}

TEST_F(CheckSchedule, FindsARecordFromBeforeTheDiscard) {
  from_ = 1;
  EXPECT_THAT(problems(), Contains(HasSubstr("number 0 is outside of the window")));
}

TEST_F(CheckSchedule, FindsAWrongLossRecord) {
  for (const uint32_t reported : {1u, 3u}) {
    records_[4].back() = 0;
    std::memcpy(records_[4].data() + sizeof(pitrace_record) + 4, &reported, sizeof reported);
    EXPECT_THAT(problems(), Contains(HasSubstr("before number 6 the stream reports")));
  }
}

TEST_F(CheckSchedule, FindsAnUnreportedLoss) {
  records_.erase(records_.begin() + 4);
  EXPECT_THAT(problems(), Contains(HasSubstr("reports 0 lost records, 2 to 2 are missing")));
}

TEST_F(CheckSchedule, FindsWrongCounts) {
  counts_ = "count.0.trace.produced=10\ncount.0.trace.written=8\ncount.0.trace.full=1\n";
  EXPECT_THAT(problems(), Contains(HasSubstr("produced 10 is not written 8 + lost 1")));
  counts_ = "count.0.trace.produced=11\ncount.0.trace.written=9\ncount.0.trace.full=2\n";
  EXPECT_THAT(problems(), Contains(HasSubstr("records in the file is 8, should be 9")));
  counts_ = "";
  EXPECT_THAT(problems(), Contains(HasSubstr("no counts")));
}

TEST_F(CheckSchedule, FindsADecreasingTime) {
  const uint32_t early = 99;
  std::memcpy(records_[3].data() + offsetof(pitrace_record, time_lo), &early, sizeof early);
  EXPECT_THAT(problems(), Contains(HasSubstr("the time runs back")));
}

TEST_F(CheckSchedule, FindsMissingRecordsAtTheEnd) {
  records_.pop_back();
  counts_ = "count.0.trace.produced=10\ncount.0.trace.written=7\ncount.0.trace.full=3\n";
  for (const Mode mode : {Mode::normal, Mode::wrap, Mode::continuous}) {
    mode_ = mode;
    EXPECT_THAT(problems(), Contains(HasSubstr("missing at the end")));
  }
  counts_ =
      "count.0.trace.produced=10\ncount.0.trace.written=8\ncount.0.trace.full=2\n"
      "count.0.trace.unwritten=1\n";
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(CheckSchedule, AcceptsOverwrittenRecordsOnlyAtTheBeginning) {
  mode_ = Mode::wrap;
  counts_ += "count.0.trace.overwritten=2\n";
  const auto all = records_;
  records_.erase(records_.begin(), records_.begin() + 2);
  EXPECT_THAT(problems(), IsEmpty());
  records_ = all;
  records_.erase(records_.begin() + 1, records_.begin() + 3);
  EXPECT_THAT(problems(), Contains(HasSubstr("missing in the middle is 2")));
}

}  // namespace
}  // namespace schedule
