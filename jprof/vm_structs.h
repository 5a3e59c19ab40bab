// SPDX-License-Identifier: MIT
// HotSpot's descriptions of its own structures, which it exports for debuggers.
#ifndef PI_JPROF_VM_STRUCTS_H
#define PI_JPROF_VM_STRUCTS_H

#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace pi::jprof {

// Reads a field of a structure of the JVM; address need not be aligned.
template <class T>
T load(uint64_t address) {
  T value;
  std::memcpy(&value, reinterpret_cast<const void*>(address), sizeof value);
  return value;
}

// The tables gHotSpotVMStructs and gHotSpotVMTypes of libjvm.so (vmStructs.cpp of OpenJDK). They do
// not change while the JVM runs.
class VmStructs {
 public:
  // Nothing for a JVM that is not HotSpot.
  static std::optional<VmStructs> of_this_jvm();

  // The offset of a field in bytes; of the first type that has it if type is empty.
  std::optional<uint64_t> offset_of(std::string_view type, std::string_view field) const;
  // The address of a static field.
  std::optional<uint64_t> address_of(std::string_view type, std::string_view field) const;
  // The size of a type in bytes.
  std::optional<uint64_t> size_of(std::string_view type) const;

 private:
  // The entry of a field; 0 if there is none.
  uint64_t find(std::string_view type, std::string_view field, bool is_static) const;

  // Fields: the first entry, bytes from one entry to the next, and offsets inside of an entry.
  uint64_t fields_, field_stride_, type_name_, field_name_, is_static_, offset_, address_;
  // The same for types.
  uint64_t types_, type_stride_, name_of_type_, size_;
};

}  // namespace pi::jprof

#endif  // PI_JPROF_VM_STRUCTS_H
