// SPDX-License-Identifier: MIT
// HotSpot's descriptions of its own structures, which it exports for debuggers.
#include "vm_structs.h"

#include <dlfcn.h>

#include <utility>

namespace pi::jprof {
namespace {

// The strings of the tables; true also if wanted is empty.
bool names(uint64_t place, std::string_view wanted) {
  const char* name = load<const char*>(place);
  return wanted.empty() || (name && name == wanted);
}

}  // namespace

std::optional<VmStructs> VmStructs::of_this_jvm() {
  void* library = ::dlopen("libjvm.so", RTLD_LAZY | RTLD_NOLOAD);
  if (!library) return std::nullopt;
  VmStructs tables;
  const std::pair<const char*, uint64_t&> exported[] = {
      {"gHotSpotVMStructs", tables.fields_},
      {"gHotSpotVMStructEntryArrayStride", tables.field_stride_},
      {"gHotSpotVMStructEntryTypeNameOffset", tables.type_name_},
      {"gHotSpotVMStructEntryFieldNameOffset", tables.field_name_},
      {"gHotSpotVMStructEntryIsStaticOffset", tables.is_static_},
      {"gHotSpotVMStructEntryOffsetOffset", tables.offset_},
      {"gHotSpotVMStructEntryAddressOffset", tables.address_},
      {"gHotSpotVMTypes", tables.types_},
      {"gHotSpotVMTypeEntryArrayStride", tables.type_stride_},
      {"gHotSpotVMTypeEntryTypeNameOffset", tables.name_of_type_},
      {"gHotSpotVMTypeEntrySizeOffset", tables.size_}};
  bool complete = true;
  for (const auto& [name, value] : exported) {
    const void* place = ::dlsym(library, name);
    complete = complete && place;
    if (place) value = load<uint64_t>(reinterpret_cast<uint64_t>(place));
  }
  ::dlclose(library);
  if (!complete || tables.fields_ == 0 || tables.field_stride_ == 0 || tables.types_ == 0 ||
      tables.type_stride_ == 0)
    return std::nullopt;
  return tables;
}

// Both tables end with an entry without the name of a type.
uint64_t VmStructs::find(std::string_view type, std::string_view field, bool is_static) const {
  for (uint64_t entry = fields_; load<const char*>(entry + type_name_); entry += field_stride_)
    if (names(entry + field_name_, field) && names(entry + type_name_, type) &&
        (load<int32_t>(entry + is_static_) != 0) == is_static)
      return entry;
  return 0;
}

std::optional<uint64_t> VmStructs::offset_of(std::string_view type, std::string_view field) const {
  const uint64_t entry = find(type, field, false);
  if (entry == 0) return std::nullopt;
  return load<uint64_t>(entry + offset_);
}

std::optional<uint64_t> VmStructs::address_of(std::string_view type, std::string_view field) const {
  const uint64_t entry = find(type, field, true);
  if (entry == 0) return std::nullopt;
  return load<uint64_t>(entry + address_);
}

std::optional<uint64_t> VmStructs::size_of(std::string_view type) const {
  for (uint64_t entry = types_; load<const char*>(entry + name_of_type_); entry += type_stride_)
    if (names(entry + name_of_type_, type)) return load<uint64_t>(entry + size_);
  return std::nullopt;
}

}  // namespace pi::jprof
