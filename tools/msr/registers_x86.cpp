// SPDX-License-Identifier: MIT
// Model-specific registers of x86 by name. Numbers and layouts as published: Intel's Software
// Developer's Manual, volume 4; AMD's Architecture Programmer's Manual, volume 2, and Processor
// Programming References.
#include <strings.h>

#include <algorithm>
#include <string>

#include "registers.h"

namespace pi::msr {
namespace {

constexpr Field apic_base[] = {{"BSP", 8, 8, "this is the bootstrap processor"},
                               {"EXTD", 10, 10, "x2APIC mode"},
                               {"EN", 11, 11, "the APIC is enabled"},
                               {"BASE", 51, 12, "page of the APIC's registers"}};
constexpr Field feature_control[] = {{"LOCK", 0, 0, "locked until the next reset"},
                                     {"VMX_SMX", 1, 1, "VMX inside SMX"},
                                     {"VMX", 2, 2, "VMX outside SMX"}};
constexpr Field spec_ctrl[] = {{"IBRS", 0, 0, "indirect branches are restricted"},
                               {"STIBP", 1, 1, "branch predictors are not shared by siblings"},
                               {"SSBD", 2, 2, "no speculative store bypass"}};
constexpr Field bios_sign_id[] = {{"REVISION", 63, 32, "revision of the microcode (Intel)"}};
constexpr Field platform_info[] = {{"RATIO", 15, 8, "base frequency in bus clocks"},
                                   {"RATIO_MIN", 47, 40, "lowest frequency in bus clocks"}};
constexpr Field mtrr_cap[] = {{"COUNT", 7, 0, "variable ranges"},
                              {"FIXED", 8, 8, "fixed ranges"},
                              {"WC", 10, 10, "write combining"}};
constexpr Field mcg_cap[] = {{"COUNT", 7, 0, "banks that report errors"},
                             {"CTL", 8, 8, "there is a control register"}};
constexpr Field event_select[] = {{"EVENT", 7, 0, "event"},
                                  {"UMASK", 15, 8, "unit mask"},
                                  {"USR", 16, 16, "counts in user mode"},
                                  {"OS", 17, 17, "counts in kernel mode"},
                                  {"EDGE", 18, 18, "counts rising edges, not cycles"},
                                  {"INT", 20, 20, "interrupts at overflow"},
                                  {"ANY", 21, 21, "counts for all threads of the core"},
                                  {"EN", 22, 22, "the counter is enabled"},
                                  {"INV", 23, 23, "the mask is inverted"},
                                  {"CMASK", 31, 24, "minimum number of events in a cycle"}};
constexpr Field amd_event_select[] = {{"EVENT", 7, 0, "low byte of the event"},
                                      {"UMASK", 15, 8, "unit mask"},
                                      {"USR", 16, 16, "counts in user mode"},
                                      {"OS", 17, 17, "counts in kernel mode"},
                                      {"EDGE", 18, 18, "counts rising edges, not cycles"},
                                      {"INT", 20, 20, "interrupts at overflow"},
                                      {"EN", 22, 22, "the counter is enabled"},
                                      {"INV", 23, 23, "the mask is inverted"},
                                      {"CMASK", 31, 24, "minimum number of events in a cycle"},
                                      {"EVENT_HIGH", 35, 32, "high bits of the event"},
                                      {"GUEST_HOST", 41, 40, "1 guests only, 2 the host only"}};
constexpr Field perf_state[] = {{"STATE", 15, 0, "performance state"}};
constexpr Field therm_status[] = {{"HOT", 0, 0, "too hot now"},
                                  {"HOT_LOG", 1, 1, "has been too hot"},
                                  {"READOUT", 22, 16, "degrees below the limit"},
                                  {"VALID", 31, 31, "the readout is valid"}};
constexpr Field misc_enable[] = {{"FAST_STRINGS", 0, 0, "fast string instructions"},
                                 {"TCC", 3, 3, "thermal control"},
                                 {"PERFMON", 7, 7, "there are performance counters"},
                                 {"NO_BTS", 11, 11, "there is no branch trace store"},
                                 {"NO_PEBS", 12, 12, "there is no precise sampling"},
                                 {"EIST", 16, 16, "SpeedStep is enabled"},
                                 {"MWAIT", 18, 18, "MONITOR and MWAIT are enabled"},
                                 {"LIMIT_CPUID", 22, 22, "CPUID ends at leaf 2 or 3"},
                                 {"NO_XD", 34, 34, "no execute-disable bit"}};
constexpr Field energy_bias[] = {{"BIAS", 3, 0, "0: performance, up to 15: energy saving"}};
constexpr Field debug_ctl[] = {{"LBR", 0, 0, "last branches are recorded"},
                               {"BTF", 1, 1, "single step stops at branches only"},
                               {"TR", 6, 6, "branch trace messages"},
                               {"BTS", 7, 7, "branch trace store"},
                               {"BTINT", 8, 8, "interrupt when the branch trace store is full"},
                               {"FREEZE_LBR", 11, 11, "last branches freeze at an overflow"},
                               {"FREEZE_PERFMON", 12, 12, "counters freeze at an overflow"},
                               {"FREEZE_SMM", 14, 14, "counters freeze in SMM"}};
constexpr Field mtrr_default[] = {{"TYPE", 7, 0, "memory type of addresses outside all ranges"},
                                  {"FE", 10, 10, "fixed ranges are enabled"},
                                  {"E", 11, 11, "ranges are enabled"}};
constexpr Field pat[] = {{"PA0", 2, 0, "memory type 0"},   {"PA1", 10, 8, "memory type 1"},
                         {"PA2", 18, 16, "memory type 2"}, {"PA3", 26, 24, "memory type 3"},
                         {"PA4", 34, 32, "memory type 4"}, {"PA5", 42, 40, "memory type 5"},
                         {"PA6", 50, 48, "memory type 6"}, {"PA7", 58, 56, "memory type 7"}};
constexpr Field perf_capabilities[] = {
    {"LBR_FORMAT", 5, 0, "format of last branches"},
    {"PEBS_TRAP", 6, 6, "precise samples trap"},
    {"PEBS_REGS", 7, 7, "precise samples contain all registers"},
    {"PEBS_FORMAT", 11, 8, "format of precise samples"},
    {"FREEZE_SMM", 12, 12, "counters can freeze in SMM"},
    {"FULL_WRITE", 13, 13, "counters can be written in full width"}};
constexpr Field fixed_ctrl[] = {{"EN0", 1, 0, "fixed counter 0: 1 kernel, 2 user, 3 both"},
                                {"PMI0", 3, 3, "interrupts at overflow"},
                                {"EN1", 5, 4, "fixed counter 1"},
                                {"PMI1", 7, 7, "interrupts at overflow"},
                                {"EN2", 9, 8, "fixed counter 2"},
                                {"PMI2", 11, 11, "interrupts at overflow"}};
constexpr Field power_unit[] = {{"POWER", 3, 0, "1/2^n watts"},
                                {"ENERGY", 12, 8, "1/2^n joules"},
                                {"TIME", 19, 16, "1/2^n seconds"}};
constexpr Field energy_status[] = {{"ENERGY", 31, 0, "in units of the power unit register"}};
constexpr Field efer[] = {{"SCE", 0, 0, "SYSCALL is enabled"},
                          {"LME", 8, 8, "long mode is enabled"},
                          {"LMA", 10, 10, "long mode is active"},
                          {"NXE", 11, 11, "no-execute pages"},
                          {"SVME", 12, 12, "SVM is enabled"},
                          {"FFXSR", 14, 14, "fast FXSAVE"},
                          {"TCE", 15, 15, "translation cache extension"}};
constexpr Field star[] = {{"SYSCALL_CS", 47, 32, "code segment of SYSCALL"},
                          {"SYSRET_CS", 63, 48, "code segment of SYSRET"}};
constexpr Field hwcr[] = {{"SMMLOCK", 0, 0, "SMM is locked"},
                          {"TSC_INVARIANT", 24, 24, "the TSC counts at the frequency of P0"},
                          {"NO_BOOST", 25, 25, "core performance boost is off"}};
constexpr Field state_number[] = {{"STATE", 2, 0, "P-state"}};

constexpr Register registers[] = {
    {0x10, "IA32_TIME_STAMP_COUNTER", "time-stamp counter"},
    {0x10, "TSC", "time-stamp counter"},
    {0x1b, "IA32_APIC_BASE", "local APIC: address, and whether it is enabled", apic_base},
    {0x3a, "IA32_FEATURE_CONTROL", "features that the firmware allows", feature_control},
    {0x3b, "IA32_TSC_ADJUST", "offset added to the time-stamp counter"},
    {0x48, "IA32_SPEC_CTRL", "speculation control", spec_ctrl},
    {0x8b, "IA32_BIOS_SIGN_ID", "microcode revision", bios_sign_id},
    {0xc1, "IA32_PMC0", "performance counter 0"},
    {0xc2, "IA32_PMC1", "performance counter 1"},
    {0xc3, "IA32_PMC2", "performance counter 2"},
    {0xc4, "IA32_PMC3", "performance counter 3"},
    {0xce, "PLATFORM_INFO", "frequency ratios", platform_info},
    {0xe7, "IA32_MPERF", "cycles at base frequency while not halted"},
    {0xe8, "IA32_APERF", "cycles while not halted"},
    {0xfe, "IA32_MTRRCAP", "memory type ranges: capabilities", mtrr_cap},
    {0x10a, "IA32_ARCH_CAPABILITIES", "vulnerabilities that are fixed in hardware"},
    {0x174, "IA32_SYSENTER_CS", "code segment of SYSENTER"},
    {0x175, "IA32_SYSENTER_ESP", "stack of SYSENTER"},
    {0x176, "IA32_SYSENTER_EIP", "entry of SYSENTER"},
    {0x179, "IA32_MCG_CAP", "machine check: capabilities", mcg_cap},
    {0x17a, "IA32_MCG_STATUS", "machine check status"},
    {0x186, "IA32_PERFEVTSEL0", "control of performance counter 0", event_select},
    {0x187, "IA32_PERFEVTSEL1", "control of performance counter 1", event_select},
    {0x188, "IA32_PERFEVTSEL2", "control of performance counter 2", event_select},
    {0x189, "IA32_PERFEVTSEL3", "control of performance counter 3", event_select},
    {0x198, "IA32_PERF_STATUS", "current performance state", perf_state},
    {0x199, "IA32_PERF_CTL", "requested performance state", perf_state},
    {0x19a, "IA32_CLOCK_MODULATION", "duty cycle"},
    {0x19b, "IA32_THERM_INTERRUPT", "thermal interrupts"},
    {0x19c, "IA32_THERM_STATUS", "temperature of the core", therm_status},
    {0x1a0, "IA32_MISC_ENABLE", "features that can be switched on and off", misc_enable},
    {0x1ad, "TURBO_RATIO_LIMIT", "highest ratios by number of active cores"},
    {0x1b0, "IA32_ENERGY_PERF_BIAS", "preference: performance or energy saving", energy_bias},
    {0x1b1, "IA32_PACKAGE_THERM_STATUS", "temperature of the package", therm_status},
    {0x1d9, "IA32_DEBUGCTL", "branch tracing", debug_ctl},
    {0x277, "IA32_PAT", "page attribute table", pat},
    {0x2ff, "IA32_MTRR_DEF_TYPE", "memory type ranges: default", mtrr_default},
    {0x309, "IA32_FIXED_CTR0", "fixed counter 0: instructions"},
    {0x30a, "IA32_FIXED_CTR1", "fixed counter 1: cycles while not halted"},
    {0x30b, "IA32_FIXED_CTR2", "fixed counter 2: cycles at base frequency while not halted"},
    {0x345, "IA32_PERF_CAPABILITIES", "performance counters: capabilities", perf_capabilities},
    {0x38d, "IA32_FIXED_CTR_CTRL", "control of the fixed counters", fixed_ctrl},
    {0x38e, "IA32_PERF_GLOBAL_STATUS", "counters that have overflowed"},
    {0x38f, "IA32_PERF_GLOBAL_CTRL", "counters that are enabled"},
    {0x390, "IA32_PERF_GLOBAL_OVF_CTRL", "clears the overflow flags"},
    {0x3f1, "IA32_PEBS_ENABLE", "counters with precise samples"},
    {0x606, "RAPL_POWER_UNIT", "units of power and energy", power_unit},
    {0x610, "PKG_POWER_LIMIT", "power limit of the package"},
    {0x611, "PKG_ENERGY_STATUS", "energy of the package", energy_status},
    {0x619, "DRAM_ENERGY_STATUS", "energy of the memory", energy_status},
    {0x639, "PP0_ENERGY_STATUS", "energy of the cores", energy_status},
    {0x6e0, "IA32_TSC_DEADLINE", "time at which the APIC timer fires"},
    {0xc0000080, "IA32_EFER", "extended features", efer},
    {0xc0000081, "IA32_STAR", "segments of SYSCALL", star},
    {0xc0000082, "IA32_LSTAR", "entry of SYSCALL"},
    {0xc0000083, "IA32_CSTAR", "entry of SYSCALL from 32-bit code"},
    {0xc0000084, "IA32_FMASK", "flags that SYSCALL clears"},
    {0xc0000100, "IA32_FS_BASE", "base of FS"},
    {0xc0000101, "IA32_GS_BASE", "base of GS"},
    {0xc0000102, "IA32_KERNEL_GS_BASE", "base of GS that SWAPGS loads"},
    {0xc0000103, "IA32_TSC_AUX", "value that RDTSCP and RDPID return"},
    {0xc0010000, "AMD_PERF_CTL0", "control of performance counter 0", amd_event_select},
    {0xc0010004, "AMD_PERF_CTR0", "performance counter 0"},
    {0xc0010010, "AMD_SYSCFG", "system configuration"},
    {0xc0010015, "AMD_HWCR", "hardware configuration", hwcr},
    {0xc0010061, "AMD_PSTATE_LIMIT", "P-states that are allowed"},
    {0xc0010062, "AMD_PSTATE_CTL", "requested P-state", state_number},
    {0xc0010063, "AMD_PSTATE_STATUS", "current P-state", state_number},
    {0xc0010200, "AMD_CORE_PERF_CTL0", "control of core counter 0", amd_event_select},
    {0xc0010201, "AMD_CORE_PERF_CTR0", "core counter 0"},
    {0xc0010299, "AMD_RAPL_PWR_UNIT", "units of power and energy", power_unit},
    {0xc001029a, "AMD_CORE_ENERGY_STAT", "energy of the core", energy_status},
    {0xc001029b, "AMD_PKG_ENERGY_STAT", "energy of the package", energy_status},
};

bool same(std::string_view a, std::string_view b) {
  return a.size() == b.size() && ::strncasecmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace

std::span<const Register> known_registers() {
  return registers;
}

const Register* find_register(std::string_view name) {
  constexpr std::string_view prefix = "IA32_";
  for (const auto& each : registers) {
    const std::string_view full = each.name;
    if (same(full, name) || (full.starts_with(prefix) && same(full.substr(prefix.size()), name)))
      return &each;
  }
  return nullptr;
}

const Register* find_register(uint32_t number) {
  const auto* const found =
      std::find_if(std::begin(registers), std::end(registers),
                   [=](const Register& each) { return each.number == number; });
  return found == std::end(registers) ? nullptr : found;
}

const Field* find_field(const Register& known, std::string_view name) {
  for (const auto& each : known.fields)
    if (same(each.name, name)) return &each;
  return nullptr;
}

}  // namespace pi::msr
