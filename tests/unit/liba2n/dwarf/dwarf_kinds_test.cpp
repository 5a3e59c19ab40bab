// SPDX-License-Identifier: MIT
// Looks up random addresses of the same code with each kind of debug information. If addr2line and
// llvm-symbolizer agree, liba2n must return the same. Environment: A2N_KINDS is another directory
// that fixtures/kinds.sh created; A2N_KINDS_ADDRESSES is the number of addresses for each kind.
#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <sstream>

#include "a2n_fixture.h"
#include "input_stride.h"

namespace {

using Frames = std::vector<std::string>;  // "name file:line", innermost first

std::string directory() {
  const char* const other = std::getenv("A2N_KINDS");
  return other ? other : A2N_KINDS_DIRECTORY;
}

size_t wanted_addresses() {
  const char* const other = std::getenv("A2N_KINDS_ADDRESSES");
  return other ? std::stoul(other) : test_support::rounds(300);
}

std::string hex(uint64_t address) {
  std::ostringstream word;
  word << "0x" << std::hex << address;
  return word.str();
}

// Converts "file:12:3" and "file:12 (discriminator 1)" to "file:12"; "??:?" without a line.
std::string position_of(std::string text, bool has_column) {
  text = text.substr(0, text.find(" (discriminator"));
  if (has_column) text.erase(text.rfind(':'));
  const size_t colon = text.rfind(':');
  const std::string line = text.substr(colon + 1);
  return line == "0" || line == "?" || text.starts_with("??") ? "??:?" : text;
}

class Kinds : public A2nTest {
 protected:
  static constexpr uint64_t bias = 0x40000000;

  // Runs a tool that prints two lines for each function at an address; returns frames by address.
  static std::map<uint64_t, Frames> ask_tool(const std::string& command,
                                             const std::vector<uint64_t>& addresses,
                                             bool has_column, const std::string& input) {
    std::ofstream list(input);
    for (const uint64_t address : addresses) list << hex(address) << "\n";
    list.close();
    std::istringstream lines(truth::run(command + " < " + input));
    std::map<uint64_t, Frames> answers;
    Frames* frames = nullptr;
    for (std::string line, position; std::getline(lines, line);) {
      if (line.starts_with("0x")) {
        frames = &answers[std::stoull(line, nullptr, 16)];
      } else if (!line.empty() && frames && std::getline(lines, position)) {
        frames->push_back(line + " " + position_of(position, has_column));
      }
    }
    return answers;
  }

  static Frames ask_library(uint64_t address) {
    A2N_FRAME found[64];
    size_t count = 0;
    Frames text;
    if (A2nGetFramesAt(pid, address, 0, found, 64, &count) != A2N_SUCCESS) return text;
    for (size_t i = 0; i < std::min<size_t>(count, 64); ++i)
      text.push_back(std::string(found[i].name ? found[i].name : "??") + " " +
                     (found[i].file && found[i].line != 0
                          ? found[i].file + (":" + std::to_string(found[i].line))
                          : "??:?"));
    return text;
  }

