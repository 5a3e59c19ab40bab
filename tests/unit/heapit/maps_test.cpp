// SPDX-License-Identifier: MIT
// The reader of /proc/self/maps finds what this program knows about itself.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <string>
#include <vector>

#include "maps.h"

namespace {

using pi::heapit::MapsLine;

struct Line {
  uint64_t begin, end, offset, inode;
  bool executable;
  std::string path;
};

std::vector<Line> all_lines() {
  std::vector<Line> lines;
  lines.reserve(100'000);
  EXPECT_TRUE(pi::heapit::read_maps(
      pi::heapit::own_maps,
      [](const MapsLine& line, void* context) {
        static_cast<std::vector<Line>*>(context)->push_back({line.begin, line.end, line.offset,
                                                             line.inode, line.executable,
                                                             std::string(line.path)});
        return true;
      },
      &lines));
  return lines;
}

const Line* at(const std::vector<Line>& lines, const void* pointer) {
  const auto address = reinterpret_cast<uint64_t>(pointer);
  const auto found = std::ranges::find_if(
      lines, [=](const Line& line) { return address >= line.begin && address < line.end; });
  return found == lines.end() ? nullptr : &*found;
}

TEST(HeapitMaps, HaveThisProgramsCodeAndStack) {
  const auto lines = all_lines();
  const Line* code = at(lines, reinterpret_cast<const void*>(&all_lines));
  ASSERT_TRUE(code);
  EXPECT_TRUE(code->executable);
  EXPECT_TRUE(code->path.ends_with("heapit_test")) << code->path;
  EXPECT_NE(code->inode, 0u);
  const Line* stack = at(lines, &lines);
  ASSERT_TRUE(stack);
  EXPECT_FALSE(stack->executable);
  EXPECT_EQ(stack->inode, 0u);
}

// More than the reader's buffer.
TEST(HeapitMaps, HaveThousandsOfLines) {
  constexpr size_t count = 3000, page = 4096;
  void* memory = ::mmap(nullptr, 2 * count * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* bytes = static_cast<std::byte*>(memory);
  for (size_t i = 0; i < count; ++i) ::mprotect(bytes + 2 * i * page, page, PROT_READ);
  const auto lines = all_lines();
  size_t found = 0;
  for (size_t i = 0; i < count; ++i) {
    const Line* line = at(lines, bytes + 2 * i * page);
    found += line && line->begin == reinterpret_cast<uint64_t>(bytes + 2 * i * page) &&
             line->end == line->begin + page;
  }
  EXPECT_GE(found, count - 1);  // the first or the last one may have a neighbour
  ::munmap(memory, 2 * count * page);
}

}  // namespace
