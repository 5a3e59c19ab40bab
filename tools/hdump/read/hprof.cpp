// SPDX-License-Identifier: MIT
#include "hprof.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace hdump {
namespace {

// Records of the dump.
enum Tag : uint8_t {
  tag_string = 0x01,
  tag_load_class = 0x02,
  tag_unload_class = 0x03,
  tag_frame = 0x04,
  tag_trace = 0x05,
  tag_alloc_sites = 0x06,
  tag_heap_summary = 0x07,
  tag_start_thread = 0x0a,
  tag_end_thread = 0x0b,
  tag_heap_dump = 0x0c,
  tag_cpu_samples = 0x0d,
  tag_control_settings = 0x0e,
  tag_segment = 0x1c,
  tag_end = 0x2c,
};

// Records within a part of the heap.
enum Subtag : uint8_t {
  sub_root_unknown = 0xff,
  sub_root_jni_global = 0x01,
  sub_root_jni_local = 0x02,
  sub_root_java_frame = 0x03,
  sub_root_native_stack = 0x04,
  sub_root_sticky_class = 0x05,
  sub_root_thread_block = 0x06,
  sub_root_monitor = 0x07,
  sub_root_thread = 0x08,
  sub_class = 0x20,
  sub_instance = 0x21,
  sub_object_array = 0x22,
  sub_primitive_array = 0x23,
  // Android
  sub_interned_string = 0x89,
  sub_finalizing = 0x8a,
  sub_debugger = 0x8b,
  sub_reference_cleanup = 0x8c,
  sub_vm_internal = 0x8d,
  sub_jni_monitor = 0x8e,
  sub_unreachable = 0x90,
  sub_array_without_data = 0xc3,
  sub_heap_info = 0xfe,
};

struct RootForm {
  uint8_t tag;
  RootKind kind;
  unsigned ids;       // the first is the object
  unsigned integers;  // of four bytes, after the ids
};
constexpr RootForm root_forms[] = {
    {sub_root_unknown, RootKind::unknown, 1, 0},
    {sub_root_jni_global, RootKind::jni_global, 2, 0},
    {sub_root_jni_local, RootKind::jni_local, 1, 2},
    {sub_root_java_frame, RootKind::java_frame, 1, 2},
    {sub_root_native_stack, RootKind::native_stack, 1, 1},
    {sub_root_sticky_class, RootKind::system_class, 1, 0},
    {sub_root_thread_block, RootKind::thread_block, 1, 1},
    {sub_root_monitor, RootKind::monitor, 1, 0},
    {sub_root_thread, RootKind::thread, 1, 2},
    {sub_interned_string, RootKind::interned_string, 1, 0},
    {sub_finalizing, RootKind::finalizing, 1, 0},
    {sub_debugger, RootKind::debugger, 1, 0},
    {sub_reference_cleanup, RootKind::unknown, 1, 0},
    {sub_vm_internal, RootKind::vm_internal, 1, 0},
    {sub_jni_monitor, RootKind::monitor, 1, 2},
};

constexpr size_t longest_string = 0xffff;  // bytes of a name in a class file
constexpr size_t most_messages = 20;

class Reader {
 public:
  Reader(ByteStream& stream, Visitor& visitor, Damage& damage,
         const std::function<void(uint64_t)>& progress)
      : stream_(stream), window_(stream), visitor_(visitor), damage_(damage), progress_(progress) {}

  pi::Result<DumpFacts> read() {
    if (const pi::Status status = header(); !status) return status.error();
    while (record()) {
    }
    facts_.bytes = window_.position();
    if (!stream_.error().empty())
      damage("the rest cannot be read: " + stream_.error());
    else if (!facts_.whole && damage_.places == 0)
      damage("the dump ends without its end record: it was not written to its end");
    return facts_;
  }

 private:
  void damage(std::string message) { damage_.add(window_.position(), std::move(message)); }

  // False, with a message, at the end of the dump.
  bool need(size_t bytes, const char* what) {
    if (window_.need(bytes)) return true;
    if (stream_.error().empty()) damage(fmt::format("the dump ends within {}", what));
    return false;
  }

