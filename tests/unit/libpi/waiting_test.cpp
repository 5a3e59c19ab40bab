// SPDX-License-Identifier: MIT
// System calls and waits under frequent signals.
#include <pi/deadline.h>
#include <pi/uninterrupted.h>

#include <gtest/gtest.h>
#include <pi/hex.h>
#include <pi/unique_fd.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace {

using namespace pi;

int calls = 0;

TEST(Uninterrupted, CallsAreRepeatedWhileSignalsInterruptThem) {
  calls = 0;
  EXPECT_EQ(uninterrupted([] {
              errno = EINTR;
              return ++calls < 5 ? -1 : 7;
            }),
            7);
  EXPECT_EQ(calls, 5);
  EXPECT_EQ(uninterrupted([] {
              errno = ENOENT;
              return -1;
            }),
            -1);
  EXPECT_EQ(errno, ENOENT);
}

// Sends a signal each millisecond.
class Signals {
 public:
  Signals() {
    struct sigaction action {};
    action.sa_handler = [](int) { ++calls; };
    ::sigaction(SIGALRM, &action, &before_);
    const itimerval often{{0, 1000}, {0, 1000}};
    ::setitimer(ITIMER_REAL, &often, nullptr);
  }
  ~Signals() {
    const itimerval never{};
    ::setitimer(ITIMER_REAL, &never, nullptr);
    ::sigaction(SIGALRM, &before_, nullptr);
  }

 private:
  struct sigaction before_ {};
};

TEST(PollUntil, SignalsNeitherEndNorExtendTheWait) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const UniqueFd read_end(ends[0]), write_end(ends[1]);
  pollfd waiting{read_end.get(), POLLIN, 0};
  calls = 0;
  const Signals signals;
  const Deadline deadline(std::chrono::milliseconds(50));
  EXPECT_EQ(poll_until({&waiting, 1}, deadline), 0);
  EXPECT_TRUE(deadline.is_over());
  EXPECT_GT(calls, 0);
  ASSERT_EQ(::write(write_end.get(), "x", 1), 1);
  EXPECT_EQ(poll_until({&waiting, 1}, Deadline(std::chrono::seconds(60))), 1);
  EXPECT_EQ(waiting.revents, POLLIN);
}

TEST(Hex, EveryByteHasItsTwoDigits) {
  const std::byte bytes[] = {std::byte{0}, std::byte{0x0f}, std::byte{0xa0}, std::byte{0xff}};
  EXPECT_EQ(to_hex(bytes), "000fa0ff");
  EXPECT_EQ(to_hex({}), "");
}

}  // namespace
