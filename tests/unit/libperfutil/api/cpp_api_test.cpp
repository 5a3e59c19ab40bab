// SPDX-License-Identifier: MIT
// The C++ interface as a program uses it, linked against the shared library.
#include <perfutil.hpp>

#include <gtest/gtest.h>
#include <pitrace/user_hook.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <type_traits>

#include "nrm2_file.h"
#include "temp_dir.h"

namespace {

using namespace pitrace;

// ---- results -----------------------------------------------------------------------------------

TEST(CppResult, AnErrorHasCodeNameAndText) {
  const auto error = Result<void>::of(TraceOn());
  ASSERT_FALSE(error);
  EXPECT_EQ(error.error().code(), PU_ERROR_NOT_INITIALIZED);
  EXPECT_EQ(std::string(error.error().name()).find("PU_ERROR_NOT_INITIALIZED: "), 0u);
  EXPECT_NE(error.error().text().find("TraceInit"), std::string::npos);
}

TEST(CppResult, AnErrorWithoutATextHasTheTextOfItsCode) {
  (void)PiErrorText();
  ASSERT_EQ(SetProfilerRate(0), PU_ERROR_NOT_INITIALIZED);
  ASSERT_EQ(PiSetSource(PI_SOURCE_AUTO), PU_SUCCESS);  // empties the text
  EXPECT_EQ(Error::last(PU_ERROR_BUFFER_FULL).text(), RcToString(PU_ERROR_BUFFER_FULL));
}

TEST(CppResult, HoldsAValueOrAnError) {
  Result<std::string> value("text");
  ASSERT_TRUE(value.has_value());
  EXPECT_EQ(value->size(), 4u);
  EXPECT_EQ(*std::move(value), "text");
  EXPECT_EQ(Result<std::string>(Error(-1, "sentence")).error().text(), "sentence");
  EXPECT_TRUE(Result<void>::of(PU_SUCCESS));
}

// ---- hooks -------------------------------------------------------------------------------------

static_assert(HookArgument<bool> && HookArgument<char> && HookArgument<uint64_t>);
static_assert(HookArgument<std::string_view> && HookArgument<std::span<const std::byte>>);
static_assert(HookArgument<double> && HookArgument<std::array<int, 3>>);
static_assert(!HookArgument<const char*> && !HookArgument<void*> && !HookArgument<std::nullptr_t>);
static_assert(!HookArgument<std::string> && !HookArgument<int&>);
struct Padded {
  char letter;
  int number;
};
static_assert(!HookArgument<Padded> && !HookArgument<std::span<Padded>>);
static_assert(!HookArgument<std::wstring_view> && !HookArgument<std::span<const char* const>>);

struct Pair {
  uint32_t first, second;
};
enum class Colour : uint16_t { red = 7 };
constexpr Hook<0x70, 3, int, uint64_t, Colour, std::string_view, Pair, std::span<const uint16_t>>
    everything;
static_assert(everything.int_count == 4 && everything.string_count == 3);
static_assert(noexcept(everything(1, 2u, Colour::red, "", Pair{}, {})));

TEST(CppHook, AllowsTheMajorsThatTheLibraryAllows) {
  for (uint32_t major = 0; major < 300; ++major)
    EXPECT_EQ(hook_major_allowed(major), pitrace_hook_major_allowed(major)) << major;
}

TEST(CppHook, AResultReportsWhetherTheRecordWasLost) {
  EXPECT_TRUE(HookResult(PU_ERROR_NO_BUFFER));
  EXPECT_TRUE(HookResult(PU_SUCCESS).ok());
  EXPECT_TRUE(HookResult(PU_ERROR_BUFFER_FULL).lost());
  EXPECT_FALSE(HookResult(PU_ERROR_BUFFER_FULL).ok());
  EXPECT_FALSE(HookResult(PU_ERROR_HOOK_TOO_LONG));
}

TEST(CppHook, IsNoErrorWithoutATrace) {
  if (IsDeviceDriverInstalled()) GTEST_SKIP() << "the module is loaded";
  EXPECT_TRUE(everything(-1, 2u, Colour::red, "text", Pair{1, 2}, {}));
}

// ---- sessions ----------------------------------------------------------------------------------

TraceConfig small() {
  TraceConfig config;
  config.source = Source::perf;
  // The names of all processes of a busy machine fit into the default size.
  config.trace_bytes = PI_BUFFER_BYTES_MIN;
  config.majors = {PI_MAJORS_TPROF, 0x70};
  return config;
}

class CppSession : public testing::Test {
 protected:
  void SetUp() override {
    auto session = TraceSession::create(small());
    if (!session) GTEST_SKIP() << "needs perf_event_open: " << session.error().text();
    session_.emplace(*std::move(session));
  }

