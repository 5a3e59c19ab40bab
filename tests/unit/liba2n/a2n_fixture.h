// SPDX-License-Identifier: MIT
// Fixture for tests of the C API: an empty default context per test; maps files as a loader does.
#ifndef A2N_FIXTURE_H
#define A2N_FIXTURE_H

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "a2n.h"
#include "elf_truth.h"

class A2nTest : public testing::Test {
 protected:
  static constexpr uint32_t pid = 100;
  static constexpr uint64_t page = 4096;

  A2nTest() { A2nInit(); }
  ~A2nTest() override {
    A2nInit();
    if (!directory_.empty()) std::filesystem::remove_all(directory_);
  }

  // A path in a directory of this test, since tests run in parallel.
  std::string temporary(const std::string& name) {
    if (directory_.empty()) {
      directory_ = testing::TempDir() + "a2n_XXXXXX";
      if (!::mkdtemp(directory_.data())) throw std::runtime_error("mkdtemp failed");
    }
    return directory_ + "/" + name;
  }

  static uint64_t down(uint64_t value) { return value & ~(page - 1); }
  static uint64_t up(uint64_t value) { return down(value + page - 1); }

  // Maps the executable segments of file with a load bias in bytes; name: the module's name.
  static void map(const std::string& file, uint64_t bias, const std::string& name,
                  bool with_offset = true) {
    for (const truth::Load& load : truth::loads(file)) {
      if (!load.executable) continue;
      const uint64_t base = down(load.vaddr) + bias;
      const uint64_t length = up(load.vaddr + load.memory_size) - down(load.vaddr);
      const uint64_t offset = with_offset ? down(load.offset) : 0;
      ASSERT_EQ(A2nAddModuleEx(pid, base, length, name.c_str(), 0, offset, 0), A2N_SUCCESS);
    }
  }
  static void map(const std::string& file, uint64_t bias) { map(file, bias, file); }

  struct Answer {
    int rc;
    std::string symbol;
    std::string module;
    SYMDATA data;
  };
  static Answer ask(uint64_t address) {
    SYMDATA data;
    const int rc = A2nGetSymbol(pid, address, &data);
    return {rc, data.sym_name ? data.sym_name : "(null)", data.mod_name ? data.mod_name : "(null)",
            data};
  }
  static std::string name_at(uint64_t address) { return ask(address).symbol; }

  static std::vector<std::string> notes() {
    std::vector<std::string> all;
    for (size_t i = 0; const char* note = A2nGetNote(i); ++i) all.emplace_back(note);
    return all;
  }

  // Looks up the first and the last byte of each function in nm's output and expects its name or an
  // alias. A function without size is looked up at its first byte, unless a sized one contains it.
  static void expect_functions(const std::vector<truth::NmSymbol>& symbols, uint64_t bias) {
    ASSERT_GE(symbols.size(), 5u);
    for (const truth::NmSymbol& symbol : symbols) {
      const bool inside = std::any_of(symbols.begin(), symbols.end(), [&](const auto& other) {
        return other.value < symbol.value && symbol.value < other.value + other.size;
      });
      if (inside && symbol.size == 0) continue;
      const auto names = truth::names_at(symbols, symbol.value);
      for (const uint64_t at :
           {symbol.value, symbol.value + std::max<uint64_t>(symbol.size, 1) - 1}) {
        const Answer answer = ask(at + bias);
        EXPECT_TRUE(names.contains(answer.symbol)) << symbol.name << ": " << answer.symbol;
        EXPECT_EQ(answer.data.sym_addr, symbol.value + bias) << symbol.name;
        if (symbol.size == 0) continue;
        EXPECT_EQ(answer.data.sym_length, symbol.size) << symbol.name;
      }
    }
  }

 private:
  std::string directory_;
};

#endif  // A2N_FIXTURE_H
