// SPDX-License-Identifier: MIT
// MSI files: saved symbols are restored, wrong files are rejected, damage is reported.
#include <fcntl.h>
#include <gmock/gmock.h>

#include <fstream>
#include <random>
#include <sstream>

#include "a2n_fixture.h"
#include "constants.h"
#include "input_stride.h"
#include "pi/unique_fd.h"

namespace {

using testing::AnyOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using truth::fixture;

using test::bias;
constexpr uint64_t kernel_stext = 0xffffffff81000000;

class MsiTest : public A2nTest {
 protected:
  static std::string read(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    return std::string((std::istreambuf_iterator<char>(in)), {});
  }
  static void write(const std::string& file, const std::string& bytes) {
    std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
  }
  // Copies a fixture, so that the test can move it away; maps the copy and saves its symbols.
  std::string saved_copy(const char* name, const std::string& msi) {
    const std::string file = temporary("module.so");
    std::filesystem::copy_file(fixture(name), file,
                               std::filesystem::copy_options::overwrite_existing);
    map(file, bias);
    EXPECT_EQ(A2nCreateMsiFile(msi.c_str()), A2N_SUCCESS) << A2nGetErrorText();
    A2nInit();
    return file;
  }
};

// Lookups of every byte of the mapping have the same result from the file and from saved symbols.
TEST_F(MsiTest, SavedSymbolsGiveTheSameResultsAsTheFile) {
  for (const char* name : {"libfull.so", "libmini.so", "libgnuhash.so", "linked/liblinked.so"}) {
    const std::string msi = temporary("symbols.msi");
    const std::string file = saved_copy(name, msi);
    const std::string id = truth::build_id(file);
    std::vector<Answer> expected;
    const auto ask_all = [&file](auto use) {
      for (const truth::Load& load : truth::loads(file))
        for (uint64_t at = 0; load.executable && at < load.memory_size; ++at)
          use(ask(load.vaddr + at + bias));
    };
    map(file, bias);
    ask_all([&](Answer answer) { expected.push_back(std::move(answer)); });
    ASSERT_GT(expected.size(), 100u);
    EXPECT_THAT(expected, Contains(testing::Field(&Answer::rc, A2N_SUCCESS)));
    A2nInit();
    ASSERT_EQ(A2nLoadMsiFile(msi.c_str()), A2N_SUCCESS) << A2nGetErrorText();
    A2nSetModuleBuildId(file.c_str(), id.c_str());
    map(file, bias);
    const auto loads = truth::loads(file);
    std::filesystem::rename(file, file + ".away");
    size_t i = 0;
    for (const truth::Load& load : loads) {
      for (uint64_t at = 0; load.executable && at < load.memory_size; ++at, ++i) {
        const Answer got = ask(load.vaddr + at + bias);
        ASSERT_EQ(got.rc, expected[i].rc) << name;
        ASSERT_EQ(got.symbol, expected[i].symbol);
        ASSERT_EQ(got.data.sym_addr, expected[i].data.sym_addr);
        ASSERT_EQ(got.data.sym_length, expected[i].data.sym_length);
        ASSERT_EQ(got.data.flags, expected[i].data.flags);
      }
    }
    EXPECT_EQ(i, expected.size());
    EXPECT_THAT(notes(), IsEmpty());
    A2nInit();
  }
}

TEST_F(MsiTest, FunctionsWithoutSymbolsAreRestored) {
  const std::string msi = temporary("symbols.msi");
  const std::string file = saved_copy("stripped.functions", msi);
  const auto symbols = truth::functions(fixture("functions"));
  std::filesystem::rename(file, file + ".away");
  A2nSetNoSymbolFoundAction(A2N_NSF_FUNCTION);
  ASSERT_EQ(A2nLoadMsiFile(msi.c_str()), A2N_SUCCESS) << A2nGetErrorText();
  map(fixture("functions"), bias, file);
  const uint64_t hidden = truth::value_of(symbols, "_ZL8hidden21i");
  std::ostringstream expected;
  expected << "[module.so+0x" << std::hex << hidden << "]";
  EXPECT_EQ(name_at(hidden + bias + 1), expected.str());
  EXPECT_EQ(ask(hidden + bias + 1).data.sym_addr, hidden + bias);
}

TEST_F(MsiTest, AModuleIsFoundByBuildIdUnderAnyPath) {
  const std::string msi = temporary("symbols.msi");
  const std::string id = truth::build_id(saved_copy("libfull.so", msi));
  ASSERT_EQ(A2nLoadMsiFile(msi.c_str()), A2N_SUCCESS);
  A2nSetModuleBuildId("/elsewhere/libother.so", id.c_str());
  map(fixture("libfull.so"), bias, "/elsewhere/libother.so");
  expect_functions(truth::functions(fixture("libfull.so")), bias);
  EXPECT_THAT(notes(), IsEmpty());
}

TEST_F(MsiTest, AnotherFileWithThatPathIsRefusedUnlessValidationIsOff) {
  const std::string msi = temporary("symbols.msi");
  const std::string file = saved_copy("libfull.so", msi);
  for (const char* id : {"0123456789abcdef0123456789abcdef00000000", "?", ""}) {
    for (const int validate : {1, 0}) {
      A2nInit();
      ASSERT_EQ(A2nLoadMsiFile(msi.c_str()), A2N_SUCCESS);
      A2nSetSymbolValidationMode(validate);
      A2nSetModuleBuildId(file.c_str(), id);
      map(file, bias);
      const truth::NmSymbol function = truth::functions(file).front();
      EXPECT_EQ(ask(function.value + bias).rc, validate ? A2N_NO_SYMBOLS : A2N_SUCCESS) << id;
      EXPECT_THAT(notes(),
                  ElementsAre(HasSubstr(validate ? "symbols not used" : "its names may be wrong")));
    }
  }
}

TEST_F(MsiTest, FilesAreNotReadAfterLoading) {
  const std::string msi = temporary("symbols.msi");
  saved_copy("libfull.so", msi);
  ASSERT_EQ(A2nLoadMsiFile(msi.c_str()), A2N_SUCCESS);
  map(fixture("libmini.so"), bias);
  EXPECT_EQ(ask(bias + 0x1010).rc, A2N_NO_SYMBOLS);
  EXPECT_THAT(notes(), ElementsAre(HasSubstr("not among the saved symbols")));
}

TEST_F(MsiTest, TheReasonForAModuleWithoutSymbolsIsSaved) {
  const std::string msi = temporary("symbols.msi");
  map(fixture("libfull.so"), bias, "/nowhere/libgone.so");
  ASSERT_EQ(A2nCreateMsiFile(msi.c_str()), A2N_SUCCESS);
  const auto before = notes();
  ASSERT_THAT(before, ElementsAre(HasSubstr("/nowhere/libgone.so")));
  A2nInit();
  ASSERT_EQ(A2nLoadMsiFile(msi.c_str()), A2N_SUCCESS);
  map(fixture("libfull.so"), bias, "/nowhere/libgone.so");
  EXPECT_EQ(ask(bias + 0x1010).rc, A2N_NO_SYMBOLS);
  EXPECT_EQ(notes(), before);
}

TEST_F(MsiTest, LoadingMustPrecedeModulesAndGivesSystemProperties) {
  const std::string msi = temporary("symbols.msi");
  saved_copy("libfull.so", msi);
  int word_size = 0;
  int big_endian = -1;
  int os = 0;
  EXPECT_EQ(A2nGetMsiFileInformation(&word_size, &big_endian, &os), A2N_MSI_ERROR);
  map(fixture("libmini.so"), bias);
  EXPECT_EQ(A2nLoadMsiFile(msi.c_str()), A2N_MSI_ERROR);
  EXPECT_THAT(A2nGetErrorText(), HasSubstr("before any module"));
  A2nInit();
  ASSERT_EQ(A2nLoadMsiFile(msi.c_str()), A2N_SUCCESS);
  ASSERT_EQ(A2nGetMsiFileInformation(&word_size, &big_endian, &os), A2N_SUCCESS);
  EXPECT_EQ(word_size, 64);
  EXPECT_EQ(big_endian, 0);
  EXPECT_EQ(os, A2N_OS_LINUX);
}

TEST_F(MsiTest, OtherFilesAreRefusedWithTheReason) {
  EXPECT_EQ(A2nLoadMsiFile("/nowhere/x.msi"), A2N_FILE_NOT_FOUND);
  EXPECT_EQ(A2nLoadMsiFile(nullptr), A2N_INVALID_ARGUMENT);
  EXPECT_EQ(A2nLoadMsiFile(fixture("libfull.so").c_str()), A2N_MSI_ERROR);
  EXPECT_THAT(A2nGetErrorText(), HasSubstr("not a file of saved symbols"));
  const std::string msi = temporary("symbols.msi");
  saved_copy("libfull.so", msi);
  std::string bytes = read(msi);
  bytes[8] = 2;  // version
  write(msi, bytes);
  EXPECT_EQ(A2nLoadMsiFile(msi.c_str()), A2N_MSI_ERROR);
  EXPECT_THAT(A2nGetErrorText(), HasSubstr("version 2"));
}

TEST_F(MsiTest, AWriteErrorHasTheFilesName) {
  map(fixture("libfull.so"), bias);
  EXPECT_NE(A2nCreateMsiFile("/nowhere/x.msi"), A2N_SUCCESS);
  EXPECT_THAT(A2nGetErrorText(), HasSubstr("/nowhere/x.msi"));
}

// Each truncation is reported, and the blocks before it are used.
TEST_F(MsiTest, EveryTruncationIsDetected) {
  const std::string msi = temporary("symbols.msi");
  map(fixture("libfull.so"), bias);
  map(fixture("libmini.so"), bias + 0x1000000);
  ASSERT_EQ(A2nCreateMsiFile(msi.c_str()), A2N_SUCCESS);
  const std::string bytes = read(msi);
  const truth::NmSymbol function = truth::functions(fixture("libfull.so")).front();
  bool first_kept = false;
  for (size_t size = 0; size < bytes.size(); size += size < 0x80 ? 7 : 61) {
    write(msi, bytes.substr(0, size));
    A2nInit();
    ASSERT_THAT(A2nLoadMsiFile(msi.c_str()), AnyOf(A2N_MSI_ERROR, A2N_MSI_DAMAGED)) << size;
    ASSERT_STRNE(A2nGetErrorText(), "");
    map(fixture("libfull.so"), bias);
    first_kept = first_kept || ask(function.value + bias).rc == A2N_SUCCESS;
  }
  EXPECT_TRUE(first_kept);
}

TEST_F(MsiTest, EveryFlippedBitIsDetected) {
  const std::string msi = temporary("symbols.msi");
  saved_copy("libfull.so", msi);
  const std::string bytes = read(msi);
  std::mt19937 random(7);
  for (size_t i = 0; i < test_support::rounds(2000); ++i) {
    std::string damaged = bytes;
    const size_t at = i < 256 ? i / 4 : random() % bytes.size();
    damaged[at] ^= static_cast<char>(1 << random() % 8);
    write(msi, damaged);
    A2nInit();
    ASSERT_THAT(A2nLoadMsiFile(msi.c_str()), AnyOf(A2N_MSI_ERROR, A2N_MSI_DAMAGED)) << at;
  }
}

class MsiKernelTest : public MsiTest {
 protected:
  void use_kallsyms(uint64_t stext) {
    std::string text;
    std::istringstream nm(truth::run(("nm -n " + fixture("vmlinux"))));
    std::string address;
    std::string type;
    std::string name;
    for (std::string line; std::getline(nm, line);) {
      std::istringstream words(line);
      if (!(words >> address >> type >> name)) continue;
      char moved[32];
      std::snprintf(moved, sizeof moved, "%016llx",
                    std::stoull(address, nullptr, 16) - kernel_stext + stext);
      text += std::string(moved) + " " + type + " " + name + "\n";
    }
    const std::string file = temporary("kallsyms");
    write(file, text);
    ASSERT_EQ(A2nSetKallsymsFileLocation(file.c_str(), 0, 0), A2N_SUCCESS);
  }
  std::string map_file() {
    const std::string file = temporary("System.map");
    write(file, truth::run(("nm -n " + fixture("vmlinux"))));
    return file;
  }
};

// The image can be used with any KASLR offset.
TEST_F(MsiKernelTest, ASavedImageIsMovedByTheTracesKallsyms) {
  const std::string msi = temporary("symbols.msi");
  ASSERT_EQ(A2nSetKernelImageName(fixture("vmlinux").c_str()), A2N_SUCCESS);
  ASSERT_EQ(A2nCreateMsiFile(msi.c_str()), A2N_SUCCESS) << A2nGetErrorText();
  A2nInit();
  use_kallsyms(kernel_stext);
  A2nSetKernelImageName(fixture("vmlinux").c_str());
  const Answer expected = ask(kernel_stext + 0x12);
  ASSERT_EQ(expected.rc, A2N_SUCCESS);
  A2nInit();
  ASSERT_EQ(A2nLoadMsiFile(msi.c_str()), A2N_SUCCESS) << A2nGetErrorText();
  use_kallsyms(kernel_stext + 0x5200000);
  const Answer got = ask(kernel_stext + 0x5200012);
  EXPECT_EQ(got.rc, A2N_SUCCESS);
  EXPECT_EQ(got.symbol, expected.symbol);
  EXPECT_EQ(got.data.sym_addr, expected.data.sym_addr + 0x5200000);
  EXPECT_THAT(notes(), IsEmpty());
}

TEST_F(MsiKernelTest, AMapIsMovedByTheTracesKallsyms) {
  use_kallsyms(kernel_stext + 0x5200000);
  ASSERT_EQ(A2nSetKernelMapName(map_file().c_str()), A2N_SUCCESS);
  const Answer got = ask(kernel_stext + 0x5200012);
  EXPECT_EQ(got.rc, A2N_SUCCESS);
  EXPECT_GE(got.data.sym_addr, kernel_stext + 0x5200000);
  EXPECT_THAT(notes(), IsEmpty());
}

TEST_F(MsiKernelTest, AMapIsNotUsedIfTheKaslrOffsetIsUnknown) {
  ASSERT_EQ(A2nSetKernelMapName(map_file().c_str()), A2N_SUCCESS);
  EXPECT_EQ(ask(kernel_stext + 0x12).rc, A2N_NO_SYMBOLS);
  EXPECT_THAT(notes(), Contains(HasSubstr("KASLR")));
}

TEST_F(MsiKernelTest, AMapOfAnotherProgramIsRefused) {
  use_kallsyms(kernel_stext);
  const std::string file = temporary("other.map");
  write(file, "0000000000001000 T main\nnonsense\n");
  EXPECT_EQ(A2nSetKernelMapName(file.c_str()), A2N_SUCCESS);
  EXPECT_EQ(ask(kernel_stext + 0x12).rc, A2N_SUCCESS);
  EXPECT_THAT(notes(), Contains(HasSubstr("no symbol map")));
  EXPECT_EQ(A2nSetKernelMapName("/nowhere/System.map"), A2N_FILE_NOT_FOUND);
}

// The kernel symbols saved for a trace are restored at the addresses of its boot.
TEST_F(MsiKernelTest, TraceSymbolsRestoreTheKernel) {
  use_kallsyms(kernel_stext + 0x1000000);
  const Answer expected = ask(kernel_stext + 0x1000012);
  ASSERT_EQ(expected.rc, A2N_SUCCESS);
  const std::string file = temporary("trace.msi");
  {
    const pi::UniqueFd fd(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    ASSERT_EQ(A2nSaveTraceSymbols(fd.get()), A2N_SUCCESS) << A2nGetErrorText();
  }
  A2nInit();
  const pi::UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(A2nLoadTraceSymbols(fd.get()), A2N_SUCCESS) << A2nGetErrorText();
  const Answer got = ask(kernel_stext + 0x1000012);
  EXPECT_EQ(got.symbol, expected.symbol);
  EXPECT_EQ(got.module, expected.module);
  EXPECT_EQ(got.data.mod_addr, expected.data.mod_addr);
  EXPECT_EQ(got.data.sym_length, expected.data.sym_length);
}

}  // namespace