  TraceSession& session() { return *session_; }
  void end() { session_.reset(); }

 private:
  std::optional<TraceSession> session_;
};

TEST(CppSessionWithoutATrace, WrongSettingsAreRefused) {
  auto config = small();
  config.pid = -1;
  const auto session = TraceSession::create(config);
  ASSERT_FALSE(session);
  EXPECT_EQ(session.error().code(), PU_ERROR_INVALID_PARAMETER);
  EXPECT_NE(session.error().text().find("-1"), std::string::npos);
}

TEST_F(CppSession, AFailedCreationReleasesEverything) {
  end();
  auto config = small();
  config.majors = {300};
  const auto session = TraceSession::create(config);
  ASSERT_FALSE(session);
  EXPECT_EQ(session.error().code(), PU_ERROR_INVALID_PARAMETER);
  EXPECT_NE(session.error().text(), "");
  EXPECT_EQ(TraceTerminate(), PU_ERROR_NOT_INITIALIZED);
}

TEST_F(CppSession, HasItsSettings) {
  const auto status = session().status();
  ASSERT_TRUE(status);
  EXPECT_EQ(status->source, PI_SOURCE_PERF);
  EXPECT_EQ(status->rate, 100u);
  EXPECT_EQ(status->trace_bytes, PI_BUFFER_BYTES_MIN);
  EXPECT_EQ(status->mode, COLLECTION_MODE_NORMAL);
  EXPECT_EQ(TraceQueryMajor(0x70), 1);
  EXPECT_EQ(TraceQueryMajor(0x71), 0);
  EXPECT_FALSE(session().cannot_see().empty());
}

TEST_F(CppSession, StartsPausesAndStopsInOrder) {
  EXPECT_EQ(session().stop().error().code(), PU_ERROR_INCORRECT_STATE);
  ASSERT_TRUE(session().start());
  EXPECT_TRUE(session().is_on());
  EXPECT_TRUE(session().is_active());
  EXPECT_EQ(session().start().error().code(), PU_ERROR_INCORRECT_STATE);
  ASSERT_TRUE(session().suspend());
  EXPECT_TRUE(session().is_on());
  EXPECT_FALSE(session().is_active());
  ASSERT_TRUE(session().resume());
  ASSERT_TRUE(session().discard());
  EXPECT_TRUE(session().enable(0x71));
  EXPECT_TRUE(session().disable(0x71));
  const auto stopped = session().stop();
  ASSERT_TRUE(stopped) << stopped.error().text();
  EXPECT_EQ(*stopped, StopResult::stopped);
  EXPECT_FALSE(session().is_on());
  EXPECT_NE(session().interval(), 0u);
}

TEST_F(CppSession, TheDestructorEndsTheTrace) {
  ASSERT_TRUE(session().start());
  end();
  EXPECT_EQ(IsTraceOn(), 0);
  EXPECT_EQ(TraceTerminate(), PU_ERROR_NOT_INITIALIZED);
  const auto another = TraceSession::create(small());
  EXPECT_TRUE(another) << another.error().text();
}

TEST_F(CppSession, IsTheOnlyOneOfItsProcessAndCanBeMoved) {
  const auto second = TraceSession::create(small());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code(), PU_ERROR_INCORRECT_STATE);
  {
    const TraceSession moved(std::move(session()));
    EXPECT_EQ(TraceQueryMajor(0x70), 1);
  }
  EXPECT_EQ(TraceQueryMajor(0x70), PU_ERROR_NOT_INITIALIZED);
}

