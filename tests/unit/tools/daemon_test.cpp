// SPDX-License-Identifier: MIT
// The counter daemon's replies, also to invalid requests.
#include "daemon.h"

#include <gtest/gtest.h>

#include "event_table.h"
#include "perfutil.h"

namespace pi::mpevt {
namespace {

using service::Reply;
using service::Request;

Reply ask(const Request& request, bool ends = false) {
  bool end_requested = false;
  Reply reply = answer(request, end_requested);
  EXPECT_EQ(end_requested, ends) << request.front();
  return reply;
}

class CounterDaemon : public ::testing::Test {
 protected:
  void SetUp() override {
    const Reply reply = ask({"start", "both", "page-faults"});
    if (reply.rc == PU_ERROR_ACCESS_DENIED) GTEST_SKIP() << reply.text;
    ASSERT_EQ(reply.rc, PU_SUCCESS) << reply.text;
  }
  void TearDown() override {
    bool ends = false;
    (void)answer({"term"}, ends);
  }
};

TEST_F(CounterDaemon, InvalidRequestsChangeNothing) {
  const Request requests[] = {{"start"},
                              {"start", "both"},
                              {"start", "all", "context-switches"},
                              {"start", "both", "page-faults"},
                              {"start", "both", "no-such-event"},
                              {"start", "both", "context-switches", "no-such-event"},
                              {"read"},
                              {"read", "context-switches"},
                              {"read", "page-faults", "page-faults"},
                              {"stop", "context-switches"},
                              {"stop", "page-faults", "context-switches"},
                              {"term", "context-switches"},
                              {"define"},
                              {"define", "/nonexistent"},
                              {"list", "page-faults"},
                              {"nonsense"}};
  for (const auto& request : requests) {
    const Reply reply = ask(request);
    EXPECT_LT(reply.rc, 0) << request.front();
    EXPECT_NE(reply.text, "");
  }
  EXPECT_EQ(ask({"list"}).text, "event=page-faults\n");
  const auto counts = decode_counts(ask({"read", "page-faults"}).text);
  ASSERT_TRUE(counts);
  EXPECT_TRUE(counts->counting);
}

TEST_F(CounterDaemon, AStoppedEventRestartsOnlyWithTheSamePrivilege) {
  EXPECT_EQ(ask({"stop"}).rc, PU_SUCCESS);
  EXPECT_FALSE(decode_counts(ask({"read", "page-faults"}).text)->counting);
  EXPECT_EQ(ask({"start", "user", "page-faults"}).rc, PU_ERROR_EVENT_ALREADY_COUNTING);
  EXPECT_EQ(ask({"start", "both", "page-faults"}).rc, PU_SUCCESS);
  EXPECT_TRUE(decode_counts(ask({"read", "page-faults"}).text)->counting);
}

TEST_F(CounterDaemon, AFailedStartStopsTheEventsItRestarted) {
  EXPECT_EQ(ask({"stop"}).rc, PU_SUCCESS);
  EXPECT_LT(ask({"start", "both", "page-faults", "no-such-event"}).rc, 0);
  const auto before = decode_counts(ask({"read", "page-faults"}).text);
  EXPECT_FALSE(before->counting);
  EXPECT_EQ(decode_counts(ask({"read", "page-faults"}).text)->total(), before->total());
}

TEST_F(CounterDaemon, TheDaemonEndsWithItsLastEvent) {
  EXPECT_EQ(ask({"start", "user", "context-switches"}).rc, PU_SUCCESS);
  EXPECT_EQ(ask({"term", "page-faults"}).rc, PU_SUCCESS);
  EXPECT_EQ(ask({"term", "context-switches", "context-switches"}, true).rc, PU_SUCCESS);
}

}  // namespace
}  // namespace pi::mpevt