  pi::Status header() {
    constexpr std::string_view start = "JAVA PROFILE 1.0";
    constexpr size_t longest = 32;
    window_.need(longest);
    const std::string_view text(reinterpret_cast<const char*>(window_.data()),
                                std::min(window_.available(), longest));
    const size_t end = text.find('\0');
    if (!text.starts_with(start) || end == text.npos)
      return pi::Error{-1, stream_.error().empty() ? "it is no heap dump: it does not begin with "
                                                     "JAVA PROFILE 1.0."
                                                   : stream_.error() + "."};
    facts_.format = text.substr(0, end);
    window_.advance(end + 1);
    if (!window_.need(12)) return pi::Error{-1, "it ends within the header."};
    facts_.id_size = load32(window_.data());
    facts_.time_ms = load64(window_.data() + 4);
    window_.advance(12);
    if (facts_.id_size != 4 && facts_.id_size != 8)
      return pi::Error{-1,
                       fmt::format("its ids have {} bytes; 4 and 8 are known.", facts_.id_size)};
    id_ = facts_.id_size;
    visitor_.ids_have(id_);
    return {};
  }

  // One record; false at the end of the dump, and where it cannot be read on.
  bool record() {
    if (!window_.need(1)) return false;
    if (!need(9, "the head of a record")) return false;
    const auto tag = std::to_integer<uint8_t>(window_.data()[0]);
    const uint32_t length = load32(window_.data() + 5);
    window_.advance(9);
    if (progress_ && (++records_ & 0xfff) == 0) progress_(stream_.file_position());
    switch (tag) {
      case tag_string:
        return string(length);
      case tag_load_class:
        return load_class(length);
      case tag_heap_dump:
      case tag_segment:
        ++facts_.segments;
        // A heap dump in one record is followed by no end record.
        if (tag == tag_heap_dump) facts_.whole = true;
        return segment(length);
      case tag_end:
        facts_.whole = true;
        return skip(length);
      case tag_unload_class:
      case tag_frame:
      case tag_trace:
      case tag_alloc_sites:
      case tag_heap_summary:
      case tag_start_thread:
      case tag_end_thread:
      case tag_cpu_samples:
      case tag_control_settings:
        return skip(length);
      default:
        // Its length may be as wrong as its tag: what follows could be anything.
        damage(fmt::format("{:#04x} is no kind of record; the rest is left out", tag));
        return false;
    }
  }

  bool skip(uint64_t bytes) {
    if (window_.skip(bytes)) return true;
    if (stream_.error().empty()) damage("the dump ends within a record");
    return false;
  }

  bool string(uint32_t length) {
    if (length < id_) {
      damage("a string's record is too short");
      return skip(length);
    }
    const size_t bytes = std::min<size_t>(length - id_, longest_string);
    if (!need(id_ + bytes, "a string")) return false;
    visitor_.string(load_id(window_.data(), id_),
                    {reinterpret_cast<const char*>(window_.data()) + id_, bytes});
    return skip(length);
  }

  bool load_class(uint32_t length) {
    if (length < 8 + 2 * id_) {
      damage("a class's record is too short");
      return skip(length);
    }
    if (!need(8 + 2 * id_, "a class's record")) return false;
    const std::byte* at = window_.data();
    visitor_.loaded_class(load_id(at + 4, id_), load_id(at + 8 + id_, id_));
    return skip(length);
  }

  // Takes `bytes` of this part of the heap if it has them.
  bool fits(uint64_t bytes) {
    if (bytes <= left_) return true;
    broken_ = "an object is longer than its part of the heap";
    return false;
  }

  bool segment(uint32_t length) {
    left_ = length;
    broken_.clear();
    while (left_ != 0) {
      const uint64_t before = window_.position();
      if (!need(1, "a part of the heap")) return false;
      const auto tag = std::to_integer<uint8_t>(window_.data()[0]);
      if (!subrecord(tag)) {
        // The rest of this part has no structure any more, but the next part has.
        if (broken_.empty()) return false;
        damage(broken_ + "; the rest of this part of the heap is left out");
        return skip(left_ - (window_.position() - before));
      }
      left_ -= window_.position() - before;
    }
    return true;
  }

