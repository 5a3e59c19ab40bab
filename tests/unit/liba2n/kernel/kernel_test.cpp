// SPDX-License-Identifier: MIT
// Kernel addresses through the C API: kallsyms, modules, kernel images, withheld addresses.
#include <gmock/gmock.h>
#include <unistd.h>
#include <zstd.h>

#include <fstream>

#include "a2n_fixture.h"
#include "effort.h"

namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using truth::fixture;

constexpr char kallsyms_text[] =
    "0000000000000000 A fixed_percpu_data\n"
    "ffffffff81000000 T _stext\n"
    "ffffffff81000000 T startup_64\n"
    "ffffffff81000040 t local_first\n"
    "ffffffff81000040 W weak_first\n"
    "ffffffff81000040 T __global_first\n"
    "ffffffff81000040 T global_first\n"
    "ffffffff81000080 t second\n"
    "ffffffff81000100 T __kprobes_text_end\n"
    "ffffffff81000180 T third\n"
    "ffffffff81000200 T _etext\n"
    "ffffffff81000200 D data_begins\n"
    "ffffffff82000000 T _sinittext\n"
    "ffffffff82000000 t initialise\n"
    "ffffffff82000020 T _einittext\n"
    "ffffffffc0201000 t ext4_read\t[ext4]\n"
    "ffffffffc0201020 t ext4_write\t[ext4]\n"
    "ffffffffc0203000 d ext4_data\t[ext4]\n"
    "ffffffffc0300000 t bpf_prog_1234_first\t[bpf]\n"
    "ffffffffc0300100 t bpf_prog_5678_last\t[bpf]\n"
    "ffffffffc0400000 T ftrace_trampoline\t[__builtin__ftrace]\n";
constexpr char modules_text[] =
    "ext4 12288 1 - Live 0xffffffffc0201000\n"
    "quiet 4096 1 - Live 0xffffffffc0210000\n";

