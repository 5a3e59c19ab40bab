// SPDX-License-Identifier: MIT
// The control groups of processes in traces of the module: of which processes they are read, when,
// and of how many.
#include "driver/driver_cgroups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pi/decode.h>
#include <pi/nrm2.h>
#include <pitrace/encode.h>
#include <pitrace/ring.h>

#include "fake_device.h"
#include "source/ring_memory.h"
#include "temp_dir.h"

namespace pi::perfutil {
namespace {

using test::FakeDevice;
using test::FakeModule;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class DriverCgroupsTest : public testing::Test {
 protected:
  DriverCgroupsTest() {
    config_.proc_path = proc_.path();
    config_.mode = COLLECTION_MODE_NORMAL;
    names_ = device_.map(PITRACE_BUFFER_MTE, 0, ring_mapping_bytes(names_bytes));
    std::byte* memory = module_->memory.at({PITRACE_BUFFER_MTE, 0});
    ring_.head = reinterpret_cast<pitrace_buffer_head*>(memory);
    ring_.head->data_size = ring_.size = names_bytes;
    ring_.data = reinterpret_cast<__u8*>(memory + PITRACE_HEAD_BYTES);
    pitrace_ring_reset(&ring_, 0, false);
    cgroups_.emplace(config_);
    cgroups_->add_cpu(0, names_);
  }
  void run_process(uint32_t pid, const std::string& cgroup) {
    proc_.write(std::to_string(pid) + "/cgroup", "0::" + cgroup + "\n");
  }
  void put(uint64_t time, uint32_t minor, uint32_t pid) {
    __u64 at = time;
    pitrace_ring_enter(&ring_);
    void* place = pitrace_ring_reserve_timed(&ring_, pitrace_size_ints(1), &at, true);
    pitrace_encode_ints(place, static_cast<uint32_t>(at), PITRACE_MAJOR_MTE, minor, &pid, 1);
    pitrace_ring_leave(&ring_);
  }
  void start() {
    ASSERT_TRUE(cgroups_->begin());
    ASSERT_TRUE(cgroups_->start(5, [] {}));
  }
  // "TIME PID PATH" of each record.
  std::vector<std::string> records() {
    std::vector<std::string> lines;
    for (const BufferView& view : cgroups_->buffers()) {
      EXPECT_EQ(view.cpu, nrm2::recorder_cpu);
      RecordCursor().follow(view, [&](const RecordView& record, uint64_t time) {
        CgroupEntry cgroup;
        if (!decode_cgroup(record, cgroup)) return;
        EXPECT_EQ(cgroup.hierarchy, uint32_t{PITRACE_CGROUP_V2});
        lines.push_back(std::to_string(time) + " " + std::to_string(cgroup.pid) + " " +
                        std::string(cgroup.path));
      });
    }
    return lines;
  }

  static constexpr uint64_t names_bytes = 1 << 20;
  test::TempDir proc_;
  std::shared_ptr<FakeModule> module_ = std::make_shared<FakeModule>();
  FakeDevice device_{module_};
  TraceConfig config_;
  UniqueMapping names_;
  pitrace_ring ring_{};
  std::optional<DriverCgroups> cgroups_;
};

TEST_F(DriverCgroupsTest, OfWhatRunsAndOfEachExecWithItsTime) {
  run_process(10, "/system.slice/a.service");
  start();
  run_process(11, "/b.service");
  put(300, PITRACE_MTE_CREATE, 11);
  put(400, PITRACE_MTE_CREATE, 12);  // has ended already
  cgroups_->finish();
  EXPECT_THAT(records(), ElementsAre("5 10 /system.slice/a.service", "300 11 /b.service"));
  EXPECT_THAT(cgroups_->notes(), IsEmpty());
}

TEST_F(DriverCgroupsTest, AProcessThatHasEndedIsNotTakenForAnotherOne) {
  start();
  run_process(11, "/other.service");
  put(300, PITRACE_MTE_CREATE, 11);
  put(400, PITRACE_MTE_KILL, 11);
  cgroups_->finish();
  EXPECT_THAT(records(), IsEmpty());
}

TEST_F(DriverCgroupsTest, NamesThatAreOverwrittenWereSeen) {
  ASSERT_TRUE(cgroups_->begin());
  run_process(11, "/b.service");
  put(300, PITRACE_MTE_CREATE, 11);
  const BufferView view = RingMemory(names_).unread();
  cgroups_->see_names(view);
  ring_.head->consumed = view.position + view.records.size();
  ASSERT_TRUE(cgroups_->start(5, [] {}));
  cgroups_->finish();
  EXPECT_THAT(records(), ElementsAre("300 11 /b.service"));
}

TEST_F(DriverCgroupsTest, ProgramsThatStartAllTheTimeAreCountedNotRead) {
  ASSERT_TRUE(cgroups_->begin());
  for (uint32_t pid = 1; pid <= 10'003; ++pid) put(pid, PITRACE_MTE_CREATE, pid);
  cgroups_->see_names(RingMemory(names_).unread());
  EXPECT_THAT(cgroups_->notes(), ElementsAre(HasSubstr("control groups of 3 processes")));
}

TEST_F(DriverCgroupsTest, InAPidNamespaceNothingIsRead) {
  run_process(10, "/a.service");
  proc_.write("self/ns/pid", "");  // a file with another inode
  start();
  put(300, PITRACE_MTE_CREATE, 10);
  cgroups_->finish();
  EXPECT_THAT(records(), IsEmpty());
  EXPECT_THAT(cgroups_->notes(), ElementsAre(HasSubstr("PID namespace")));
}

TEST_F(DriverCgroupsTest, AnotherTraceBeginsAnew) {
  run_process(10, "/a.service");
  start();
  cgroups_->finish();
  run_process(10, "/b.service");
  start();
  cgroups_->finish();
  EXPECT_THAT(records(), ElementsAre("5 10 /b.service"));
}

}  // namespace
}  // namespace pi::perfutil