  // False if the dump ends, or with broken_.
  bool subrecord(uint8_t tag) {
    switch (tag) {
      case sub_instance:
        return instance();
      case sub_object_array:
        return object_array();
      case sub_primitive_array:
        return primitive_array(true);
      case sub_array_without_data:
        return primitive_array(false);
      case sub_class:
        return class_dump();
      case sub_heap_info:
        return take(1 + 4 + id_, "a heap's name");
      case sub_unreachable:
        return take(1 + id_, "an unreachable object");
      default:
        break;
    }
    const auto root = std::ranges::find(root_forms, tag, &RootForm::tag);
    if (root == std::end(root_forms)) {
      broken_ = fmt::format("{:#04x} is no kind of object", tag);
      return false;
    }
    const size_t size = 1 + root->ids * id_ + root->integers * 4;
    if (!fits(size) || !need(size, "a root")) return false;
    visitor_.root(root->kind, load_id(window_.data() + 1, id_));
    window_.advance(size);
    return true;
  }

  bool take(size_t size, const char* what) {
    if (!fits(size) || !need(size, what)) return false;
    window_.advance(size);
    return true;
  }

  bool instance() {
    const size_t head = 1 + id_ + 4 + id_ + 4;
    if (!fits(head) || !need(head, "an object")) return false;
    const uint32_t bytes = load32(window_.data() + head - 4);
    if (!fits(uint64_t{head} + bytes)) return false;
    if (head + bytes > Window::largest) {
      broken_ = fmt::format("an object has fields of {} bytes", bytes);
      return false;
    }
    if (!need(head + bytes, "an object")) return false;
    const std::byte* at = window_.data() + 1;
    visitor_.instance(load_id(at, id_), load_id(at + id_ + 4, id_), {window_.data() + head, bytes});
    window_.advance(head + bytes);
    return true;
  }

  bool object_array() {
    const size_t head = 1 + id_ + 4 + 4 + id_;
    if (!fits(head) || !need(head, "an array")) return false;
    const std::byte* at = window_.data() + 1;
    const uint32_t length = load32(at + id_ + 4);
    uint64_t bytes = uint64_t{length} * id_;
    if (!fits(head + bytes)) return false;
    visitor_.object_array(load_id(at, id_), load_id(at + id_ + 8, id_), length);
    window_.advance(head);
    while (bytes != 0) {
      if (!need(id_, "an array")) return false;
      auto part = static_cast<size_t>(std::min<uint64_t>(bytes, window_.available()));
      part -= part % id_;
      visitor_.elements({window_.data(), part});
      window_.advance(part);
      bytes -= part;
    }
    return true;
  }

  bool primitive_array(bool with_data) {
    const size_t head = 1 + id_ + 4 + 4 + 1;
    if (!fits(head) || !need(head, "an array")) return false;
    const std::byte* at = window_.data() + 1;
    const uint32_t length = load32(at + id_ + 4);
    const auto type = static_cast<Type>(at[id_ + 8]);
    const unsigned size = size_in_dump(type, id_);
    if (size == 0 || type == Type::object) {
      broken_ = fmt::format("an array has elements of type {}", static_cast<unsigned>(type));
      return false;
    }
    const uint64_t bytes = with_data ? uint64_t{length} * size : 0;
    if (!fits(head + bytes)) return false;
    const Id id = load_id(at, id_);
    if (!skip(head + bytes)) return false;
    visitor_.primitive_array(id, type, length);
    return true;
  }

  // A value of a type that stands before it: constants and static fields of classes.
  bool typed_value(size_t head, uint64_t& used, const char* what, StaticField& field) {
    if (!fits(used + head + 1) || !need(head + 1, what)) return false;
    field.name = head >= id_ ? load_id(window_.data(), id_) : 0;
    field.type = static_cast<Type>(window_.data()[head]);
    const unsigned size = size_in_dump(field.type, id_);
    if (size == 0) {
      broken_ = fmt::format("{} has type {}", what, static_cast<unsigned>(field.type));
      return false;
    }
    if (!fits(used + head + 1 + size) || !need(head + 1 + size, what)) return false;
    field.value = 0;
    for (size_t i = 0; i < size; ++i)
      field.value = field.value << 8 | std::to_integer<uint64_t>(window_.data()[head + 1 + i]);
    window_.advance(head + 1 + size);
    used += head + 1 + size;
    return true;
  }