class KernelTest : public A2nTest {
 protected:
  std::string write(const std::string& name, const std::string& text) {
    const std::string path = temporary(name);
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  void use(const std::string& kallsyms, const std::string& modules = "") {
    const std::string file = write("a2n_kernel_texts", "head" + kallsyms + modules + "tail");
    ASSERT_EQ(A2nSetKallsymsFileLocation(file.c_str(), 4, kallsyms.size()), A2N_SUCCESS);
    if (modules.empty()) return;
    ASSERT_EQ(A2nSetModulesFileLocation(file.c_str(), 4 + kallsyms.size(), modules.size()),
              A2N_SUCCESS);
  }
  static void expect(uint64_t address, const std::string& module, const std::string& symbol,
                     uint64_t start, uint64_t length) {
    const Answer answer = ask(address);
    EXPECT_EQ(answer.rc, A2N_SUCCESS) << symbol;
    EXPECT_EQ(answer.symbol, symbol);
    EXPECT_EQ(answer.module, module) << symbol;
    EXPECT_EQ(answer.data.sym_addr, start) << symbol;
    EXPECT_EQ(answer.data.sym_length, length) << symbol;
    EXPECT_EQ(answer.data.flags, static_cast<uint32_t>(A2N_FLAG_KERNEL)) << symbol;
  }
};

TEST_F(KernelTest, CoreSymbolsExtendToTheNextSymbolOfAnyKind) {
  use(kallsyms_text, modules_text);
  expect(0xffffffff8100003f, "vmlinux", "startup_64", 0xffffffff81000000, 0x40);
  expect(0xffffffff81000081, "vmlinux", "second", 0xffffffff81000080, 0x80);
  expect(0xffffffff810001ff, "vmlinux", "third", 0xffffffff81000180, 0x80);
  expect(0xffffffff8200001f, "vmlinux", "initialise", 0xffffffff82000000, 0x20);
  EXPECT_EQ(ask(0xffffffff81000000).data.mod_addr, 0xffffffff81000000);
  EXPECT_EQ(ask(0xffffffff81000000).data.mod_length, 0x200u);
  EXPECT_THAT(notes(), IsEmpty());
}

std::string compressed(const std::string& text) {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  std::string frame(ZSTD_compressBound(text.size()), '\0');
  frame.resize(ZSTD_compress2(context, frame.data(), frame.size(), text.data(), text.size()));
  ZSTD_freeCCtx(context);
  return frame;
}

TEST_F(KernelTest, TextsCanBeCompressed) {
  use(compressed(kallsyms_text), compressed(modules_text));
  expect(0xffffffff81000081, "vmlinux", "second", 0xffffffff81000080, 0x80);
  expect(0xffffffffc020101f, "ext4", "ext4_read", 0xffffffffc0201000, 0x20);
  EXPECT_THAT(notes(), IsEmpty());
}

TEST_F(KernelTest, ANoteNamesADamagedCompressedText) {
  std::string frame = compressed(kallsyms_text);
  frame.resize(frame.size() - 10);
  use(frame);
  EXPECT_EQ(ask(0xffffffff81000081).symbol, "NoSymbols");
  EXPECT_THAT(notes(), ElementsAre(HasSubstr("symbols are not read: they are damaged")));
  EXPECT_EQ(A2nGetNoteLevel(0), A2N_MESSAGES_ERROR);
  EXPECT_EQ(A2nGetNoteBytes(0), frame.size());
}

TEST_F(KernelTest, ANoteNamesACompressedTextThatADefectChanged) {
  const std::string frame = compressed(kallsyms_text);
  for (size_t at = 4; at < frame.size(); ++at) {  // after the magic number
    SCOPED_TRACE(at);
    std::string changed = frame;
    changed[at] = static_cast<char>(changed[at] ^ (1 << at % 8));
    ASSERT_EQ(A2nSetKallsymsFileLocation(write("a2n_changed", changed).c_str(), 0, changed.size()),
              A2N_SUCCESS);
    const bool intact = ask(0xffffffff81000081).symbol == "second";
    EXPECT_TRUE(intact || A2nGetNoteLevel(0) == A2N_MESSAGES_ERROR);
    A2nInit();
  }
}

TEST_F(KernelTest, ANoteCountsTheLinesThatMakeNoSense) {
  const std::string bad_modules = "ext4 \xff 1 - Live 0xffffffffc0201000";
  for (const size_t size : {1, 30, 100, 300}) {
    SCOPED_TRACE(size);
    std::string text = kallsyms_text;
    const size_t at = text.find("ffffffff81000080 t second");
    text.replace(at, size, size, '\0');
    use(text, bad_modules + "\n");
    EXPECT_NE(name_at(0xffffffff81000081), "second");
    ASSERT_THAT(notes(),
                ElementsAre(HasSubstr("symbols or modules are damaged: 2 of their lines")));
    EXPECT_EQ(A2nGetNoteLevel(0), A2N_MESSAGES_ERROR);
    const size_t bad_line = text.find('\n', at + size) - at;
    EXPECT_EQ(A2nGetNoteBytes(0), bad_line + bad_modules.size()) << text.substr(at + size, 30);
    A2nInit();
  }
}

TEST_F(KernelTest, ANoteNamesACompressedTextBeyondTheLimit) {
  use(compressed(std::string(64 << 20, '\n')));
  EXPECT_EQ(ask(0xffffffff81000081).symbol, "NoSymbols");
  EXPECT_THAT(notes(), Contains(HasSubstr("unpack to 67108864 bytes")));
}

TEST_F(KernelTest, AliasesAreChosenByBindingThenName) {
  use(kallsyms_text);
  expect(0xffffffff81000050, "vmlinux", "global_first", 0xffffffff81000040, 0x40);
}

TEST_F(KernelTest, LinkerMarkersAreNotSymbols) {
  use(kallsyms_text);
  const Answer padding = ask(0xffffffff81000110);  // after __kprobes_text_end
  EXPECT_EQ(padding.rc, A2N_NO_SYMBOL_FOUND);
  EXPECT_EQ(padding.symbol, "NoSymbolFound");
  EXPECT_EQ(padding.module, "vmlinux");
  EXPECT_EQ(ask(0xffffffff81000200).rc, A2N_NO_MODULE);  // data
}

TEST_F(KernelTest, ModuleSymbolsBelongToTheirModule) {
  use(kallsyms_text, modules_text);
  expect(0xffffffffc020101f, "ext4", "ext4_read", 0xffffffffc0201000, 0x20);
  expect(0xffffffffc0202fff, "ext4", "ext4_write", 0xffffffffc0201020, 0x1fe0);
  EXPECT_EQ(ask(0xffffffffc0201000).data.mod_addr, 0xffffffffc0201000);
  EXPECT_EQ(ask(0xffffffffc0201000).data.mod_length, 12288u);
  const Answer quiet = ask(0xffffffffc0210010);
  EXPECT_EQ(quiet.rc, A2N_NO_SYMBOL_FOUND);
  EXPECT_EQ(quiet.module, "quiet");
  EXPECT_EQ(ask(0xffffffffc0211000).rc, A2N_NO_MODULE);
}

TEST_F(KernelTest, BpfProgramsAndTrampolinesAreSeparateModules) {
  use(kallsyms_text, modules_text);
  expect(0xffffffffc03000ff, "bpf", "bpf_prog_1234_first", 0xffffffffc0300000, 0x100);
  expect(0xffffffffc0300123, "bpf", "bpf_prog_5678_last", 0xffffffffc0300100, 0x10000);
  expect(0xffffffffc0400001, "__builtin__ftrace", "ftrace_trampoline", 0xffffffffc0400000, 0x10000);
}

TEST_F(KernelTest, KernelSymbolsDoNotDependOnTheProcess) {
  use(kallsyms_text);
  A2nSetProcessName(pid, "worker");
  EXPECT_STREQ(ask(0xffffffff81000080).data.owning_pid_name, "worker");
  SYMDATA data;
  EXPECT_EQ(A2nGetSymbol(4711, 0xffffffff81000080, &data), A2N_SUCCESS);
  EXPECT_STREQ(data.sym_name, "second");
  EXPECT_EQ(data.owning_pid, 4711u);
  EXPECT_EQ(data.owning_pid_name, nullptr);
}

TEST_F(KernelTest, WithheldAddressesGiveNoSymbolsAndANote) {
  use("0000000000000000 T _stext\n0000000000000000 t schedule\n");
  const Answer answer = ask(0xffffffff81000080);
  EXPECT_EQ(answer.rc, A2N_NO_SYMBOLS);
  EXPECT_EQ(answer.module, "vmlinux");
  EXPECT_EQ(answer.symbol, "NoSymbols");
  EXPECT_EQ(answer.data.flags, static_cast<uint32_t>(A2N_FLAG_KERNEL));
  EXPECT_THAT(notes(), ElementsAre(HasSubstr("kernel symbols were withheld")));
}

TEST_F(KernelTest, WithoutKallsymsTheKernelHasNoSymbols) {
  EXPECT_EQ(ask(0xffffffff81000080).rc, A2N_NO_SYMBOLS);
  EXPECT_EQ(ask(0xffff888000000000).rc, A2N_NO_SYMBOLS);
  EXPECT_THAT(notes(), ElementsAre(HasSubstr("no kernel symbols")));
}

TEST_F(KernelTest, ATruncatedTextLosesOnlyItsLastLine) {
  const std::string file =
      write("a2n_cut_kallsyms", "ffffffff81000000 T whole\nffffffff81000010 T cut_o");
  ASSERT_EQ(A2nSetKallsymsFileLocation(file.c_str(), 0, 10000), A2N_SUCCESS);
  EXPECT_EQ(name_at(0xffffffff81000000), "whole");
  EXPECT_EQ(name_at(0xffffffff81000010), "whole");
}

TEST_F(KernelTest, LocationsAreCheckedWhenTheyAreSet) {
  const std::string file = write("a2n_small", "x");
  EXPECT_EQ(A2nSetKallsymsFileLocation("/nowhere/trace", 0, 0), A2N_FILE_NOT_FOUND);
  EXPECT_EQ(A2nSetModulesFileLocation("/nowhere/trace", 0, 0), A2N_FILE_NOT_FOUND);
  EXPECT_EQ(A2nSetKernelImageName("/nowhere/vmlinux"), A2N_FILE_NOT_FOUND);
  EXPECT_EQ(A2nSetKallsymsFileLocation(nullptr, 0, 0), A2N_INVALID_ARGUMENT);
  EXPECT_EQ(A2nSetKallsymsFileLocation(file.c_str(), 2, 0), A2N_INVALID_ARGUMENT);
  EXPECT_EQ(A2nSetKallsymsFileLocation("/dev/zero", 0, 0), A2N_FILE_NOT_FOUND);
}

TEST_F(KernelTest, TheVsyscallPageIsUserCode) {
  const Answer answer = ask(0xffffffffff600400);
  EXPECT_EQ(answer.rc, A2N_SUCCESS);
  EXPECT_EQ(answer.module, "[vsyscall]");
  EXPECT_EQ(answer.symbol, "<vsyscall-64>");
  EXPECT_EQ(answer.data.flags, 0u);
}

// kallsyms text of the fixture kernel, booted with KASLR offset shift; the symbol renamed is left
// out.
std::string shifted_kallsyms(uint64_t shift, const char* renamed = "") {
  char line[100];
  std::string text;
  for (const truth::NmSymbol& symbol : truth::functions(fixture("vmlinux"))) {
    if (symbol.name == renamed) continue;
    std::snprintf(line, sizeof(line), "%016lx T %s\n", symbol.value + shift, symbol.name.c_str());
    text += line;
  }
  std::snprintf(line, sizeof(line), "%016lx T _etext\n", 0xffffffff81000032 + shift);
  return text + line;
}

TEST_F(KernelTest, AMatchingKernelImageGivesExactSizes) {
  constexpr uint64_t shift = 0x1e00000;
  use(shifted_kallsyms(shift));
  ASSERT_EQ(A2nSetKernelImageName(fixture("vmlinux").c_str()), A2N_SUCCESS);
  expect(0xffffffff81000012 + shift, "vmlinux", "do_idle", 0xffffffff81000010 + shift, 3);
  // Padding after the symbol: only kallsyms, which has no sizes, includes it.
  expect(0xffffffff81000018 + shift, "vmlinux", "do_idle", 0xffffffff81000010 + shift, 16);
  EXPECT_THAT(notes(), IsEmpty());
}

TEST_F(KernelTest, AKernelImageWithAnotherBuildIdIsRefused) {
  use(shifted_kallsyms(0));
  A2nSetModuleBuildId("vmlinux", "00112233445566778899");
  A2nSetKernelImageName(fixture("vmlinux").c_str());
  EXPECT_EQ(ask(0xffffffff81000012).data.sym_length, 16u);
  EXPECT_THAT(notes(),
              ElementsAre(HasSubstr("that of the traced kernel was 00112233445566778899")));
}

TEST_F(KernelTest, AKernelImageWithOtherAddressesIsRefused) {
  use(shifted_kallsyms(0, "schedule"));
  A2nSetKernelImageName(fixture("vmlinux").c_str());
  EXPECT_EQ(ask(0xffffffff81000012).data.sym_length, 32u);
  EXPECT_THAT(notes(), ElementsAre(HasSubstr("another kernel's")));
}

TEST_F(KernelTest, AKernelImageWithoutTracedSymbolsIsRefused) {
  A2nSetKernelImageName(fixture("vmlinux").c_str());
  EXPECT_EQ(ask(0xffffffff81000012).rc, A2N_NO_SYMBOLS);
  EXPECT_THAT(notes(), testing::Contains(
                           HasSubstr("the offset of the kernel in memory (KASLR) is not known")));
}

TEST_F(KernelTest, SymbolsOfTheRunningKernelAreFound) {
  std::ifstream in("/proc/kallsyms");
  std::string address;
  std::string type;
  std::string name;
  uint64_t expected = 0;
  for (std::string line; in >> address >> type >> name && std::getline(in, line);) {
    if (name == "schedule" && line.find('[') == line.npos)
      expected = std::stoull(address, nullptr, 16);
  }
  if (expected == 0)
    GTEST_SKIP() << "/proc/kallsyms shows no addresses: needs root and CONFIG_KALLSYMS";
  ASSERT_EQ(A2nSetKallsymsFileLocation("/proc/kallsyms", 0, 0), A2N_SUCCESS);
  const Answer answer = ask(expected + 1);
  EXPECT_EQ(answer.symbol, "schedule");
  EXPECT_EQ(answer.module, "vmlinux");
  EXPECT_EQ(answer.data.sym_addr, expected);
}

TEST_F(KernelTest, TenMegabytesOfSymbolsAreReadInLinearTime) {
  std::string text;
  for (uint64_t i = 0; text.size() < 10'000'000; ++i) {
    char line[80];
    std::snprintf(line, sizeof(line), "%016lx t a_function_of_common_length_%lu\n",
                  0xffffffff81000000 + 64 * i, i);
    text += line;
  }
  use(text);
  const test_support::Effort effort;
  expect(0xffffffff81000000 + 64 * 1000 + 5, "vmlinux", "a_function_of_common_length_1000",
         0xffffffff81000000 + 64 * 1000, 64);
  EXPECT_LT(effort.spent(), 100);
}

}  // namespace