TEST_F(CppSession, AChildDoesNotEndTheSessionOfItsParent) {
  ASSERT_TRUE(session().start());
  const pid_t child = ::fork();
  if (child == 0) {
    const auto stopped = session().stop();
    const bool refused = !stopped && stopped.error().code() == PI_ERROR_FORKED;
    end();
    ::_exit(refused ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(session().is_on());
}

TEST_F(CppSession, HasTheRecordsOfTypedHooksInItsFile) {
  const pi::test::TempDir dir;
  const std::string name = dir / "trace.nrm2";
  const std::array<uint16_t, 3> numbers{1, 2, 3};
  ASSERT_TRUE(session().start());
  // A process whose hook has found no trace looks for one again only after some time.
  HookResult written(PU_ERROR_NO_BUFFER);
  for (int i = 0; i < 1000 && written.code() == PU_ERROR_NO_BUFFER; ++i) {
    if (i != 0) ::usleep(10'000);
    written = everything(-2, 0x1'0000'0003u, Colour::red, "text", Pair{4, 5}, numbers);
  }
  EXPECT_EQ(written.code(), PU_SUCCESS) << written.name();
  ASSERT_TRUE(session().stop());
  const auto done = session().write(name);
  ASSERT_TRUE(done) << done.error().text();

  std::ifstream file(name, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  // The data after the record's time: the number of ints; the ints; for each string its length and
  // its bytes.
  const std::array<uint32_t, 13> words{4, 0xfffffffe, 3, 1, 7, 4, 0, 8, 4, 5, 6, 0x00020001, 3};
  std::string expected(reinterpret_cast<const char*>(words.data()), sizeof words);
  std::memcpy(expected.data() + 24, "text", 4);
  EXPECT_NE(bytes.find(expected), std::string::npos);
}

// ---- ITrace ------------------------------------------------------------------------------------

static_assert(std::is_same_v<pi::ITraceRegion, ITraceRegion>);
static_assert(std::is_nothrow_default_constructible_v<ITraceRegion> &&
              !std::is_move_constructible_v<ITraceRegion>);

TEST(CppITrace, IsRefusedWithoutTheModule) {
  if (IsDeviceDriverInstalled()) GTEST_SKIP() << "the module is loaded";
  const auto ready = ITraceRegion::prepare();
  ASSERT_FALSE(ready);
  EXPECT_EQ(ready.error().code(), PU_ERROR_DRIVER_NOT_LOADED);
  EXPECT_EQ(ready.error().text(), PiErrorText());
  const ITraceRegion region;
  EXPECT_FALSE(region);
  EXPECT_EQ(region.rc(), PU_ERROR_DRIVER_NOT_LOADED);
  const auto installed = ITraceInstallation::create();
  ASSERT_FALSE(installed);
  EXPECT_EQ(installed.error().code(), PU_ERROR_DRIVER_NOT_LOADED);
}

TEST_F(CppSession, InstallsITraceUntilTheInstallationIsDestroyed) {
  ASSERT_TRUE(session().start());
  {
    auto itrace = ITraceInstallation::create(PI_ITRACE_NO_KERNEL);
    if (!itrace) GTEST_SKIP() << itrace.error().text();
    const auto status = itrace->status();
    ASSERT_TRUE(status) << status.error().text();
    EXPECT_EQ(status->installed, 1);
    const std::array pids{static_cast<int>(::getpid())};
    EXPECT_FALSE(itrace->enable(pids)) << "perf cannot trace the caller";
  }
  auto again = ITraceInstallation::create(PI_ITRACE_NO_KERNEL);
  EXPECT_TRUE(again) << again.error().text();
}

// ---- PTT ---------------------------------------------------------------------------------------

class CppPtt : public testing::Test {
 protected:
  void SetUp() override {
    if (IsDeviceDriverInstalled() != 0) GTEST_SKIP() << "needs a machine without the module";
  }
};

void spin_briefly() {
  for (int i = 0; i < 100'000; ++i) asm volatile("");
}

TEST_F(CppPtt, RegionsAddUpAndEndWithTheirThread) {
  const auto ptt = Ptt::create(std::array{PTT_METRIC_CYCLES});
  ASSERT_TRUE(ptt) << ptt.error().text();
  EXPECT_EQ(ptt->metrics(), 1u);
  const auto state = ptt->state();
  ASSERT_TRUE(state);
  EXPECT_EQ(state->metrics, 1);

  PttTotals inner, outer;
  {
    const auto thread = PttThread::create();
    ASSERT_TRUE(thread) << thread.error().text();
    {
      const PttRegion all(*thread, outer);
      EXPECT_TRUE(all);
      for (int i = 0; i < 3; ++i) {
        const PttRegion one(*thread, inner);
        spin_briefly();
      }
    }
    uint64_t now = 0;
    EXPECT_EQ(thread->read({&now, 1}), PU_SUCCESS);
    EXPECT_GE(now, outer.values[0]);
    std::array<uint64_t, 12> more;
    more.fill(1);
    EXPECT_EQ(thread->read(more), PU_SUCCESS);
    EXPECT_EQ(more[11], 0u);
  }
  EXPECT_EQ(inner.regions, 3u);
  EXPECT_EQ(outer.regions, 1u);
  EXPECT_EQ(inner.failed + outer.failed, 0u);
  EXPECT_GT(inner.values[0], 0u);
  EXPECT_GE(outer.values[0], inner.values[0]);
  EXPECT_EQ(inner.values[1], 0u);
  uint64_t value = 0;
  EXPECT_EQ(PttGetMetricData(&value), PU_ERROR_NOT_INITIALIZED) << "the thread is counted no more";
}

TEST_F(CppPtt, ARegionThatCannotBeReadIsCountedAsFailed) {
  PttTotals totals;
  {
    auto ptt = Ptt::create({"CYCLES"});
    ASSERT_TRUE(ptt) << ptt.error().text();
    auto thread = PttThread::create();
    ASSERT_TRUE(thread) << thread.error().text();
    const PttThread taken(*std::move(thread));
    const PttRegion of_moved(*thread, totals);
    EXPECT_FALSE(of_moved);
    const PttRegion good(taken, totals);
    EXPECT_TRUE(good);
  }
  EXPECT_EQ(totals.failed, 1u);
  EXPECT_EQ(totals.regions, 1u);
}

TEST_F(CppPtt, TheDestructorEndsPttAndErrorsHaveAText) {
  {
    const auto ptt = Ptt::create({"CYCLES"});
    ASSERT_TRUE(ptt) << ptt.error().text();
    EXPECT_EQ(PttQueryState(), 1);
    const auto second = Ptt::create({"CYCLES"});
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code(), PU_ERROR_INCORRECT_STATE);
  }
  EXPECT_EQ(PttQueryState(), 0);
  const auto thread = PttThread::create();
  ASSERT_FALSE(thread);
  EXPECT_EQ(thread.error().code(), PU_ERROR_NOT_INITIALIZED);
  const auto unknown = Ptt::create({"no-such-event"});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code(), PU_ERROR_INVALID_METRIC);
  EXPECT_NE(unknown.error().text().find("no-such-event"), std::string::npos);
  const std::array<int, 9> many{};
  EXPECT_EQ(Ptt::create(many).error().code(), PU_ERROR_TOO_MANY_METRICS);
}

}  // namespace
