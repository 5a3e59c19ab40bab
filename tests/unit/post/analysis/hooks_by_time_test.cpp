// SPDX-License-Identifier: MIT
// User hooks by kind: what happens when a program writes too many different ones.
#include <analysis/hooks_by_time.h>
#include <gtest/gtest.h>
#include <pitrace/encode.h>

#include <string>
#include <vector>

namespace {

using post::HooksByTime;

void add_hook(HooksByTime& hooks, uint32_t minor, const std::string& text) {
  const pitrace_string string{text.data(), static_cast<__u32>(text.size())};
  const uint32_t size = static_cast<uint32_t>(pitrace_size_hook(0, &string, 1));
  std::vector<std::byte> bytes(size);
  pitrace_encode_hook(bytes.data(), size, 0, 0x50, minor, nullptr, 0, &string, 1);
  const pi::RecordView record{bytes};
  ASSERT_TRUE(HooksByTime::is_hook(record));
  hooks.add(record, 0, 0, 1024);
}

uint64_t count_hooks(HooksByTime& hooks) {
  uint64_t sum = 0;
  for (const auto& of_kind : hooks.by_kind.sums()) sum += of_kind.amount;
  return sum;
}

TEST(HooksByTime, DifferentTextsAreLimitedAndTheirHooksStillCounted) {
  HooksByTime hooks;
  for (int i = 0; i < 5000; ++i) add_hook(hooks, 1, "text " + std::to_string(i));
  add_hook(hooks, 1, "text 7");
  EXPECT_EQ(hooks.kinds().size(), 4097u);
  EXPECT_EQ(hooks.kinds().back().text, "");
  EXPECT_EQ(hooks.without_text(), 904u);
  EXPECT_EQ(hooks.left_out(), 0u);
  EXPECT_EQ(count_hooks(hooks), 5001u);
}

TEST(HooksByTime, HooksBeyondTheLimitOfKindsAreLeftOut) {
  HooksByTime hooks;
  for (uint32_t i = 0; i < 10000; ++i) add_hook(hooks, i, "");
  add_hook(hooks, 3, "");
  EXPECT_EQ(hooks.kinds().size(), 8192u);
  EXPECT_EQ(hooks.left_out(), 1808u);
  EXPECT_EQ(count_hooks(hooks), 8193u);
}

TEST(HooksByTime, ALongTextIsShortened) {
  HooksByTime hooks;
  add_hook(hooks, 1, std::string(2000, 'x'));
  EXPECT_EQ(hooks.kinds().front().text.size(), 1024u);
}

}  // namespace
