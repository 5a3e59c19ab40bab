// SPDX-License-Identifier: MIT
// Runtimes whose own code, and the code that they generate, has no tables, and how its frames are
// found: most keep frame pointers.
#ifndef UNWIND_RUNTIME_H
#define UNWIND_RUNTIME_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace unwind {

enum class Runtime : uint16_t {
  none,
  hotspot,  // a Java virtual machine; in compiled code with -XX:+PreserveFramePointer only
  v8,       // node, for example
  python,   // with -X perf it calls functions through code of its own, which keeps no frame pointer
};
inline constexpr auto last_runtime = Runtime::python;

// The symbols of libjvm.so that describe its structures (vmStructs.cpp of OpenJDK).
enum class HotspotSymbol : uint8_t {
  structs,
  struct_stride,
  struct_type,
  struct_field,
  struct_is_static,
  struct_offset,
  struct_address,
  types,
  type_stride,
  type_name,
  type_size,
};
inline constexpr std::array<std::string_view, 11> hotspot_symbols = {
    "gHotSpotVMStructs",
    "gHotSpotVMStructEntryArrayStride",
    "gHotSpotVMStructEntryTypeNameOffset",
    "gHotSpotVMStructEntryFieldNameOffset",
    "gHotSpotVMStructEntryIsStaticOffset",
    "gHotSpotVMStructEntryOffsetOffset",
    "gHotSpotVMStructEntryAddressOffset",
    "gHotSpotVMTypes",
    "gHotSpotVMTypeEntryArrayStride",
    "gHotSpotVMTypeEntryTypeNameOffset",
    "gHotSpotVMTypeEntrySizeOffset"};

// v8::Isolate::GetCurrent(), which each library with V8 exports.
inline constexpr std::string_view v8_symbol = "_ZN2v87Isolate10GetCurrentEv";
// What Python 3.12 and later copies for each function, with -X perf.
inline constexpr std::string_view python_symbol = "_Py_trampoline_func_start";
// V8's built-in functions, which are compiled with V8's own compiler, have no unwind information:
// code of at least so many bytes.
inline constexpr uint64_t v8_builtins_min = 256 << 10;

}  // namespace unwind

#endif  // UNWIND_RUNTIME_H