  // For the outermost function liba2n returns the symbol, the tools return the name in DWARF. These
  // can differ for aliases and for parts of a function; if so, replaces our name by theirs.
  static void use_their_symbol(const Frames& theirs, const std::set<std::string>& known,
                               const std::map<std::string, std::set<std::string>>& aliases,
                               Frames& ours) {
    if (theirs.empty() || theirs.size() != ours.size()) return;
    const std::string their_name = theirs.back().substr(0, theirs.back().rfind(' '));
    std::string& last = ours.back();
    const std::string our_name = last.substr(0, last.rfind(' '));
    const auto same = aliases.find(our_name);
    const bool part = our_name.starts_with(their_name + ".");
    const bool alias = same != aliases.end() && same->second.contains(their_name);
    // For a local function DWARF may have no mangled name.
    if (part || alias || !known.contains(their_name))
      last = their_name + last.substr(our_name.size());
  }
};

// Removes the outermost function and the file names.
Frames without_files(Frames frames) {
  if (!frames.empty()) frames.pop_back();
  for (std::string& frame : frames)
    frame = frame.substr(0, frame.rfind(' ')) + frame.substr(frame.rfind(':'));
  return frames;
}

// Compares every byte of the functions whose symbols contain part.
class EveryByte : public Kinds {
 protected:
  void compare(const std::string& kind, const std::string& reference, const std::string& part) {
    const std::string file = directory() + "/" + kind + "/code";
    map(file, bias);
    size_t inlined = 0;
    for (const auto& symbol : truth::functions(file)) {
      if (symbol.name.find(part) == symbol.name.npos || symbol.size == 0) continue;
      std::vector<uint64_t> addresses(symbol.size);
      std::iota(addresses.begin(), addresses.end(), symbol.value);
      for (const auto& [address, frames] :
           ask_tool("addr2line -aif -e " + directory() + "/" + reference + "/code", addresses,
                    false, temporary("addresses"))) {
        const Frames expected = without_files(frames);
        ASSERT_EQ(without_files(ask_library(bias + address)), expected) << hex(address);
        inlined += !expected.empty();
      }
    }
    EXPECT_GT(inlined, 100u);
  }
};

// g++ writes these methods as children of the enclosing function's entry, which has no code.
TEST_F(EveryByte, MethodsOfLocalClassesHaveTheirInlinedFunctions) {
  compare("g++-5", "g++-5", "5Local5visit");
  compare("g++-4", "g++-4", "5Local5visit");
}

// The discarded function is longer than the part of the file before .text, and its addresses begin
// at 0.
TEST_F(EveryByte, IsNotAttributedToADiscardedFunction) {
  for (const std::string name : {"g++-4", "g++-5"}) {
    const std::string kind = name + "-sections";
    const auto functions = truth::functions(directory() + "/" + kind + "/code");
    ASSERT_TRUE(std::none_of(functions.begin(), functions.end(), [](const auto& symbol) {
      return symbol.name.find("discarded") != symbol.name.npos;
    }));
    compare(kind, name + "-without", "6spreadI");
  }
}

TEST_F(Kinds, GiveTheFramesThatAddr2lineAndLlvmSymbolizerAgreeOn) {
  std::ifstream list(directory() + "/kinds");
  size_t kinds = 0;
  for (std::string kind, reference; list >> kind >> reference; ++kinds) {
    SCOPED_TRACE(kind);
    const std::string file = directory() + "/" + kind + "/code";
    A2nInit();
    map(file, bias);
    std::set<uint64_t> drawn;
    std::mt19937_64 random(kinds);
    const auto sections = truth::code_sections(file);
    const auto text = std::find_if(sections.begin(), sections.end(),
                                   [](const auto& section) { return section.name == ".text"; });
    ASSERT_NE(text, sections.end());
    for (size_t i = 0; i < wanted_addresses(); ++i)
      drawn.insert(text->address + random() % text->size);
    const std::vector<uint64_t> addresses(drawn.begin(), drawn.end());
    const auto binutils =
        ask_tool("addr2line -aif -e " + reference, addresses, false, temporary("addresses"));
    const auto llvm =
        ask_tool("llvm-symbolizer --addresses --no-demangle --functions=linkage -e " + reference,
                 addresses, true, temporary("addresses"));
    const auto symbols = truth::functions(file);
    std::set<std::string> known;
    std::map<uint64_t, std::set<std::string>> at;
    std::map<std::string, std::set<std::string>> aliases;
    for (const auto& symbol : symbols) at[symbol.value].insert(symbol.name);
    for (const auto& symbol : symbols) {
      known.insert(symbol.name);
      aliases[symbol.name] = at[symbol.value];
    }
    size_t agreed = 0, right = 0, inlined = 0, like_one = 0;
    for (const uint64_t address : addresses) {
      const Frames& one = binutils.at(address);
      const Frames& other = llvm.at(address);
      Frames ours = ask_library(bias + address);
      use_their_symbol(one, known, aliases, ours);
      // Both tools take a compiler's label for the function of the padding after it.
      const bool is_label = one.size() == 1 && one.front().starts_with(".L");
      if (one != other || is_label) {
        like_one += ours == one || ours == other;
        continue;
      }
      ++agreed;
      inlined += one.size() > 1;
      right += ours == one;
      EXPECT_EQ(ours, one) << file << " " << hex(address);
      if (testing::Test::HasFailure() && right + 2 < agreed) break;
    }
    std::cout << kind << ": " << addresses.size() << " addresses, the tools agree on " << agreed
              << " (" << inlined << " with inlined functions), liba2n too on " << right
              << "; of the others it agrees with one of them on " << like_one << "\n";
    EXPECT_EQ(right, agreed);
    // For the other addresses the tools differ: addr2line does not support all of clang's DWARF 5.
    EXPECT_GT(agreed, addresses.size() / 5);
    EXPECT_GT(inlined, addresses.size() / 10);
    EXPECT_GT(right + like_one, addresses.size() * 9 / 10);
    EXPECT_THAT(notes(), testing::IsEmpty());
  }
  EXPECT_GE(kinds, 10u);
}

}  // namespace
