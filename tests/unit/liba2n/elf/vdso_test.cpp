// SPDX-License-Identifier: MIT
// The vDSO: that of this process is used only if it matches the traced one.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <sys/auxv.h>

#include <fstream>
#include <sstream>

#include "a2n_fixture.h"
#include "elf/vdso.h"

namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class VdsoTest : public A2nTest {
 protected:
  struct Extent {
    uint64_t base = 0;
    uint64_t length = 0;
  };
  static Extent mapped() {
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
      if (line.find("[vdso]") == line.npos) continue;
      const size_t dash = line.find('-');
      const uint64_t base = std::stoull(line.substr(0, dash), nullptr, 16);
      return {base, std::stoull(line.substr(dash + 1), nullptr, 16) - base};
    }
    return {};
  }
  // The offset of __vdso_clock_gettime in the image, from the dynamic linker.
  static uint64_t offset_of_clock_gettime() {
    void* handle = ::dlopen("linux-vdso.so.1", RTLD_LAZY | RTLD_NOLOAD);
    void* function = handle ? ::dlsym(handle, "__vdso_clock_gettime") : nullptr;
    return function ? reinterpret_cast<uint64_t>(function) - ::getauxval(AT_SYSINFO_EHDR) : 0;
  }
  void SetUp() override {
    offset_ = offset_of_clock_gettime();
    if (offset_ == 0) GTEST_SKIP() << "this kernel gives no vdso with __vdso_clock_gettime";
  }
  uint64_t offset_ = 0;
  static constexpr uint64_t elsewhere = 0x7ffd00000000;
};

TEST_F(VdsoTest, ItsLengthIsThatOfTheMapping) {
  EXPECT_EQ(a2n::read_own_vdso().length, mapped().length);
}

TEST_F(VdsoTest, FunctionsAreFoundAtAnyMappingAddress) {
  A2nAddModule(pid, elsewhere, mapped().length, "[vdso]", A2N_STAMP_VDSO, 0);
  const Answer answer = ask(elsewhere + offset_);
  EXPECT_EQ(answer.rc, A2N_SUCCESS);
  EXPECT_EQ(answer.symbol, "__vdso_clock_gettime");
  EXPECT_EQ(answer.data.sym_addr, elsewhere + offset_);
  EXPECT_EQ(answer.module, "[vdso]");
}

TEST_F(VdsoTest, AFunctionWithoutSymbolHasOneBracket) {
  A2nSetNoSymbolFoundAction(A2N_NSF_FUNCTION);
  A2nAddModule(pid, elsewhere, mapped().length, "[vdso]", A2N_STAMP_VDSO, 0);
  size_t without = 0;
  for (uint64_t at = 0; at < mapped().length; ++at) {
    const Answer answer = ask(elsewhere + at);
    if ((answer.data.flags & A2N_FLAG_FUNCTION) == 0) continue;
    ++without;
    ASSERT_TRUE(answer.symbol.starts_with("[vdso+0x")) << answer.symbol;
    uint64_t in_image = 0;
    ASSERT_EQ(A2nGetFileAddressAt(pid, answer.data.sym_addr, 0, &in_image), A2N_SUCCESS);
    ASSERT_EQ(std::stoull(answer.symbol.substr(answer.symbol.find("0x")), nullptr, 16), in_image);
  }
  if (without == 0) GTEST_SKIP() << "all functions of this kernel's vdso have symbols";
}

TEST_F(VdsoTest, AnotherBuildIdIsRefused) {
  A2nSetModuleBuildId("[vdso]", "00112233");
  A2nAddModule(pid, elsewhere, mapped().length, "[vdso]", A2N_STAMP_VDSO, 0);
  EXPECT_EQ(ask(elsewhere + offset_).rc, A2N_NO_SYMBOLS);
  EXPECT_THAT(notes(), ElementsAre(HasSubstr("[vdso]: the traced kernel's is not this machine's")));
}

TEST_F(VdsoTest, TheSameBuildIdIsSufficientForAnyLength) {
  A2nSetModuleBuildId("[vdso]", a2n::read_own_vdso().build_id.c_str());
  A2nAddModule(pid, elsewhere, mapped().length + 4096, "[vdso]", A2N_STAMP_VDSO, 0);
  EXPECT_EQ(name_at(elsewhere + offset_), "__vdso_clock_gettime");
}

TEST_F(VdsoTest, A32BitVdsoHasNoSymbols) {
  A2nSetModuleBuildId("[vdso]", a2n::read_own_vdso().build_id.c_str());
  A2nAddModule(pid, 0xf7fc0000, mapped().length, "[vdso]", A2N_STAMP_VDSO, 0);
  EXPECT_EQ(ask(0xf7fc0000 + offset_).rc, A2N_NO_SYMBOLS);
  EXPECT_THAT(notes(), ElementsAre(HasSubstr("32 bits")));
}

TEST_F(VdsoTest, WithoutBuildIdAnotherLengthIsRefused) {
  A2nAddModule(pid, elsewhere, mapped().length + 4096, "[vdso]", A2N_STAMP_VDSO, 0);
  EXPECT_EQ(ask(elsewhere + offset_).rc, A2N_NO_SYMBOLS);
}

}  // namespace
