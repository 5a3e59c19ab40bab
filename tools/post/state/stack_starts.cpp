// SPDX-License-Identifier: MIT
// The functions at which call stacks end: where threads start, and where the kernel is entered.
#include "stack_starts.h"

#include <algorithm>
#include <span>

namespace post {
namespace {

bool is_one_of(std::string_view symbol, std::span<const std::string_view> names) {
  return std::ranges::find(names, symbol) != names.end();
}

bool has_prefix_of(std::string_view symbol, std::span<const std::string_view> prefixes) {
  return std::ranges::any_of(prefixes, [&](std::string_view p) { return symbol.starts_with(p); });
}

}  // namespace

StartKind user_start(std::string_view symbol, std::string_view module) {
  // Names in glibc, musl and Go; glibc has several like __libc_start_call_main(). Go's own
  // tracebacks end at its names, which may have the suffix .abi0.
  constexpr std::string_view anywhere[] = {"_start", "_start_c", "_dl_start_user",
                                           "libc_start_main_stage2", "_rt0_amd64_linux"};
  constexpr std::string_view prefixes[] = {"__libc_start_"};
  constexpr std::string_view of_go[] = {"runtime.goexit", "runtime.rt0_go", "runtime.mstart",
                                        "runtime.mcall"};
  constexpr std::string_view in_c_library[] = {"start_thread", "start", "start_c11"};
  constexpr std::string_view clones_anywhere[] = {"__clone", "__clone3"};
  constexpr std::string_view clones[] = {"clone", "clone3"};
  if (is_one_of(symbol, anywhere) || has_prefix_of(symbol, prefixes)) return StartKind::start;
  if (has_prefix_of(symbol, of_go)) return StartKind::outermost;
  if (symbol.starts_with("runtime.asmcgocall")) return StartKind::other_stack;
  if (is_one_of(symbol, clones_anywhere)) return StartKind::clone;
  if (!is_c_library(module)) return StartKind::none;
  if (is_one_of(symbol, in_c_library)) return StartKind::start;
  return is_one_of(symbol, clones) ? StartKind::clone : StartKind::none;
}

StartKind kernel_start(std::string_view symbol) {
  // Functions at which programs, exceptions and interrupts enter the kernel, and at which kernel
  // threads and CPUs start. Parts of the entry and exit code have separate names.
  constexpr std::string_view names[] = {"syscall_return_via_sysret",
                                        "swapgs_restore_regs_and_return_to_usermode",
                                        "restore_regs_and_return_to_kernel",
                                        "common_interrupt_return",
                                        "native_irq_return_iret",
                                        "native_iret",
                                        "error_entry",
                                        "error_return",
                                        "paranoid_entry",
                                        "paranoid_exit",
                                        "irq_entries_start",
                                        "spurious_entries_start",
                                        "early_idt_handler_common",
                                        "end_repeat_nmi",
                                        "start_secondary",
                                        "start_kernel",
                                        "xen_start_kernel",
                                        "xen_hypervisor_callback",
                                        "asm_common_interrupt",
                                        "asm_spurious_interrupt",
                                        "asm_int80_emulation",
                                        "asm_cpu_bringup_and_idle"};
  constexpr std::string_view prefixes[] = {
      "entry_SYSCALL_", "entry_SYSENTER_", "entry_INT80_",  "asm_exc_",
      "asm_sysvec_",    "asm_fred_",       "ret_from_fork", "secondary_startup_64",
      "x86_64_start_",  "xen_asm_",        "xen_entry_"};
  return is_one_of(symbol, names) || has_prefix_of(symbol, prefixes) ? StartKind::start
                                                                     : StartKind::none;
}

bool is_c_library(std::string_view module) {
  const std::string_view name = module.substr(module.rfind('/') + 1);
  constexpr std::string_view names[] = {"libc.so", "libc-2.", "libc.musl", "ld-musl", "libpthread"};
  return std::ranges::any_of(names, [&](std::string_view n) { return name.starts_with(n); });
}

}  // namespace post
