// SPDX-License-Identifier: MIT
// Debug information in other files: how they are found, and the notes about missing ones.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <utility>

#include "a2n_fixture.h"

namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Frames = std::vector<std::string>;

constexpr uint64_t load_bias = 0x40000000;

constexpr char source[] = R"(static inline int twice(int value) {
  return value * 2 + 1;
}
int library_function(int value) {
  return twice(value) ^ 5;
}
)";

class SplitDebug : public A2nTest {
 protected:
  SplitDebug() {
    home_ = temporary("home");
    std::filesystem::create_directory(home_);
    std::ofstream(home_ + "/code.c") << source;
  }

  void compile(const std::string& flags) {
    truth::run("cd " + home_ + " && gcc -O2 -g -fPIC " + flags +
               " -c code.c -o code.o && gcc -shared -nostdlib -Wl,--build-id code.o -o code");
  }
  std::string file() const { return home_ + "/code"; }

  // "name line" of each frame at the function's first byte, from an empty context.
  Frames frames() {
    A2nInit();
    if (!cache_.empty()) A2nSetCacheDirectory(cache_.c_str());
    if (!search_.empty()) A2nSetSymbolSearchPath(search_.c_str());
    map(file(), load_bias);
    const uint64_t at = truth::value_of(truth::functions(file()), "library_function");
    A2N_FRAME found[8];
    size_t count = 0;
    A2nGetFramesAt(pid, load_bias + at, 0, found, 8, &count);
    Frames text;
    for (size_t i = 0; i < count; ++i)
      text.push_back(std::string(found[i].name) + " " + std::to_string(found[i].line));
    return text;
  }
  static Frames whole() { return {"twice 2", "library_function 5"}; }

  std::string home_;
  std::string cache_;
  std::string search_;
};

TEST_F(SplitDebug, FilesAreFoundInTheirBuildDirectoryAndNextToTheModule) {
  for (const char* version : {"-gdwarf-4", "-gdwarf-5"}) {
    SCOPED_TRACE(version);
    compile(std::string("-gsplit-dwarf ") + version);
    ASSERT_TRUE(std::filesystem::exists(home_ + "/code.dwo"));
    EXPECT_EQ(frames(), whole());
    const std::string elsewhere = temporary("elsewhere");
    std::filesystem::rename(home_, elsewhere);
    const std::string made = std::exchange(home_, elsewhere);
    EXPECT_EQ(frames(), whole());
    EXPECT_THAT(notes(), IsEmpty());
    std::filesystem::rename(home_, made);
    home_ = made;
  }
}

TEST_F(SplitDebug, AMissingFileIsNotedAndLinesAreAvailable) {
  for (const char* version : {"-gdwarf-4", "-gdwarf-5"}) {
    compile(std::string("-gsplit-dwarf ") + version);
    std::filesystem::remove(home_ + "/code.dwo");
    EXPECT_THAT(frames(), ElementsAre("library_function 2"));
    EXPECT_THAT(notes(), ElementsAre(AllOf(HasSubstr(file() + ": "), HasSubstr("1 of 1 .dwo files"),
                                           HasSubstr("code.dwo"), HasSubstr("No such file"))));
  }
}

TEST_F(SplitDebug, MovedFilesAreFoundInTheSearchPath) {
  compile("-gsplit-dwarf");
  search_ = temporary("moved");
  std::filesystem::create_directory(search_);
  std::filesystem::rename(home_ + "/code.dwo", search_ + "/code.dwo");
  EXPECT_EQ(frames(), whole());
  EXPECT_THAT(notes(), IsEmpty());
}

TEST_F(SplitDebug, AFileOfAnotherBuildIsNotUsed) {
  compile("-gsplit-dwarf -DOTHER=1");
  std::filesystem::rename(home_ + "/code.dwo", home_ + "/kept");
  std::ofstream(home_ + "/code.c", std::ios::app) << "int more(void) { return 3; }\n";
  compile("-gsplit-dwarf");
  std::filesystem::rename(home_ + "/kept", home_ + "/code.dwo");
  EXPECT_THAT(frames(), ElementsAre("library_function 2"));
  EXPECT_THAT(notes(), ElementsAre(HasSubstr("another build")));
}