  bool class_dump() {
    const size_t head = 1 + id_ + 4 + 6 * id_ + 4;
    if (!fits(head) || !need(head, "a class")) return false;
    const std::byte* at = window_.data() + 1;
    class_.id = load_id(at, id_);
    at += id_ + 4;
    class_.super = load_id(at, id_);
    class_.loader = load_id(at + id_, id_);
    class_.signers = load_id(at + 2 * id_, id_);
    class_.domain = load_id(at + 3 * id_, id_);
    class_.statics.clear();
    class_.fields.clear();
    window_.advance(head);
    uint64_t used = head;
    uint32_t number;
    StaticField value;
    if (!take_count(used, "a class's constants", number)) return false;
    for (; number != 0; --number)
      if (!typed_value(2, used, "a class's constant", value)) return false;
    if (!take_count(used, "a class's static fields", number)) return false;
    for (; number != 0; --number) {
      if (!typed_value(id_, used, "a static field", value)) return false;
      class_.statics.push_back(value);
    }
    if (!take_count(used, "a class's fields", number)) return false;
    for (; number != 0; --number) {
      if (!fits(used + id_ + 1) || !need(id_ + 1, "a field")) return false;
      const Field field{load_id(window_.data(), id_), static_cast<Type>(window_.data()[id_])};
      if (size_in_dump(field.type, id_) == 0) {
        broken_ = fmt::format("a field has type {}", static_cast<unsigned>(field.type));
        return false;
      }
      class_.fields.push_back(field);
      window_.advance(id_ + 1);
      used += id_ + 1;
    }
    visitor_.class_dump(class_);
    return true;
  }

  bool take_count(uint64_t& used, const char* what, uint32_t& number) {
    if (!fits(used + 2) || !need(2, what)) return false;
    number = std::to_integer<uint32_t>(window_.data()[0]) << 8 |
             std::to_integer<uint32_t>(window_.data()[1]);
    window_.advance(2);
    used += 2;
    return true;
  }

  ByteStream& stream_;
  Window window_;
  Visitor& visitor_;
  Damage& damage_;
  const std::function<void(uint64_t)>& progress_;
  DumpFacts facts_;
  unsigned id_ = 8;
  uint64_t records_ = 0;
  uint64_t left_ = 0;   // bytes of this part of the heap from the beginning of the current object
  std::string broken_;  // what is wrong with the current object
  ClassDump class_;
};

}  // namespace

unsigned size_in_dump(Type type, unsigned id_size) {
  switch (type) {
    case Type::object:
      return id_size;
    case Type::boolean:
    case Type::int8:
      return 1;
    case Type::character:
    case Type::int16:
      return 2;
    case Type::single_float:
    case Type::int32:
      return 4;
    case Type::double_float:
    case Type::int64:
      return 8;
  }
  return 0;
}

std::string_view root_name(RootKind kind) {
  constexpr std::array<std::string_view, static_cast<size_t>(RootKind::count)> names{
      "unknown",      "JNI global",   "JNI local",  "Java frame", "native stack",
      "system class", "thread block", "monitor",    "thread",     "interned string",
      "finalizing",   "debugger",     "VM internal"};
  return names[static_cast<size_t>(kind)];
}

void Damage::add(uint64_t position, std::string message) {
  if (++places <= most_messages)
    messages.push_back(fmt::format("at byte {}: {}", position, std::move(message)));
}

pi::Result<DumpFacts> read_dump(ByteStream& stream, Visitor& visitor, Damage& damage,
                                const std::function<void(uint64_t)>& progress) {
  return Reader(stream, visitor, damage, progress).read();
}

}  // namespace hdump
