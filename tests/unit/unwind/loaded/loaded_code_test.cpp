// SPDX-License-Identifier: MIT
// The rules of loaded code are those of the tables that are compiled from the same files.
#include <gtest/gtest.h>
#include <link.h>
#include <sys/mman.h>

#include <string>
#include <vector>

#include "loaded/loaded_code.h"
#include "loaded/rule_cache.h"
#include "tables.h"

namespace {

struct File {
  std::string path;
  uint64_t bias;  // of the executable segment: address in memory minus place in the file
  uint64_t begin, end;
};

std::vector<File> loaded_files() {
  std::vector<File> files;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* list) {
        const std::string name = info->dlpi_name;
        if (name.find("vdso") != std::string::npos) return 0;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& segment = info->dlpi_phdr[i];
          if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
          const uint64_t begin = info->dlpi_addr + segment.p_vaddr;
          static_cast<std::vector<File>*>(list)->push_back({name.empty() ? "/proc/self/exe" : name,
                                                            begin - segment.p_offset, begin,
                                                            begin + segment.p_memsz});
        }
        return 0;
      },
      &files);
  return files;
}

bool is_equal(const unwind::Table::Found& a, const unwind::Table::Found& b) {
  if (a.cfa->kind != b.cfa->kind || a.cfa->base != b.cfa->base || a.cfa->offset != b.cfa->offset ||
      a.cfa->second != b.cfa->second || a.cfa->flags != b.cfa->flags ||
      a.saves.size() != b.saves.size())
    return false;
  return std::equal(a.saves.begin(), a.saves.end(), b.saves.begin());
}

TEST(UnwindLoadedCode, HasTheRulesOfTheFilesTables) {
  size_t compared = 0;
  for (const File& file : loaded_files()) {
    const auto table = unwind_test::compile_file(file.path);
    // Of large files, a part.
    const size_t step = 1 + table.table.rows() / 3000;
    for (size_t row = 0; row < table.table.rows(); row += step) {
      const uint64_t address = table.table.row_address(row) + file.bias;
      if (address < file.begin || address >= file.end) continue;
      const auto rule = unwind::find_rule(address);
      EXPECT_TRUE(is_equal(rule.found(), table.table.find(address - file.bias)))
          << file.path << " " << std::hex << address - file.bias;
      ++compared;
    }
  }
  EXPECT_GT(compared, 5000u);
}

TEST(UnwindLoadedCode, AnAddressInNoFileHasNoRule) {
  int local = 0;
  EXPECT_FALSE(unwind::is_loaded(reinterpret_cast<uint64_t>(&local)));
  EXPECT_EQ(unwind::find_rule(reinterpret_cast<uint64_t>(&local)).cfa.kind, unwind::CfaKind::none);
  EXPECT_EQ(unwind::find_rule(0).cfa.kind, unwind::CfaKind::none);
  EXPECT_TRUE(unwind::is_loaded(reinterpret_cast<uint64_t>(&loaded_files)));
}

class RuleCacheTest : public testing::Test {
 protected:
  RuleCacheTest() {
    void* memory = ::mmap(nullptr, unwind::RuleCache::memory_bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(memory, MAP_FAILED);
    memory_ = static_cast<std::byte*>(memory);
  }
  ~RuleCacheTest() override { ::munmap(memory_, unwind::RuleCache::memory_bytes); }
  std::byte* memory_;
};

size_t computed;

TEST_F(RuleCacheTest, ComputesEachRuleOnceUntilFilesAreUnloaded) {
  unwind::RuleCache cache(memory_);
  computed = 0;
  cache.set_around([] { ++computed; }, [] {});
  const auto first = reinterpret_cast<uint64_t>(&loaded_files);
  constexpr uint64_t count = 50;
  unwind::OwnedRule space;
  for (int round = 0; round < 3; ++round)
    for (uint64_t i = 0; i < count; ++i)
      EXPECT_TRUE(is_equal(cache.find(first + i, space), unwind::find_rule(first + i).found()));
  EXPECT_EQ(computed, count);
  cache.forget();
  cache.find(first, space);
  cache.find(first, space);
  EXPECT_EQ(computed, count + 1);
}

// More addresses than there is space for, most of which are in no file.
TEST_F(RuleCacheTest, RulesWithoutSpaceAreRightToo) {
  unwind::RuleCache cache(memory_);
  const auto first = reinterpret_cast<uint64_t>(&loaded_files);
  unwind::OwnedRule space;
  for (uint64_t i = 1; i <= 100'000; ++i) cache.find(i, space);
  for (uint64_t i = 0; i < 20; ++i)
    EXPECT_TRUE(is_equal(cache.find(first + i, space), unwind::find_rule(first + i).found()));
}

}  // namespace
