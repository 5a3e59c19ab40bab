// SPDX-License-Identifier: MIT
// Decodes heap dumps of Java virtual machines, in the format of .hprof files.
//
// The definition is hprof_b_spec.h and heapDumper.cpp of the JDK; the records that only Android
// writes are those of its hprof.cc.
#ifndef HDUMP_READ_HPROF_H
#define HDUMP_READ_HPROF_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <pi/result.h>

#include "byte_stream.h"

namespace hdump {

// Names objects, classes and strings within one dump: HotSpot's are addresses. 0 is null.
using Id = uint64_t;

enum class Type : uint8_t {
  object = 2,
  boolean = 4,
  character = 5,
  single_float = 6,
  double_float = 7,
  int8 = 8,
  int16 = 9,
  int32 = 10,
  int64 = 11,
};
constexpr size_t type_numbers = 12;

// Bytes of a value in the dump; 0 for a number that is no type.
unsigned size_in_dump(Type type, unsigned id_size);

enum class RootKind : uint8_t {
  unknown,
  jni_global,
  jni_local,
  java_frame,
  native_stack,
  system_class,
  thread_block,
  monitor,
  thread,
  interned_string,
  finalizing,
  debugger,
  vm_internal,
  count
};
// "JNI global", "system class", ...
std::string_view root_name(RootKind kind);

struct Field {
  Id name = 0;
  Type type{};
};

struct StaticField {
  Id name = 0;
  Type type{};
  uint64_t value = 0;  // an Id for Type::object
};

struct ClassDump {
  Id id = 0;
  Id super = 0;
  Id loader = 0;
  Id signers = 0;
  Id domain = 0;
  std::vector<StaticField> statics;
  std::vector<Field> fields;  // without those of super classes
};

// Is called with the records of a dump, in their order in the file.
class Visitor {
 public:
  virtual ~Visitor() = default;
  // Before all others: the bytes of an id.
  virtual void ids_have(unsigned /*bytes*/) {}
  virtual void string(Id, std::string_view) {}
  virtual void loaded_class(Id /*class_id*/, Id /*name*/) {}
  virtual void root(RootKind, Id /*object*/) {}
  virtual void class_dump(const ClassDump&) {}
  // fields: the values of the class's own fields, then those of its super class, and so on.
  virtual void instance(Id, Id /*class_id*/, std::span<const std::byte> /*fields*/) {}
  virtual void object_array(Id, Id /*class_id*/, uint32_t /*length*/) {}
  // Some further elements of the last object array.
  virtual void elements(std::span<const std::byte>) {}
  virtual void primitive_array(Id, Type, uint32_t /*length*/) {}
};

struct DumpFacts {
  std::string format;     // "JAVA PROFILE 1.0.2"
  unsigned id_size = 8;   // 4 or 8
  uint64_t time_ms = 0;   // when the dump was made, since 1970
  uint64_t bytes = 0;     // of the dump that were read
  uint64_t segments = 0;  // parts of the heap
  bool whole = false;     // the dump has its end record
};

// What is wrong with a dump. The messages name at most the first few places.
struct Damage {
  uint64_t places = 0;
  std::vector<std::string> messages;
  void add(uint64_t position, std::string message);
};

// progress: is called now and then with the stream's position in its file; false ends the reading.
// The error's message is a sentence that says why this is no dump.
pi::Result<DumpFacts> read_dump(ByteStream& stream, Visitor& visitor, Damage& damage,
                                const std::function<void(uint64_t)>& progress = {});

// Numbers of the dump are big-endian.
inline uint32_t load32(const std::byte* at) {
  uint32_t value;
  __builtin_memcpy(&value, at, sizeof value);
  return __builtin_bswap32(value);
}
inline uint64_t load64(const std::byte* at) {
  uint64_t value;
  __builtin_memcpy(&value, at, sizeof value);
  return __builtin_bswap64(value);
}
inline Id load_id(const std::byte* at, unsigned id_size) {
  return id_size == 8 ? load64(at) : load32(at);
}

}  // namespace hdump

#endif  // HDUMP_READ_HPROF_H
