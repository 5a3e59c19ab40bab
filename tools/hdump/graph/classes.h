// SPDX-License-Identifier: MIT
// The classes of a heap dump: names, fields, sizes of their objects, and the places of references
// in these.
#ifndef HDUMP_GRAPH_CLASSES_H
#define HDUMP_GRAPH_CLASSES_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "read/hprof.h"

namespace hdump {

// Sizes of HotSpot's objects. An .hprof has only the values of fields.
using pi::log_hd::Layout;
// 64 bits: compressed references up to 32 GB of heap, and compressed class pointers. 32 bits: none.
Layout assumed_layout(unsigned id_size, Id lowest, Id highest);

constexpr uint32_t no_class = UINT32_MAX;

// Numbers from 0: first those of arrays of primitive types, by type, then one for each id.
class Classes {
 public:
  struct Class {
    Id id = 0;
    Id super = 0;
    Id loader = 0;
    std::string name;  // "java.lang.String[]"
    std::vector<Field> fields;
    std::vector<StaticField> statics;  // of type object only
    uint32_t static_bytes = 0;         // of all static fields, in the class as an object
    uint32_t instance_bytes = 0;       // of its objects, as the JVM has recorded them; else 0
    bool dumped = false;               // its record was read
  };
  // Where a reference is in the values of an object's fields.
  struct Reference {
    uint32_t offset = 0;
    uint32_t holder = 0;  // the class that has the field
    uint32_t field = 0;   // its number there
  };

  explicit Classes(unsigned id_size = 8);

  // The number of classes as objects until java.lang.Class, of which they are, is known.
  static constexpr uint32_t of_classes = 0;
  static uint32_t of_primitive_array(Type type) { return static_cast<uint32_t>(type); }
  // The number of a class, which need not have been read yet.
  uint32_t number(Id id);
  std::optional<uint32_t> find(Id id) const;
  size_t size() const { return classes_.size(); }
  const Class& operator[](uint32_t number) const { return classes_[number]; }

  // Records of the dump.
  void set_id_size(unsigned id_size) { id_size_ = id_size; }
  // The first text of an id counts. Beyond a limit, texts are left out.
  void add_string(Id id, std::string_view text);
  uint64_t texts_left_out() const { return texts_left_out_; }
  void add_loaded(Id class_id, Id name) { class_names_[class_id] = name; }
  // False if that class has been read before.
  bool add(const ClassDump& dump);
  // Of a class that was read.
  uint32_t static_bytes(Id id) const { return classes_[numbers_.at(id)].static_bytes; }
  // To be called after the last record: gives the classes their names, and the sizes that the JVM
  // has recorded, if it has.
  void complete(const pi::log_hd::Facts* jvm = nullptr);

  std::string_view string(Id id) const;
  // "java.util.HashMap.table"
  std::string field_name(const Reference& reference) const;
  std::string static_name(uint32_t holder, size_t field) const;

  // The bytes of all fields of an object in the dump, those of super classes included; none if the
  // class or a super class was not read.
  std::optional<uint64_t> dump_bytes(uint32_t number);
  // The bytes of an object in the JVM, rounded; arrays need their length.
  uint64_t object_bytes(uint32_t number, const Layout& layout);
  // References within an object whose fields have `bytes` bytes in the dump; nullptr if the class
  // does not have that size. The referents of weak, phantom and final references are left out: they
  // keep nothing alive. Valid until the next class is added.
  const std::vector<Reference>* references(uint32_t number, uint64_t bytes);

 private:
  struct Sizes {
    uint64_t dump = 0;       // bytes of all fields in the dump
    uint64_t primitive = 0;  // bytes of those that are no references
    uint64_t references = 0;
    enum class State : uint8_t { unread, known, broken } state = State::unread;
    bool weak = false;  // derives from a class of weak references
  };
  // Sizes of the class and its super classes; nullptr if one is missing, or its own super class.
  const Sizes* sizes(uint32_t number);
  void take_sizes(const pi::log_hd::Facts& jvm);

  unsigned id_size_;
  std::vector<Class> classes_;
  std::unordered_map<Id, uint32_t> numbers_;
  std::unordered_map<Id, Id> class_names_;
  // Offset and length in texts_.
  std::unordered_map<Id, std::pair<uint64_t, uint32_t>> strings_;
  std::string texts_;
  uint64_t texts_left_out_ = 0;
  std::vector<Sizes> sizes_;
  std::vector<std::optional<std::vector<Reference>>> references_;
};

// "[Ljava/lang/String;" or "java/lang/String" as in Java.
std::string java_name(std::string_view name);

}  // namespace hdump

#endif  // HDUMP_GRAPH_CLASSES_H
