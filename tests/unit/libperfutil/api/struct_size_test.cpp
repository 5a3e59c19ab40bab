// SPDX-License-Identifier: MIT
// Structures in which the caller sets the size: callers that are older or newer than the library.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <vector>

#include "perfutil.h"
#include "perfutil_ptt.h"

namespace {

// The layout that programs were built with: fields keep their offsets, and new ones come after the
// last, not into its padding. These lines stay when a structure grows.
static_assert(offsetof(pi_trace_status, trace) == 72 && offsetof(pi_trace_status, mode) == 184 &&
              offsetof(pi_trace_status, event) == 216 && sizeof(pi_trace_status) >= 224);
static_assert(offsetof(pi_event, group) == 16 && offsetof(pi_event, reason) == 40 &&
              sizeof(pi_event) >= 48);
static_assert(offsetof(pi_itrace_status, threads) == 24 && offsetof(pi_itrace_status, gaps) == 56 &&
              sizeof(pi_itrace_status) >= 64);
static_assert(offsetof(pi_ptt_options, threads) == 12 && sizeof(pi_ptt_options) >= 16);
static_assert(offsetof(pi_ptt_state, metric) == 40 && offsetof(pi_ptt_state, name) == 72 &&
              sizeof(pi_ptt_state) - offsetof(pi_ptt_state, cannot_separate) >= sizeof(char*));

// A structure of the caller, and some bytes after it that do not belong to it.
template <class Struct>
class Caller {
 public:
  explicit Caller(size_t size) : bytes_(size + 64, std::byte{0xee}), size_(size) {
    std::memcpy(bytes_.data(), &size_, sizeof size_);
  }
  Struct* get() { return reinterpret_cast<Struct*>(bytes_.data()); }
  // Returns whether all bytes from begin to end equal value.
  bool holds(size_t begin, size_t end, int value) const {
    for (size_t i = begin; i < end; ++i)
      if (bytes_[i] != static_cast<std::byte>(value)) return false;
    return true;
  }
  bool kept_within() const { return holds(size_, bytes_.size(), 0xee); }

