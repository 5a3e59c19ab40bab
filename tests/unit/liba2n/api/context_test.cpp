// SPDX-License-Identifier: MIT
// Contexts are independent of each other and of the default context, also in different threads.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "a2n.h"
#include "a2n_context.h"
#include "elf_truth.h"

namespace {

constexpr uint32_t pid = 100;
constexpr uint64_t bias = 0x7f0000000000;
constexpr uint64_t page = 4096;

struct Free {
  void operator()(a2n_context* context) const { a2n_context_free(context); }
};
using Context = std::unique_ptr<a2n_context, Free>;

Context make_context() {
  return Context(a2n_context_new());
}

// Maps the executable segments of a file into pid.
void map(a2n_context* context, const std::string& file, const std::vector<truth::Load>& loads) {
  for (const truth::Load& load : loads) {
    if (!load.executable) continue;
    const uint64_t begin = load.vaddr & ~(page - 1);
    const uint64_t end = (load.vaddr + load.memory_size + page - 1) & ~(page - 1);
    ASSERT_EQ(a2n_add_module(context, 0, pid, begin + bias, end - begin, file.c_str(), 0,
                             load.offset & ~(page - 1), 0),
              A2N_SUCCESS);
  }
}

std::string module_at(a2n_context* context, uint64_t time, uint64_t address) {
  SYMDATA data;
  a2n_get_symbol(context, time, pid, address, &data);
  return data.mod_name;
}

TEST(Context, TwoContextsReturnDifferentModulesForTheSamePid) {
  const Context one = make_context();
  const Context two = make_context();
  a2n_add_module(one.get(), 0, pid, 0x1000, 0x1000, "/nowhere/one", 0, 0, 0);
  a2n_add_module(two.get(), 0, pid, 0x1000, 0x2000, "/nowhere/two", 0, 0, 0);
  EXPECT_EQ(module_at(one.get(), 0, 0x1800), "/nowhere/one");
  EXPECT_EQ(module_at(two.get(), 0, 0x1800), "/nowhere/two");
  EXPECT_EQ(module_at(one.get(), 0, 0x2800), "NoModule");
  EXPECT_EQ(module_at(two.get(), 0, 0x2800), "/nowhere/two");
}

TEST(Context, ContextsAndTheClassicFunctionsShareNothing) {
  A2nInit();
  const Context context = make_context();
  a2n_add_module(context.get(), 0, pid, 0x1000, 0x1000, "/nowhere/one", 0, 0, 0);
  a2n_set_process_name(context.get(), 0, pid, "context's");
  EXPECT_NE(a2n_read_symbol_ranges(context.get(), "/nowhere/ranges"), A2N_SUCCESS);
  EXPECT_STRNE(a2n_get_error_text(context.get()), "");
  (void)module_at(context.get(), 0, 0x1000);
  EXPECT_NE(a2n_get_note(context.get(), 0), nullptr);

  SYMDATA data;
  EXPECT_EQ(A2nGetSymbol(pid, 0x1000, &data), A2N_NO_MODULE);
  EXPECT_EQ(A2nGetProcessName(pid), nullptr);
  EXPECT_EQ(A2nGetNote(0), nullptr);
  A2nSetProcessName(pid, "default");
  A2nSetNoSymbolFoundAction(A2N_NSF_NULL);
  A2nInit();
  EXPECT_EQ(A2nGetProcessName(pid), nullptr);
  EXPECT_STREQ(a2n_get_process_name(context.get(), 0, pid), "context's");
  EXPECT_EQ(a2n_get_symbol(context.get(), 0, pid, 0x1000, &data), A2N_NO_SYMBOLS);
  EXPECT_STREQ(data.sym_name, "NoSymbols");
}

TEST(Context, SettingsApplyOnlyToTheirContext) {
  const std::string file = truth::fixture("pie");
  const uint64_t address = truth::functions(file).front().value + bias;
  const Context plain = make_context();
  const Context null = make_context();
  EXPECT_EQ(a2n_set_no_symbol_action(null.get(), A2N_NSF_NULL), A2N_SUCCESS);
  map(plain.get(), file, truth::loads(file));
  map(null.get(), file, truth::loads(file));
  for (a2n_context* context : {plain.get(), null.get()}) {
    SYMDATA data;
    EXPECT_EQ(a2n_get_symbol(context, 0, pid, address, &data), A2N_SUCCESS);
    EXPECT_EQ(a2n_get_symbol(context, 0, pid, 0x10, &data), A2N_NO_MODULE);
    EXPECT_EQ(data.sym_name == nullptr, context == null.get());
  }
}

TEST(Context, EventsAndLookupsHaveTheirOwnTimes) {
  const Context context = make_context();
  a2n_create_process(context.get(), 5, pid);
  a2n_add_module(context.get(), 10, pid, 0x1000, 0x1000, "/nowhere/old", 0, 0, 0);
  a2n_add_module(context.get(), 20, pid, 0x1000, 0x1000, "/nowhere/new", 0, 0, 0);
  a2n_fork_process(context.get(), 15, pid + 1, pid + 2);
  a2n_clone_process(context.get(), 30, pid, pid + 3);
  EXPECT_EQ(a2n_add_method(context.get(), 40, pid, "method", 0x9000, 16, nullptr, nullptr, 0),
            A2N_SUCCESS);
  EXPECT_EQ(a2n_remove_method(context.get(), 50, pid, 0x9000), A2N_SUCCESS);
  a2n_exec_process(context.get(), 60, pid);
  EXPECT_EQ(module_at(context.get(), 9, 0x1000), "NoModule");
  EXPECT_EQ(module_at(context.get(), 10, 0x1000), "/nowhere/old");
  EXPECT_EQ(module_at(context.get(), 20, 0x1000), "/nowhere/new");
  EXPECT_EQ(module_at(context.get(), 45, 0x9000), "JITCODE");
  EXPECT_EQ(module_at(context.get(), 50, 0x9000), "NoModule");
  EXPECT_EQ(module_at(context.get(), 60, 0x1000), "NoModule");
  SYMDATA data;
  EXPECT_EQ(a2n_get_symbol(context.get(), 30, pid + 3, 0x1000, &data), A2N_NO_SYMBOLS);
  EXPECT_EQ(data.owning_pid, pid);
  EXPECT_EQ(a2n_get_next_code_change(context.get(), 45, pid), 50u);
}

TEST(Context, WrongArgumentsAreRefused) {
  const Context owner = make_context();
  a2n_context* const context = owner.get();
  SYMDATA data;
  EXPECT_EQ(a2n_get_symbol(nullptr, 0, pid, 0, &data), A2N_INVALID_ARGUMENT);
  EXPECT_EQ(a2n_get_symbol(context, 0, pid, 0, nullptr), A2N_NULL_SYMDATA);
  EXPECT_EQ(a2n_create_process(nullptr, 0, pid), A2N_INVALID_ARGUMENT);
  EXPECT_EQ(a2n_get_note(nullptr, 0), nullptr);
  EXPECT_EQ(a2n_get_note_level(nullptr, 0), A2N_MESSAGES_NONE);
  EXPECT_EQ(a2n_get_note_bytes(nullptr, 0), 0u);
  EXPECT_EQ(a2n_get_next_code_change(nullptr, 0, pid), UINT64_MAX);
  EXPECT_STREQ(a2n_get_error_text(nullptr), "");
  a2n_context_free(nullptr);
  EXPECT_EQ(a2n_set_no_symbol_action(context, 0), A2N_INVALID_ARGUMENT);
  EXPECT_EQ(a2n_set_symbol_quality(context, 3), A2N_INVALID_ARGUMENT);
  EXPECT_EQ(a2n_set_range_symbols(context, 2), A2N_INVALID_ARGUMENT);
  EXPECT_EQ(a2n_set_max_note_level(context, -1), A2N_INVALID_ARGUMENT);
  EXPECT_EQ(a2n_fork_process(context, 0, 1, 1), A2N_FORK_ERROR);
  EXPECT_EQ(a2n_clone_process(context, 0, 1, 1), A2N_CLONE_ERROR);
  EXPECT_EQ(a2n_add_module(context, 0, pid, 0, 0, "x", 0, 0, 0), A2N_ADD_MODULE_ERROR);
  EXPECT_EQ(a2n_add_method(context, 0, pid, "x", 1, 1, nullptr, nullptr, 1), A2N_INVALID_ARGUMENT);
  EXPECT_EQ(a2n_add_method(context, 0, pid, "x", 1, 1, nullptr, nullptr, 0), A2N_NO_PROCESS);
}

TEST(Context, AnEnvironmentVariableFixesASettingOfANewContext) {
  ::setenv("A2N_NSF_ACTION", "null", 1);
  const Context fixed = make_context();
  ::unsetenv("A2N_NSF_ACTION");
  const Context free = make_context();
  for (a2n_context* context : {fixed.get(), free.get()}) {
    EXPECT_EQ(a2n_set_no_symbol_action(context, A2N_NSF_NSF), A2N_SUCCESS);
    SYMDATA data;
    EXPECT_EQ(a2n_get_symbol(context, 0, pid, 0x10, &data), A2N_NO_MODULE);
    EXPECT_EQ(data.sym_name == nullptr, context == fixed.get());
  }
}

// 'scripts/check sanitize' runs it under the thread sanitizer, to find state that contexts share.
TEST(Context, ThreadsUseDifferentContextsAtTheSameTime) {
  const std::array<std::string, 2> files = {truth::fixture("inlined"),
                                            truth::fixture("libmini.so")};
  struct Sample {
    uint64_t address;
    std::string name;
  };
  const std::array loads = {truth::loads(files[0]), truth::loads(files[1])};
  // The expected results of each thread, from a context that no other thread runs next to.
  std::array<std::vector<Sample>, 2> samples;
  const auto name_of = [](a2n_context* context, uint64_t address) {
    SYMDATA data;
    a2n_get_symbol(context, 0, pid, address, &data);
    std::array<A2N_FRAME, 4> frames;
    size_t count = 0;
    a2n_get_frames(context, 0, pid, address, frames.data(), frames.size(), &count);
    const std::string line = count == 0 ? "" : ":" + std::to_string(frames[0].line);
    return data.sym_name + line;
  };
  for (size_t i = 0; i < files.size(); ++i) {
    const Context context = make_context();
    map(context.get(), files[i], loads[i]);
    for (const truth::NmSymbol& symbol : truth::functions(files[0]))
      samples[i].push_back({symbol.value + bias, name_of(context.get(), symbol.value + bias)});
    ASSERT_GE(samples[i].size(), 5u);
  }
  std::atomic<int> wrong = 0;
  std::atomic<int> ready = 0;
  const auto work = [&](size_t i) {
    for (int round = 0; round < 10; ++round) {
      const Context context = make_context();
      a2n_set_demangle(context.get(), 0);
      map(context.get(), files[i], loads[i]);
      // Both threads start their lookups, and so read their files, at the same time.
      ++ready;
      while (ready < 2 * (round + 1)) std::this_thread::yield();
      for (const Sample& sample : samples[i])
        if (name_of(context.get(), sample.address) != sample.name) ++wrong;
    }
  };
  std::thread other(work, 1);
  work(0);
  other.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Context, AContextCanBeUsedByAnotherThread) {
  const Context context = make_context();
  std::thread([&] {
    a2n_add_module(context.get(), 0, pid, 0x1000, 0x1000, "/nowhere/one", 0, 0, 0);
  }).join();
  EXPECT_EQ(module_at(context.get(), 0, 0x1000), "/nowhere/one");
}

}  // namespace