// The module's author chose the file name: opening a FIFO would block, and reading a device or a
// file of /proc may have side effects.
TEST_F(SplitDebug, OnlyRegularFilesAreOpened) {
  for (const char* version : {"-gdwarf-4", "-gdwarf-5"}) {
    compile(std::string("-gsplit-dwarf ") + version);
    std::filesystem::remove(home_ + "/code.dwo");
    ASSERT_EQ(::mkfifo((home_ + "/code.dwo").c_str(), 0600), 0);
    ::alarm(20);
    EXPECT_THAT(frames(), ElementsAre("library_function 2"));
    ::alarm(0);
    EXPECT_THAT(notes(), ElementsAre(HasSubstr("not a regular file")));
    std::filesystem::remove(home_ + "/code.dwo");
  }
}

// Adds a .gnu_debugaltlink with the name and build-id of a supplement, as dwz does.
void add_supplement(const std::string& file, const std::string& name) {
  std::ofstream(file + ".link", std::ios::binary) << name << '\0' << "twenty bytes of name";
  truth::run("objcopy --add-section .gnu_debugaltlink=" + file + ".link " + file);
}

TEST_F(SplitDebug, AMissingSupplementIsNoted) {
  compile("");
  add_supplement(file(), "common.debug");
  EXPECT_EQ(frames(), whole());
  EXPECT_THAT(notes(), ElementsAre(AllOf(HasSubstr(file() + ": "), HasSubstr("common.debug"),
                                         HasSubstr("is not there"))));
  // Neither a FIFO nor a file with another build-id is used.
  ASSERT_EQ(::mkfifo((home_ + "/common.debug").c_str(), 0600), 0);
  ::alarm(20);
  EXPECT_EQ(frames(), whole());
  ::alarm(0);
  EXPECT_THAT(notes(), ElementsAre(HasSubstr("is not there")));
  std::filesystem::remove(home_ + "/common.debug");
  std::filesystem::copy_file(file(), home_ + "/common.debug");
  EXPECT_EQ(frames(), whole());
  EXPECT_THAT(notes(), ElementsAre(HasSubstr("is not there")));
}

TEST_F(SplitDebug, AnIncompleteIndexIsNotCached) {
  compile("-gsplit-dwarf");
  cache_ = temporary("cache");
  std::filesystem::rename(home_ + "/code.dwo", home_ + "/kept");
  EXPECT_THAT(frames(), ElementsAre("library_function 2"));
  EXPECT_THAT(frames(), ElementsAre("library_function 2"));
  EXPECT_THAT(notes(), ElementsAre(HasSubstr("code.dwo"))) << "each time";
  std::filesystem::rename(home_ + "/kept", home_ + "/code.dwo");
  EXPECT_EQ(frames(), whole());
  std::filesystem::remove(home_ + "/code.dwo");
  EXPECT_EQ(frames(), whole()) << "from the cache";
}

TEST_F(SplitDebug, LinesAreReadFromADebugFileAlsoIfTheModuleHasSymbols) {
  compile("");
  truth::run("cd " + home_ +
             " && objcopy --only-keep-debug code code.debug && strip --strip-debug code && "
             "objcopy --add-gnu-debuglink=code.debug code");
  EXPECT_EQ(frames(), whole());
  EXPECT_THAT(notes(), IsEmpty());
  // The debug file is also found by its build-id.
  const std::string id = truth::build_id(file());
  search_ = temporary("debug");
  const std::string directory = search_ + "/.build-id/" + id.substr(0, 2);
  std::filesystem::create_directories(directory);
  std::filesystem::rename(home_ + "/code.debug", directory + "/" + id.substr(2) + ".debug");
  EXPECT_EQ(frames(), whole());
}

TEST_F(SplitDebug, RelativeDirectoriesAreBelowTheCompilationDirectory) {
  std::filesystem::create_directory(home_ + "/parts");
  std::filesystem::rename(home_ + "/code.c", home_ + "/parts/code.c");
  for (const char* version : {"-gdwarf-4", "-gdwarf-5"}) {
    truth::run("cd " + home_ + " && gcc -O2 -g -fPIC -shared -nostdlib " + version +
               " parts/code.c -o code");
    A2nInit();
    map(file(), load_bias);
    const uint64_t at = truth::value_of(truth::functions(file()), "library_function");
    A2N_FRAME found[2];
    size_t count = 0;
    A2nGetFramesAt(pid, load_bias + at, 0, found, 2, &count);
    ASSERT_EQ(count, 2u);
    EXPECT_EQ(found[0].file, home_ + "/parts/code.c");
    EXPECT_EQ(found[1].file, home_ + "/parts/code.c");
  }
}

}  // namespace
