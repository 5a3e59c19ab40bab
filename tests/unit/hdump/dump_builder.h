// SPDX-License-Identifier: MIT
// Builds heap dumps in memory: classes with fields, objects, arrays and roots.
#ifndef TESTS_UNIT_HDUMP_DUMP_BUILDER_H
#define TESTS_UNIT_HDUMP_DUMP_BUILDER_H

#include <read/hprof.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hdump {

class DumpBuilder {
 public:
  struct FieldSpec {
    std::string name;
    Type type{};
  };
  struct StaticSpec {
    std::string name;
    uint64_t value = 0;
  };

  explicit DumpBuilder(unsigned id_size = 8) : id_size_(id_size) {
    for (const char c : std::string_view("JAVA PROFILE 1.0.2")) number(out_, c, 1);
    number(out_, 0, 1);
    number(out_, id_size, 4);
    number(out_, 1'700'000'000'000, 8);
  }

  // name: as in the JVM, "java/lang/Object".
  void add_class(uint64_t id, std::string_view name, uint64_t super = 0,
                 const std::vector<FieldSpec>& fields = {},
                 const std::vector<StaticSpec>& statics = {}, uint64_t loader = 0) {
    Bytes body;
    number(body, 1, 4);
    number(body, id, id_size_);
    number(body, 0, 4);
    number(body, string(name), id_size_);
    record(0x02, body);
    number(heap_, 0x20, 1);
    number(heap_, id, id_size_);
    number(heap_, 0, 4);
    for (const uint64_t value : {super, loader, uint64_t{0}, uint64_t{0}, uint64_t{0}, uint64_t{0}})
      number(heap_, value, id_size_);
    number(heap_, 0, 4);
    number(heap_, 0, 2);
    number(heap_, statics.size(), 2);
    for (const StaticSpec& field : statics) {
      number(heap_, string(field.name), id_size_);
      number(heap_, static_cast<uint64_t>(Type::object), 1);
      number(heap_, field.value, id_size_);
    }
    number(heap_, fields.size(), 2);
    for (const FieldSpec& field : fields) {
      number(heap_, string(field.name), id_size_);
      number(heap_, static_cast<uint64_t>(field.type), 1);
    }
  }

  // An object whose fields are all references.
  void add_object(uint64_t id, uint64_t class_id, const std::vector<uint64_t>& references) {
    Bytes fields;
    for (const uint64_t reference : references) number(fields, reference, id_size_);
    add_object_bytes(id, class_id, fields);
  }
  void add_object_bytes(uint64_t id, uint64_t class_id, const std::vector<std::byte>& fields) {
    number(heap_, 0x21, 1);
    number(heap_, id, id_size_);
    number(heap_, 0, 4);
    number(heap_, class_id, id_size_);
    number(heap_, fields.size(), 4);
    heap_.insert(heap_.end(), fields.begin(), fields.end());
  }
  void add_array(uint64_t id, uint64_t class_id, const std::vector<uint64_t>& elements) {
    number(heap_, 0x22, 1);
    number(heap_, id, id_size_);
    number(heap_, 0, 4);
    number(heap_, elements.size(), 4);
    number(heap_, class_id, id_size_);
    for (const uint64_t element : elements) number(heap_, element, id_size_);
  }
  void add_primitives(uint64_t id, Type type, uint32_t length) {
    number(heap_, 0x23, 1);
    number(heap_, id, id_size_);
    number(heap_, 0, 4);
    number(heap_, length, 4);
    number(heap_, static_cast<uint64_t>(type), 1);
    heap_.resize(heap_.size() + size_t{length} * size_in_dump(type, id_size_));
  }
  void add_root(uint64_t id) {
    number(heap_, 0x05, 1);
    number(heap_, id, id_size_);
  }
  // Any bytes within the heap.
  void add_raw(const std::vector<uint8_t>& bytes) {
    for (const uint8_t byte : bytes) number(heap_, byte, 1);
  }

  // Ends a part of the heap; the next object begins a new one.
  void end_segment() {
    record(0x1c, heap_);
    heap_.clear();
  }
  std::vector<std::byte> finish() {
    end_segment();
    record(0x2c, {});
    return out_;
  }

 private:
  using Bytes = std::vector<std::byte>;

  static void number(Bytes& out, uint64_t value, size_t bytes) {
    for (size_t i = bytes; i-- > 0;) out.push_back(static_cast<std::byte>(value >> (8 * i)));
  }
  void record(uint8_t tag, const Bytes& body) {
    number(out_, tag, 1);
    number(out_, 0, 4);
    number(out_, body.size(), 4);
    out_.insert(out_.end(), body.begin(), body.end());
  }
  uint64_t string(std::string_view text) {
    Bytes body;
    number(body, ++strings_, id_size_);
    for (const char c : text) body.push_back(static_cast<std::byte>(c));
    record(0x01, body);
    return strings_;
  }

  unsigned id_size_;
  uint64_t strings_ = 0;
  Bytes out_;
  Bytes heap_;
};

}  // namespace hdump

#endif  // TESTS_UNIT_HDUMP_DUMP_BUILDER_H
