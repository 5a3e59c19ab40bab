// SPDX-License-Identifier: MIT
// Source lines and inlined functions at every byte of a file's code, compared with binutils'
// addr2line.
#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

#include "a2n_fixture.h"
#include "dwarf/dwarf_index.h"

namespace {

using a2n::SourceIndex;
using a2n::SourceIndexBuilder;

class Source : public A2nTest {
 protected:
  static constexpr uint64_t bias = 0x555500000000;

  // "name file:line" of each function at an address, innermost first.
  static std::vector<std::string> frames(uint64_t address) {
    A2N_FRAME found[16];
    size_t count = 0;
    std::vector<std::string> text;
    if (A2nGetFramesAt(pid, address, 0, found, 16, &count) != A2N_SUCCESS) return text;
    for (size_t i = 0; i < std::min<size_t>(count, 16); ++i)
      text.push_back(std::string(found[i].name) + " " + (found[i].file ? found[i].file : "??") +
                     ":" + (found[i].line ? std::to_string(found[i].line) : "?"));
    return text;
  }

  // Removes the suffix of a clone ("f.isra.0"), which is in the symbol but not in DWARF.
  static std::vector<std::string> without_clone(std::vector<std::string> frames) {
    std::string& outermost = frames.back();
    const size_t clone = outermost.find(".isra.");
    if (clone != outermost.npos) outermost.erase(clone, outermost.find(' ') - clone);
    return frames;
  }

  // addr2line's frames for each address, without "(discriminator 1)" after lines.
  static std::vector<std::vector<std::string>> truth_of(const std::string& file, uint64_t begin,
                                                        uint64_t end) {
    std::string command = "addr2line -aif -e " + file;
    for (uint64_t at = begin; at < end; ++at) {
      std::ostringstream word;
      word << " 0x" << std::hex << at;
      command += word.str();
    }
    std::istringstream lines(truth::run(command));
    std::vector<std::vector<std::string>> all;
    for (std::string line, position; std::getline(lines, line);) {
      if (line.starts_with("0x")) {
        all.emplace_back();
        continue;
      }
      std::getline(lines, position);
      position = position.substr(0, position.find(" (discriminator"));
      all.back().push_back(line + " " + position);
    }
    return all;
  }

  static void compare(const std::string& file) {
    map(file, bias);
    size_t compared = 0, inlined = 0;
    for (const truth::NmSymbol& symbol : truth::functions(file)) {
      if (symbol.name.find("shapes") == symbol.name.npos && symbol.name != "main") continue;
      const auto expected = truth_of(file, symbol.value, symbol.value + symbol.size);
      for (uint64_t i = 0; i < symbol.size; ++i) {
        const auto found = frames(bias + symbol.value + i);
        ASSERT_FALSE(found.empty());
        ASSERT_EQ(without_clone(found), expected[i]) << symbol.name << "+" << i;
        ++compared;
        inlined += expected[i].size() > 1;
      }
    }
    EXPECT_GT(compared, 100u);
    EXPECT_GT(inlined, 50u);
  }
};

TEST_F(Source, AgreesWithAddr2lineOnEveryByteOfDwarf5) {
  compare(truth::fixture("inlined"));
}
TEST_F(Source, AgreesWithAddr2lineOnEveryByteOfDwarf4) {
  compare(truth::fixture("inlined4"));
}

TEST_F(Source, NamesOfInlinedFunctionsAreDemangledLikeOthers) {
  const std::string file = truth::fixture("inlined");
  A2nSetDemangleCppNamesMode(1);
  map(file, bias);
  const auto functions = truth::functions(file);
  bool found = false;
  for (const truth::NmSymbol& symbol : functions)
    for (uint64_t i = 0; i < symbol.size; ++i)
      for (const std::string& frame : frames(bias + symbol.value + i))
        found = found || frame.starts_with("shapes::mix(int, int) ");
  EXPECT_TRUE(found);
}

TEST_F(Source, AFileWithoutDebugInformationHasOnlyItsSymbol) {
  const std::string file = truth::fixture("pie");
  map(file, bias);
  const uint64_t main = truth::value_of(truth::functions(file), "main");
  EXPECT_THAT(frames(bias + main), testing::ElementsAre("main ??:?"));
  EXPECT_THAT(frames(0x10), testing::IsEmpty());
}

TEST_F(Source, BytesOfFunctionsAreThoseOfTheFile) {
  const std::string file = truth::fixture("inlined");
  map(file, bias);
  size_t compared = 0;
  for (const truth::NmSymbol& symbol : truth::functions(file)) {
    if (symbol.size == 0) continue;
    const unsigned char* code = nullptr;
    uint64_t start = 0;
    size_t length = 0;
    ASSERT_EQ(A2nGetCodeAt(pid, bias + symbol.value + symbol.size / 2, 0, &code, &start, &length),
              A2N_SUCCESS)
        << symbol.name;
    EXPECT_EQ(start, bias + symbol.value);
    ASSERT_EQ(length, symbol.size);
    std::ifstream bytes(file, std::ios::binary);
    for (const truth::Load& load : truth::loads(file))
      if (load.executable)
        bytes.seekg(static_cast<std::streamoff>(symbol.value - load.vaddr + load.offset));
    std::string expected(symbol.size, '\0');
    bytes.read(expected.data(), static_cast<std::streamsize>(symbol.size));
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(code), length), expected) << symbol.name;
    ++compared;
  }
  EXPECT_GE(compared, 3u);
}

TEST(SourceIndex, AnInnerFunctionHidesTheOuterOne) {
  SourceIndexBuilder builder;
  const uint32_t file = builder.text("a.c");
  builder.add_row(0x10, file, 1);
  builder.add_row(0x30, file, 2);
  builder.add_row(0x50, 0, 0);
  const uint32_t outer = builder.add_node(SourceIndexBuilder::none, builder.text("outer"), file, 5);
  const uint32_t inner = builder.add_node(outer, builder.text("inner"), file, 6);
  builder.add_range(0x20, 0x40, outer, 0);
  builder.add_range(0x28, 0x60, inner, 1);  // ends after the enclosing function
  const auto restored = SourceIndex::restore(builder.build().save());
  ASSERT_TRUE(restored);
  const auto text = [&](uint64_t address) {
    std::string all;
    for (const a2n::IndexedFrame& frame : restored->at(address))
      all += std::string(frame.name ? frame.name : "-") + ":" + std::to_string(frame.line) + " ";
    return all;
  };
  EXPECT_EQ(text(0x0f), "-:0 ");
  EXPECT_EQ(text(0x1f), "-:1 ");
  EXPECT_EQ(text(0x20), "outer:1 -:5 ");
  EXPECT_EQ(text(0x30), "inner:2 outer:6 -:5 ");
  EXPECT_EQ(text(0x40), "-:2 ");
  EXPECT_EQ(text(0x50), "-:0 ");
}

TEST(SourceIndex, DamagedBytesAreRefused) {
  SourceIndexBuilder builder;
  builder.add_row(0x10, builder.text("a.c"), 1);
  const uint32_t node = builder.add_node(SourceIndexBuilder::none, builder.text("f"), 0, 5);
  builder.add_range(0x20, 0x40, node, 0);
  const std::string whole = builder.build().save();
  ASSERT_TRUE(SourceIndex::restore(whole));
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(SourceIndex::restore(std::string_view(whole).substr(0, size))) << size;
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ 0x10);
    EXPECT_FALSE(SourceIndex::restore(changed)) << i;
  }
}

}  // namespace
