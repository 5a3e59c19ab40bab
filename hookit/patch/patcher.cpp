// SPDX-License-Identifier: MIT
// Switches the hooks of patched functions on and off, while other threads execute them.
#include "patcher.h"

#include <cpuid.h>
#include <dirent.h>
#include <signal.h>
#include <sys/single_threaded.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include "code.h"
#include "events.h"
#include "nops.h"
#include "sites.h"
#include "traps.h"

namespace pi::hookit {
namespace {

using Instruction = std::array<uint8_t, patch_bytes>;

constexpr Instruction nop = {0x0f, 0x1f, 0x44, 0x00, 0x00};
constexpr uint8_t breakpoint = 0xcc;

struct Change {
  uintptr_t address;
  Instruction before;
  Instruction after;
};

struct State {
  Sites found;
  std::vector<Change> patched;  // in force: after is the jump
  Trampolines trampolines;
};

// Used by constructors and destructors of the library, so it is neither.
State& state() {
  static auto* const only = new State;
  return *only;
}

bool is_alone() {
  if (__libc_single_threaded) return true;
  const std::unique_ptr<DIR, int (*)(DIR*)> all(::opendir("/proc/self/task"), ::closedir);
  size_t count = 0;
  while (const dirent* thread = all ? ::readdir(all.get()) : nullptr)
    if (thread->d_name[0] != '.') ++count;
  return count == 1;
}

// While shadow stacks are in use, the processor checks return addresses. RDSSPQ is a NOP then if
// they are not.
bool has_shadow_stack() {
  uint64_t shadow = 0;
  __asm__ volatile(".byte 0xf3, 0x48, 0x0f, 0x1e, 0xc8" : "+a"(shadow));  // rdsspq %rax
  return shadow != 0;
}

bool has_xsave() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_OSXSAVE) != 0;
}

// No signal handler of this thread executes a function that is being changed.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~BlockedSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t before_;
};

// Other threads may execute the functions: each of them sees the old instruction, a breakpoint,
// which on_trap() skips, or the new one. Changes whose code is not as expected are left out: a
// library was unloaded.
Status apply(const CodeWriter& code, std::vector<Change>& changes) {
  std::vector<uintptr_t> addresses;
  for (const auto& change : changes) addresses.push_back(change.address);
  if (const auto possible = expect_traps(std::move(addresses)); !possible) return possible;
  std::erase_if(changes, [&](const Change& change) {
    Instruction now;
    return !code.read(change.address, now) || now != change.before ||
           !code.write(change.address, {&breakpoint, 1});
  });
  code.synchronise();
  for (const auto& change : changes)
    code.write(change.address + 1, std::span(change.after).subspan(1));
  code.synchronise();
  for (const auto& change : changes) code.write(change.address, std::span(change.after).first(1));
  code.synchronise();
  return {};
}

bool add_change(const CodeWriter& code, uintptr_t site, uintptr_t function,
                std::vector<Change>& changes) {
  const uintptr_t target = state().trampolines.of(code, site, site != function);
  if (!target) return false;
  Change change{site, {}, {jump_code}};
  std::memcpy(change.before.data(), reinterpret_cast<const void*>(site), patch_bytes);
  const auto distance = static_cast<int32_t>(target - (site + patch_bytes));
  std::memcpy(change.after.data() + 1, &distance, sizeof distance);
  changes.push_back(change);
  return true;
}

void prepare(const CodeWriter& code, std::vector<Site>& sites) {
  const BlockedSignals blocked;
  for (auto& site : sites) {
    if (site.one_nop) continue;
    std::vector<uint8_t> bytes(site.bytes);
    fill_with_nops(std::span(bytes).first(patch_bytes));
    fill_with_nops(std::span(bytes).subspan(patch_bytes));
    site.one_nop = code.write(site.patch, bytes);
  }
  code.synchronise();
}

Status check_processor() {
  if (has_shadow_stack())
    return Error{ENOTSUP,
                 "Functions cannot be patched while shadow stacks are in use, which check return "
                 "addresses. Start the program without them "
                 "(GLIBC_TUNABLES=glibc.cpu.x86_shstk=off)"};
  if (!has_xsave())
    return Error{ENOTSUP, "Functions cannot be patched: this processor lacks XSAVE"};
  return {};
}

}  // namespace

bool prepare_functions() {
  state().found = find_sites();
  if (!state().found.sites.empty() && is_alone())
    if (const auto code = CodeWriter::open()) prepare(*code, state().found.sites);
  return !state().found.sites.empty() || !state().patched.empty();
}

bool keep_functions() {
  state().found.sites.clear();
  return !state().patched.empty();
}

Result<Patched> patch_functions() {
  Patched result;
  result.unusable = state().found.unusable;
  result.functions = state().patched.size();
  if (state().found.sites.empty()) return result;
  if (const auto possible = check_processor(); !possible) return possible.error();
  const auto code = CodeWriter::open();
  if (!code) return code.error();
  std::vector<Change> changes;
  for (const auto& site : state().found.sites)
    if (!site.one_nop)
      ++result.unprepared;
    else if (!add_change(*code, site.patch, site.function, changes))
      ++result.unusable;
  const BlockedSignals blocked;
  if (const auto applied = apply(*code, changes); !applied) return applied.error();
  state().patched.insert(state().patched.end(), changes.begin(), changes.end());
  result.functions = state().patched.size();
  return result;
}

Status unpatch_functions() {
  if (state().patched.empty()) return {};
  const auto code = CodeWriter::open();
  if (!code) return code.error();
  std::vector<Change> changes;
  for (const auto& change : state().patched) changes.push_back({change.address, change.after, nop});
  const BlockedSignals blocked;
  if (const auto applied = apply(*code, changes); !applied) return applied;
  state().patched.clear();
  return {};
}

void train_patched() {
  static bool is_ready = false;
  if (!is_ready) {
    const auto code = CodeWriter::open();
    if (!code || !check_processor()) return;
    std::vector<Change> changes;
    for (void (*function)() : {hookit_trainer_leaf, hookit_trainer_calls_one,
                               hookit_trainer_calls_two, hookit_trainer_calls_all}) {
      const auto address = reinterpret_cast<uintptr_t>(function);
      if (!add_change(*code, address, address, changes)) return;
    }
    // No other thread executes them.
    for (const auto& change : changes)
      if (!code->write(change.address, change.after)) return;
    code->synchronise();
    is_ready = true;
  }
  // Also from here: the types before and after are then others.
  constexpr int rounds = 256;
  for (int i = 0; i < rounds; ++i) {
    hookit_trainer_calls_one();
    hookit_trainer_calls_two();
    hookit_trainer_calls_all();
    hookit_trainer_leaf();
  }
}

}  // namespace pi::hookit