 private:
  alignas(16) std::vector<std::byte> bytes_;
  size_t size_;
};

// Makes a call that fills a structure, first as a caller that knows only the first known bytes,
// then as one that knows more than the library.
template <class Struct, class Call>
void expect_both_ways(Call call, size_t known, int expected) {
  Struct whole{};
  whole.size = sizeof whole;
  ASSERT_EQ(call(&whole), expected) << PiErrorText();
  Caller<Struct> older(known);
  EXPECT_EQ(call(older.get()), expected) << PiErrorText();
  EXPECT_TRUE(older.kept_within());
  EXPECT_EQ(older.get()->size, known);
  Caller<Struct> newer(sizeof(Struct) + 40);
  EXPECT_EQ(call(newer.get()), expected) << PiErrorText();
  EXPECT_TRUE(newer.kept_within());
  if (expected != PU_SUCCESS) return;
  EXPECT_EQ(newer.get()->size, sizeof(Struct));
  EXPECT_TRUE(newer.holds(sizeof(Struct), sizeof(Struct) + 40, 0));
}

template <class Struct, class Call>
void expect_refused_without_a_size(Call call) {
  EXPECT_EQ(call(nullptr), PU_ERROR_NULL_POINTER);
  for (const size_t size : {size_t{0}, sizeof(size_t), size_t{1} << 40}) {
    Struct unset{};
    unset.size = size;
    EXPECT_EQ(call(&unset), PU_ERROR_INVALID_PARAMETER) << size;
    EXPECT_NE(std::strstr(PiErrorText(), "sizeof"), nullptr) << PiErrorText();
  }
}

TEST(StructSize, EventsMayBeOlderOrNewer) {
  const auto call = [](pi_event* event) { return PiEvent(0, event); };
  expect_both_ways<pi_event>(call, offsetof(pi_event, meaning), PU_SUCCESS);
  expect_refused_without_a_size<pi_event>(call);
  const auto counters = [](pi_event* event) { return PiCounterEvent(0, event); };
  expect_both_ways<pi_event>(counters, offsetof(pi_event, meaning), PU_SUCCESS);
  expect_refused_without_a_size<pi_event>(counters);
}

TEST(StructSize, TraceStatusMayBeOlderOrNewer) {
  expect_refused_without_a_size<pi_trace_status>(PiTraceStatus);
  expect_both_ways<pi_trace_status>(PiTraceStatus, offsetof(pi_trace_status, mode),
                                    PU_ERROR_NOT_INITIALIZED);
  if (PiSetSource(PI_SOURCE_PERF) != PU_SUCCESS || TraceInit(1) != PU_SUCCESS)
    GTEST_SKIP() << "needs perf_event_open: " << PiErrorText();
  expect_both_ways<pi_trace_status>(PiTraceStatus, offsetof(pi_trace_status, mode), PU_SUCCESS);
  EXPECT_EQ(TraceTerminate(), PU_SUCCESS);
}

TEST(StructSize, ITraceStatusMayBeOlderOrNewer) {
  pi_itrace_status status{};
  status.size = sizeof status;
  const int expected = PiITraceStatus(&status);
  expect_refused_without_a_size<pi_itrace_status>(PiITraceStatus);
  expect_both_ways<pi_itrace_status>(PiITraceStatus, offsetof(pi_itrace_status, steps), expected);
}

TEST(StructSize, PttStateMayBeOlderOrNewer) {
  expect_refused_without_a_size<pi_ptt_state>(PttGetState);
  expect_both_ways<pi_ptt_state>(PttGetState, offsetof(pi_ptt_state, threads), PU_SUCCESS);
}

TEST(StructSize, PttOptionsMayBeOlderOrNewerUnlessUnknownFieldsAreSet) {
  const char* const names[] = {"CYCLES"};
  const auto call = [&](pi_ptt_options* options) {
    const int rc = PiPttInit(1, names, PI_PRIV_BOTH, options);
    if (rc == PU_SUCCESS) PttTerminate();
    return rc;
  };
  struct Older {
    size_t size = sizeof(Older);
    unsigned int flags = 0;
    unsigned int padding = 0;
  } older;
  older.size = offsetof(pi_ptt_options, threads);
  EXPECT_EQ(call(reinterpret_cast<pi_ptt_options*>(&older)), PU_SUCCESS) << PiErrorText();
  struct Newer {
    pi_ptt_options known{sizeof(Newer), 0, 0};
    uint64_t unknown = 0;
  } newer;
  EXPECT_EQ(call(&newer.known), PU_SUCCESS) << PiErrorText();
  newer.unknown = 1;
  EXPECT_EQ(call(&newer.known), PU_ERROR_NOT_SUPPORTED);
  EXPECT_NE(std::strstr(PiErrorText(), "pi_ptt_options"), nullptr) << PiErrorText();
  newer.known.size = 0;
  EXPECT_EQ(call(&newer.known), PU_ERROR_INVALID_PARAMETER);
}

// Its checks of the structure come before those of the trace's state.
TEST(StructSize, AStackResolverMayBeNewerUnlessUnknownFieldsAreSet) {
  struct Newer {
    pi_stack_resolver known{};
    uint64_t unknown = 0;
  } newer;
  newer.known.size = sizeof newer;
  EXPECT_EQ(PiSetStackResolver(&newer.known, PI_STACK_BYTES_DEFAULT), PU_ERROR_NOT_INITIALIZED);
  newer.unknown = 1;
  EXPECT_EQ(PiSetStackResolver(&newer.known, PI_STACK_BYTES_DEFAULT), PU_ERROR_NOT_SUPPORTED);
  EXPECT_NE(std::strstr(PiErrorText(), "pi_stack_resolver"), nullptr) << PiErrorText();
  newer.known.size = 0;
  EXPECT_EQ(PiSetStackResolver(&newer.known, PI_STACK_BYTES_DEFAULT), PU_ERROR_INVALID_PARAMETER);
}

TEST(StructSize, AStackResolverNeedsAllFunctionsAndAPossibleNumberOfBytes) {
  PiSetSource(PI_SOURCE_PERF);
  if (TraceInit(1) != PU_SUCCESS) GTEST_SKIP() << "needs perf_event_open: " << PiErrorText();
  pi_stack_resolver resolver{};
  resolver.size = sizeof resolver;
  EXPECT_EQ(PiSetStackResolver(&resolver, 8192), PU_ERROR_INVALID_PARAMETER);
  resolver.begin = [](void*) {};
  resolver.change = [](void*, const pi_process_change*) {};
  resolver.resolve = [](void*, const pi_stack_copy*, int, uint64_t*, uint32_t, pi_stack_frames*) {
    return 1;
  };
  resolver.note = [](void*, unsigned) -> const char* { return nullptr; };
  EXPECT_EQ(PiSetStackResolver(&resolver, 8192), PU_SUCCESS) << PiErrorText();
  for (const uint32_t bytes : {0u, 8u, 8191u, 61448u})
    EXPECT_EQ(PiSetStackResolver(&resolver, bytes), PU_ERROR_INVALID_PARAMETER) << bytes;
  EXPECT_EQ(PiSetStackResolver(nullptr, 0), PU_SUCCESS) << PiErrorText();
  EXPECT_EQ(TraceTerminate(), PU_SUCCESS);
}

}  // namespace
